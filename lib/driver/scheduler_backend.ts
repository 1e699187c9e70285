import type { RpcAddress } from "../messages/addresses.ts";
import type { LaunchTask, TaskId, TaskOutcome } from "../messages/cluster.ts";
import type { TaskState } from "../messages/states.ts";

/** What a backend tells of its executors. */
export interface BackendEvents {
  executorAdded(executor: ExecutorData): void;
  executorSuspended(executorId: string): void;
  executorLost(executorId: string, reason: string, causedByApp: boolean): void;
  statusUpdate(
    taskId: TaskId,
    state: TaskState,
    outcome: TaskOutcome,
    data: Uint8Array | null,
  ): void;
  /** The application can't go on. */
  dead(reason: string): void;
}

export interface ExecutorData {
  readonly id: string;
  readonly host: string;
  /** Where others fetch its shuffle files. */
  readonly address: RpcAddress;
  readonly cores: number;
}

/** Where tasks run: on the executors of a cluster, or in this process. */
export interface SchedulerBackend {
  readonly appId: string;
  /** Tasks wait until so many cores have come, or for long enough. */
  readonly coresToAwait: number;
  /** Gives an executor a stage's code, which it keeps. */
  addBinary(executorId: string, binaryId: number, data: Uint8Array): void;
  removeBinary(binaryId: number): void;
  launch(executorId: string, task: LaunchTask): void;
  kill(executorId: string, taskId: TaskId, reason: string): void;
  removeBroadcast(id: number): void;
  removeShuffle(shuffleId: number): void;
  /** Why tasks get nothing to run on, as far as it can be told. */
  describeShortage(): Promise<string>;
  stop(): Promise<void>;
}

/** Gives a backend the bytes of the broadcast values. */
export type BroadcastBytes = (id: number) => Uint8Array | undefined;
