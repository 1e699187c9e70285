import type { ClosureCapturer } from "../../lib/closure/capturer.ts";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { JobRunner } from "../../lib/driver/job_runner.ts";
import type { SchedulerBackend } from "../../lib/driver/scheduler_backend.ts";
import type {
  LaunchTask,
  TaskFailure,
  TaskOutcome,
} from "../../lib/messages/cluster.ts";
import type { PartitionSpec, StageProgram } from "../../lib/rdd/plan.ts";
import type { ShuffleBlock } from "../../lib/shuffle/map_output.ts";
import { decodeValue } from "../../lib/shuffle/record_codec.ts";
import { failureOf } from "./task_harness.ts";

export interface FakeTask {
  readonly executorId: string;
  readonly task: LaunchTask;
  readonly program: StageProgram;
}

/**
 * Executors that only pretend: they keep the books on what they were given and
 * what files they have, and the test says how each task ends.
 */
export class FakeCluster implements SchedulerBackend {
  readonly appId = "app";
  readonly coresToAwait: number;
  readonly runner: JobRunner;
  readonly running = new Map<number, FakeTask>();
  readonly executors = new Set<string>();
  readonly problems: string[] = [];
  /** Stage code that executors were told to forget. */
  readonly removed: number[] = [];
  /** Set: a launch throws it. */
  refusal: Error | undefined;
  /** What code is captured waits for. */
  capturing: Promise<void> = Promise.resolve();
  launched = 0;
  readonly #programs: StageProgram[] = [];
  readonly #binaries = new Map<string, StageProgram>();
  #nextExecutor = 0;

  constructor(
    settings: Readonly<Record<string, string>> = {},
    coresToAwait = 0,
  ) {
    this.coresToAwait = coresToAwait;
    const conf = new SparkConf();
    for (const [key, value] of Object.entries(settings)) conf.set(key, value);
    const capturer = {
      capture: async (program: StageProgram) => {
        await this.capturing;
        return Uint8Array.of(this.#programs.push(program) - 1);
      },
    };
    this.runner = new JobRunner({
      conf,
      capturer: capturer as unknown as ClosureCapturer,
      mergeAccumulator: () => {},
      readyToSend: () => Promise.resolve(),
    });
    this.runner.use(this);
  }

  add(cores = 2): string {
    const id = `${this.#nextExecutor++}`;
    this.executors.add(id);
    const address = { host: id, port: 1 };
    this.runner.executorAdded({ id, host: id, address, cores });
    return id;
  }

  lose(executorId: string, causedByApp = false): void {
    this.executors.delete(executorId);
    for (const [taskId, task] of this.running) {
      if (task.executorId === executorId) this.running.delete(taskId);
    }
    this.runner.executorLost(executorId, "lost", causedByApp);
  }

  /** A task ends as it would: well, unless it reads what is not there. */
  finish(taskId: number): void {
    const { task, program } = this.running.get(taskId)!;
    const spec = decodeValue(task.data!) as PartitionSpec;
    const missing = blocksIn(spec).find((block) =>
      !this.executors.has(block.executorId)
    );
    if (missing !== undefined) {
      const { shuffleId, mapIndex, executorId } = missing;
      this.fail(taskId, {
        reason: "fetchFailed",
        message: "Cannot fetch",
        fetch: { shuffleId, mapIndex, executorId },
      });
      return;
    }
    const { sink } = program;
    const segments = sink.type === "shuffle"
      ? new Array<number[]>(sink.partitioner.partitions).fill([0, 1])
      : [];
    this.#end(taskId, {
      type: "success",
      mapOutput: sink.type === "shuffle"
        ? { path: `/${taskId}`, segments }
        : null,
      cached: [],
      accumulatorBytes: 0,
      runTime: 1,
    }, Uint8Array.of(task.partition));
  }

  fail(taskId: number, failure: Partial<TaskFailure> = {}): void {
    this.#end(taskId, { type: "failure", failure: failureOf(failure) }, null);
  }

  #end(taskId: number, outcome: TaskOutcome, data: Uint8Array | null): void {
    this.running.delete(taskId);
    const state = outcome.type === "success" ? "FINISHED" : "FAILED";
    this.runner.statusUpdate(taskId, state, outcome, data);
  }

  // What the runner wants

  addBinary(executorId: string, binaryId: number, data: Uint8Array): void {
    if (data === undefined) this.problems.push(`no code for ${binaryId}`);
    this.#binaries.set(`${executorId}/${binaryId}`, this.#programs[data[0]]);
  }

  removeBinary(binaryId: number): void {
    this.removed.push(binaryId);
    for (const id of this.executors) this.#binaries.delete(`${id}/${binaryId}`);
  }

  launch(executorId: string, task: LaunchTask): void {
    if (this.refusal !== undefined) throw this.refusal;
    const program = this.#binaries.get(`${executorId}/${task.binaryId}`);
    if (program === undefined || !this.executors.has(executorId)) {
      this.problems.push(`task ${task.taskId} can't run on ${executorId}`);
      return;
    }
    this.launched++;
    this.running.set(task.taskId, { executorId, task, program });
    this.runner.statusUpdate(task.taskId, "RUNNING", { type: "running" }, null);
  }

  kill(_: string, taskId: number, reason: string): void {
    if (this.running.has(taskId)) {
      this.fail(taskId, { reason: "killed", message: reason });
    }
  }

  removeBroadcast(): void {}

  removeShuffle(): void {}

  describeShortage(): Promise<string> {
    return Promise.resolve("");
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}

function blocksIn(spec: PartitionSpec): readonly ShuffleBlock[] {
  switch (spec.type) {
    case "shuffle":
      return spec.blocks;
    case "cogroup":
      return spec.sides.flat();
    case "union":
    case "cached":
      return blocksIn(spec.spec);
    default:
      return [];
  }
}

/** Lets all that waits for nothing but its turn go on. */
export async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await Promise.resolve();
}
