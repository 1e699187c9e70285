import {
  MEMORY_STORAGE_FRACTION,
  TASK_REAPER_KILL_TIMEOUT,
} from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import type { Megabytes } from "../conf/units.ts";
import type { LaunchTask } from "../messages/cluster.ts";
import { BlockCache } from "./block_cache.ts";
import { removeShuffleFiles } from "./shuffle_files.ts";
import { TaskThreads, type TaskThreadsHandler } from "./task_threads.ts";

/** What an executor is made of, whatever tells it what to do. */
export interface ExecutorOptions {
  readonly host: string;
  readonly cores: number;
  readonly memory: Megabytes;
  readonly conf: SparkConf;
  /** The program that runs the threads; see `selfModule`. */
  readonly module: string;
  /** A directory of this executor's own, removed at its end. */
  readonly directory: string;
}

export type ExecutorEvents = TaskThreadsHandler;

/**
 * Runs tasks: the part that is the same in an executor process and in the
 * driver of a local run.
 *
 * Its memory is divided: `spark.memory.storageFraction` of it holds cached
 * partitions, and the heaps of the task threads share the rest.
 */
export class Executor {
  readonly directory: string;
  readonly #threads: TaskThreads;

  constructor(options: ExecutorOptions, events: ExecutorEvents) {
    const { host, cores, memory, conf, module, directory } = options;
    const fraction = conf.get(MEMORY_STORAGE_FRACTION);
    this.directory = directory;
    this.#threads = new TaskThreads({
      module,
      threads: cores,
      killTimeout: conf.get(TASK_REAPER_KILL_TIMEOUT),
      heapLimit: threadHeap(memory, cores, fraction),
      settings: {
        executorHost: host,
        shuffleDirectory: directory,
        settings: conf.entries(),
      },
      blocks: new BlockCache(memory * fraction * 2 ** 20),
    }, events);
  }

  /** Starts a thread ahead of the first task. */
  warmUp(): void {
    this.#threads.warmUp();
  }

  addBinary(binaryId: number, data: Uint8Array): void {
    this.#threads.addBinary(binaryId, data);
  }

  removeBinary(binaryId: number): void {
    this.#threads.removeBinary(binaryId);
  }

  removeBroadcast(broadcastId: number): void {
    this.#threads.removeBroadcast(broadcastId);
  }

  async removeShuffle(shuffleId: number): Promise<void> {
    await removeShuffleFiles(this.directory, shuffleId);
  }

  launch(task: LaunchTask): void {
    const { taskId, stageId, stageAttempt, partition, attempt } = task;
    this.#threads.run({
      type: "runTask",
      context: { taskId, stageId, stageAttempt, partition, attempt },
      binaryId: task.binaryId,
      spec: task.data!,
    });
  }

  /** @returns false when there is no such task here. */
  kill(taskId: number, reason: string, interrupt: boolean): boolean {
    return this.#threads.kill(taskId, reason, interrupt);
  }

  async close(): Promise<void> {
    await this.#threads.close();
    try {
      await Deno.remove(this.directory, { recursive: true });
    } catch (error) {
      // The worker may have removed it already, with all of the application's.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** The least heap in which a thread gets anywhere. */
const MIN_THREAD_HEAP: Megabytes = 64;

export function threadHeap(
  memory: Megabytes,
  cores: number,
  storageFraction: number,
): Megabytes {
  const share = Math.floor(memory * (1 - storageFraction) / cores);
  return Math.max(share, MIN_THREAD_HEAP);
}
