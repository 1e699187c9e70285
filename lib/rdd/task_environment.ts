import type { ShuffleBlock } from "../shuffle/map_output.ts";
import type { Chunks } from "./chunks.ts";

/** Which task runs, as the application may ask (Spark: `TaskContext`). */
export interface TaskContext {
  readonly stageId: number;
  readonly stageAttempt: number;
  readonly partition: number;
  readonly attempt: number;
  readonly taskId: number;
}

/** The task was told to end, and did. */
export class TaskKilledError extends Error {
  override name = "TaskKilledError";
}

/** Cached partitions of this executor. */
export interface BlockStore {
  get(rddId: number, partition: number): Promise<Uint8Array[] | undefined>;
  /** Keeps a partition if there is room; never fails. */
  put(rddId: number, partition: number, chunks: Uint8Array[]): void;
}

/** What a running task needs of its executor. */
export interface TaskEnvironment {
  readonly context: TaskContext;
  readonly blocks: BlockStore;
  /** Whether the task is to end; asked before each record. */
  isKilled(): boolean;
  readShuffle(blocks: readonly ShuffleBlock[]): Chunks;
  /** A path in this executor's directories that no other task uses. */
  newShuffleFile(shuffleId: number): string;
}
