/**
 * What the scheduler of tasks is told, and what it wants done.
 *
 * @module
 */
import type { Milliseconds } from "../conf/units.ts";
import type { TaskFailure, TaskId, TaskOutcome } from "../messages/cluster.ts";
import type { TaskState } from "../messages/states.ts";
import type { TaskSet } from "./task_set.ts";

export type TaskSchedulerEvent =
  | {
    readonly type: "executorAdded";
    readonly executorId: string;
    readonly host: string;
    readonly cores: number;
  }
  | {
    readonly type: "executorLost";
    readonly executorId: string;
    readonly reason: string;
    /** Whether tasks that ran there may be to blame. */
    readonly causedByApp: boolean;
  }
  /** Its connection broke; why is not known yet. It gets no tasks. */
  | { readonly type: "executorSuspended"; readonly executorId: string }
  | { readonly type: "submit"; readonly taskSet: TaskSet }
  | {
    readonly type: "cancel";
    readonly stageId: number;
    readonly reason: string;
  }
  | {
    readonly type: "statusUpdate";
    readonly taskId: TaskId;
    readonly state: TaskState;
    readonly outcome: TaskOutcome;
    readonly data: Uint8Array | null;
  }
  /** Enough executors are there, or it was waited for long enough. */
  | { readonly type: "resourcesReady" }
  | { readonly type: "timer"; readonly timer: typeof STARVATION_TIMER };

export type TaskSchedulerEffect =
  | {
    readonly type: "launch";
    readonly executorId: string;
    readonly taskId: TaskId;
    readonly taskSet: TaskSet;
    readonly partition: number;
    readonly attempt: number;
  }
  | {
    readonly type: "kill";
    readonly executorId: string;
    readonly taskId: TaskId;
    readonly reason: string;
  }
  | {
    readonly type: "taskSucceeded";
    readonly taskSet: TaskSet;
    readonly partition: number;
    readonly executorId: string;
    readonly outcome: Extract<TaskOutcome, { type: "success" }>;
    readonly data: Uint8Array | null;
  }
  | {
    readonly type: "fetchFailed";
    readonly taskSet: TaskSet;
    readonly partition: number;
    readonly failure: TaskFailure;
  }
  | {
    readonly type: "taskSetFailed";
    readonly taskSet: TaskSet;
    readonly reason: string;
    readonly failure: TaskFailure;
  }
  | {
    readonly type: "log";
    readonly level: "info" | "warn" | "error";
    readonly message: string;
  }
  | {
    readonly type: "setTimer";
    readonly timer: typeof STARVATION_TIMER;
    readonly after: Milliseconds;
  }
  | { readonly type: "clearTimer"; readonly timer: typeof STARVATION_TIMER }
  /** Tasks wait and none could be started for so long. */
  | { readonly type: "starving" };

export const STARVATION_TIMER = "starvation";
