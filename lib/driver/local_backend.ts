import type { SparkConf } from "../conf/spark_conf.ts";
import { getLogger } from "../log.ts";
import type { LaunchTask, TaskOutcome } from "../messages/cluster.ts";
import type {
  BackendEvents,
  BroadcastBytes,
  SchedulerBackend,
} from "./scheduler_backend.ts";

/** What runs tasks in this process; given by whoever knows of executors. */
export interface LocalExecutor {
  addBinary(binaryId: number, data: Uint8Array): void;
  removeBinary(binaryId: number): void;
  removeBroadcast(id: number): void;
  removeShuffle(shuffleId: number): Promise<void>;
  launch(task: LaunchTask): void;
  kill(taskId: number, reason: string, interrupt: boolean): boolean;
  close(): Promise<void>;
}

export interface LocalExecutorEvents {
  taskStarted(taskId: number): void;
  taskEnded(
    taskId: number,
    outcome: TaskOutcome,
    data: Uint8Array | null,
  ): void;
  taskStuck(taskId: number): void;
  getBroadcast(id: number): Promise<Uint8Array>;
}

export type StartLocalExecutor = (
  options: { threads: number; conf: SparkConf; host: string },
  events: LocalExecutorEvents,
) => Promise<LocalExecutor>;

const log = getLogger("LocalSchedulerBackend");

const EXECUTOR_ID = "driver";
const HOST = "localhost";

/** Runs tasks on threads of this process: `--master local[N]`. */
export async function startLocalBackend(
  threads: number,
  conf: SparkConf,
  start: StartLocalExecutor,
  events: BackendEvents,
  broadcast: BroadcastBytes,
): Promise<SchedulerBackend> {
  const executor = await start({ threads, conf, host: HOST }, {
    taskStarted: (taskId) =>
      events.statusUpdate(taskId, "RUNNING", { type: "running" }, null),
    taskEnded: (taskId, outcome, data) => {
      const state = outcome.type === "success" ? "FINISHED" : "FAILED";
      events.statusUpdate(taskId, state, outcome, data);
    },
    taskStuck: (taskId) =>
      log.warn(
        `Task ${taskId} was killed and still runs: it takes a core until the application ends`,
      ),
    getBroadcast: (id) => {
      const bytes = broadcast(id);
      if (bytes !== undefined) return Promise.resolve(bytes);
      return Promise.reject(new Error(`There is no broadcast ${id} any more.`));
    },
  });
  events.executorAdded({
    id: EXECUTOR_ID,
    host: HOST,
    address: { host: HOST, port: 0 },
    cores: threads,
  });
  return {
    appId: `local-${Date.now()}`,
    coresToAwait: 0,
    addBinary: (_, binaryId, data) => executor.addBinary(binaryId, data),
    removeBinary: (binaryId) => executor.removeBinary(binaryId),
    launch: (_, task) => executor.launch(task),
    kill: (_, taskId, reason) => void executor.kill(taskId, reason, true),
    removeBroadcast: (id) => executor.removeBroadcast(id),
    removeShuffle: (shuffleId) => void executor.removeShuffle(shuffleId),
    describeShortage: () =>
      Promise.resolve(`This process runs ${threads} tasks at once.`),
    stop: () => executor.close(),
  };
}
