import type { DataSet } from "./lineage.ts";
import type { Action } from "./plan.ts";

/** What data sets need of the driver that they belong to. */
export interface RddContext {
  newRddId(): number;
  newShuffleId(): number;
  /** Partitions of what is made without a number. */
  readonly defaultParallelism: number;
  /**
   * Runs an action on some partitions, or on all.
   *
   * @returns the bytes of each, in the order asked.
   */
  runJob(
    dataSet: DataSet,
    action: Action,
    partitions?: readonly number[],
  ): Promise<Uint8Array[]>;
}
