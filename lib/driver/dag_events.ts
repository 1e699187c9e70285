/**
 * What the scheduler of stages is told, and what it wants done.
 *
 * @module
 */
import type { RpcAddress } from "../messages/addresses.ts";
import type { TaskFailure } from "../messages/cluster.ts";
import type { DataSet, ShuffleDependency } from "../rdd/lineage.ts";
import type { Action } from "../rdd/plan.ts";
import type { TaskSet } from "./task_set.ts";

export type JobId = number;

export type DagEvent =
  | {
    readonly type: "submitJob";
    readonly jobId: JobId;
    readonly dataSet: DataSet;
    readonly partitions: readonly number[];
    readonly action: Action;
  }
  | {
    readonly type: "cancelJob";
    readonly jobId: JobId;
    readonly reason: string;
    /** What the job fails with. */
    readonly error: unknown;
  }
  | {
    readonly type: "taskSucceeded";
    readonly taskSet: TaskSet;
    readonly partition: number;
    readonly executor: { id: string; host: string; address: RpcAddress };
    readonly mapOutput:
      | { path: string; segments: readonly (readonly number[])[] }
      | null;
    readonly cached: readonly (readonly [rddId: number, partition: number])[];
    readonly result: Uint8Array | null;
  }
  | {
    readonly type: "fetchFailed";
    readonly taskSet: TaskSet;
    readonly failure: TaskFailure;
  }
  /** A stage can't go on: its tasks failed too often, or it can't be sent. */
  | {
    readonly type: "stageFailed";
    readonly stageId: number;
    readonly reason: string;
    readonly failure: TaskFailure | null;
    readonly error: unknown;
  }
  | { readonly type: "executorLost"; readonly executorId: string };

export type DagEffect =
  /** The shell makes the stage's code and hands the set to the tasks. */
  | {
    readonly type: "submitStage";
    readonly stage: StageInfo;
    readonly stageAttempt: number;
    readonly tasks: TaskSet["tasks"];
  }
  | {
    readonly type: "cancelStage";
    readonly stageId: number;
    readonly reason: string;
  }
  /** What a partition added counts: it is the first time that it is done. */
  | {
    readonly type: "partitionDone";
    readonly stageId: number;
    readonly partition: number;
  }
  | { readonly type: "stageDone"; readonly stageId: number }
  | {
    readonly type: "jobDone";
    readonly jobId: JobId;
    /** In the order of the partitions that were asked for. */
    readonly results: readonly Uint8Array[];
  }
  | {
    readonly type: "jobFailed";
    readonly jobId: JobId;
    readonly reason: string;
    readonly failure: TaskFailure | null;
    readonly error: unknown;
  }
  | {
    readonly type: "log";
    readonly level: "info" | "warn";
    readonly message: string;
  };

/** What a stage computes: a shuffle's map side, or a job's results. */
export interface StageInfo {
  readonly stageId: number;
  readonly jobId: JobId;
  readonly dataSet: DataSet;
  readonly target:
    | { readonly type: "shuffle"; readonly dependency: ShuffleDependency }
    | { readonly type: "result"; readonly action: Action };
}
