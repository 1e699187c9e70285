/**
 * The states of Spark's standalone cluster, by Spark's names
 * (`ApplicationState`, `ExecutorState`, `WorkerState`, `RecoveryState`,
 * `TaskState`).
 *
 * @module
 */

export type ApplicationState =
  | "WAITING"
  | "RUNNING"
  | "FINISHED"
  | "FAILED"
  | "KILLED"
  | "UNKNOWN";

export type ExecutorState =
  | "LAUNCHING"
  | "RUNNING"
  | "KILLED"
  | "FAILED"
  | "LOST"
  | "EXITED"
  | "DECOMMISSIONED";

export type WorkerState = "ALIVE" | "DEAD" | "DECOMMISSIONED" | "UNKNOWN";

export type MasterState =
  | "STANDBY"
  | "ALIVE"
  | "RECOVERING"
  | "COMPLETING_RECOVERY";

export type TaskState =
  | "LAUNCHING"
  | "RUNNING"
  | "FINISHED"
  | "FAILED"
  | "KILLED"
  | "LOST";

/** An executor in one of these states will not run again. */
export function isFinishedExecutor(state: ExecutorState): boolean {
  return state === "KILLED" || state === "FAILED" || state === "LOST" ||
    state === "EXITED";
}

/** An application in one of these states has ended. */
export function isFinishedApplication(state: ApplicationState): boolean {
  return state === "FINISHED" || state === "FAILED" || state === "KILLED";
}

/** A task in one of these states has ended. */
export function isFinishedTask(state: TaskState): boolean {
  return state === "FINISHED" || state === "FAILED" || state === "KILLED" ||
    state === "LOST";
}
