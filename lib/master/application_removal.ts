import type { ApplicationEntry } from "./application_entry.ts";
import type { ExecutorEntry } from "./executor_entry.ts";
import type { Turn } from "./turn.ts";

/** How an application can end. */
export type EndState = "FINISHED" | "FAILED" | "KILLED";

/**
 * Ends an application: kills its executors, tells its driver unless that is
 * what ended it, and has every worker clean up after it
 * (Spark: `Master.removeApplication`).
 */
export function removeApplication(
  turn: Turn,
  app: ApplicationEntry,
  state: EndState,
): void {
  turn.log("info", `Removing application ${app.id}: it is ${state}.`);
  // Its executors stay in its own table, for those who look at it later.
  for (const executor of app.executors.values()) killExecutor(turn, executor);
  app.state = state;
  app.endTime = turn.now;
  turn.tables.completeApplication(app, turn.settings.retainedApplications);
  if (state !== "FINISHED") {
    turn.toDriver(app, {
      type: "ApplicationRemoved",
      message: whyRemoved(app, state),
    });
  }
  for (const worker of turn.tables.workerById.values()) {
    turn.toWorker(worker, { type: "ApplicationFinished", id: app.id });
  }
  turn.scheduleAtEnd();
}

/** What the driver's user is told: first the state, as Spark has it. */
function whyRemoved(app: ApplicationEntry, state: EndState): string {
  if (state !== "FAILED" || app.lastFailure === null) return state;
  return `${state}: ${app.retryCount} executors failed in a row, the last ` +
    `one being ${app.lastFailure}`;
}

/**
 * Has the worker end an executor, and counts what it was granted as free at
 * once. The application keeps it in its table.
 */
export function killExecutor(turn: Turn, executor: ExecutorEntry): void {
  executor.state = "KILLED";
  executor.worker.removeExecutor(executor);
  turn.toWorker(executor.worker, {
    type: "KillExecutor",
    masterUrl: turn.facts.masterUrl,
    appId: executor.application.id,
    execId: executor.id,
  });
}
