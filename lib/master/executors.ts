import { formatAddress } from "../messages/addresses.ts";
import type {
  ApplicationId,
  ExecutorId,
  ExecutorStateChanged,
  ResourceProfile,
} from "../messages/deploy.ts";
import { type ExecutorState, isFinishedExecutor } from "../messages/states.ts";
import { removeApplication } from "./application_removal.ts";
import type { ApplicationEntry } from "./application_entry.ts";
import type { ExecutorEntry } from "./executor_entry.ts";
import type { Turn } from "./turn.ts";
import type { WorkerEntry } from "./worker_entry.ts";

/**
 * Grants an executor and tells its worker and its application at the same
 * moment, before the worker has answered (Spark: `Master.launchExecutor`).
 */
export function launchExecutor(
  turn: Turn,
  app: ApplicationEntry,
  worker: WorkerEntry,
  profile: ResourceProfile,
  cores: number,
): void {
  const executor = app.addExecutor(worker, profile, cores);
  worker.addExecutor(executor);
  app.state = "RUNNING";
  turn.log("info", `Launching executor ${executor.fullId} on ${worker.id}.`);
  turn.toWorker(worker, {
    type: "LaunchExecutor",
    masterUrl: turn.facts.masterUrl,
    appId: app.id,
    execId: executor.id,
    resourceProfileId: profile.id,
    appDesc: app.description,
    cores,
    memory: executor.memory,
    resources: executor.resources,
  });
  announceExecutor(turn, executor);
}

/** Tells the application of an executor that it has. */
export function announceExecutor(turn: Turn, executor: ExecutorEntry): void {
  const { id, worker, cores, memory, application } = executor;
  turn.toDriver(application, {
    type: "ExecutorAdded",
    id,
    workerId: worker.id,
    hostPort: formatAddress(worker),
    cores,
    memory,
  });
}

/** Whether an executor's end is what the master itself had asked for. */
function wasTakenAway(
  turn: Turn,
  appId: ApplicationId,
  execId: ExecutorId,
): boolean {
  const { applications, completed } = turn.tables;
  const app = applications.get(appId) ??
    completed.find(({ id }) => id === appId);
  if (app === undefined) return false;
  return app.executors.has(execId) ||
    app.removedExecutors.some(({ id }) => id === execId);
}

/** The worker of an executor says what has become of it. */
export function executorStateChanged(
  turn: Turn,
  message: ExecutorStateChanged,
): void {
  const { appId, execId, state, exitStatus } = message;
  const app = turn.tables.applications.get(appId);
  const executor = app?.executors.get(execId);
  if (app === undefined || executor === undefined) {
    const fullId = `${appId}/${execId}`;
    if (isFinishedExecutor(state) && wasTakenAway(turn, appId, execId)) {
      turn.log("debug", `Executor ${fullId} ended, as asked: ${state}.`);
    } else {
      turn.log("warn", `Got ${state} for the unknown executor ${fullId}.`);
    }
    return;
  }
  const before = executor.state;
  if (!mayFollow(state, before)) {
    turn.log(
      "warn",
      `Executor ${executor.fullId} cannot become ${state}: it is ${before}.`,
    );
    return;
  }
  executor.state = state;
  if (state === "RUNNING") resetRetries(app);
  turn.toDriver(app, {
    type: "ExecutorUpdated",
    id: execId,
    state,
    message: message.message,
    exitStatus,
    workerHost: null,
  });
  if (isFinishedExecutor(state)) {
    turn.log(
      "info",
      `Removing executor ${executor.fullId} because it is ${state}` +
        (message.message === null ? "." : `: ${message.message}.`),
    );
    app.removeExecutor(executor);
    executor.worker.removeExecutor(executor);
    if (exitStatus !== 0 && before !== "DECOMMISSIONED") {
      countFailure(turn, executor, message);
    }
    turn.scheduleAtEnd();
  }
}

/**
 * A worker repeats a report whose answer it missed, so one that comes again
 * or late is no defect; it must only not turn an executor back.
 */
function mayFollow(state: ExecutorState, before: ExecutorState): boolean {
  return state === "LAUNCHING" || state === "RUNNING"
    ? before === "LAUNCHING"
    : true;
}

function resetRetries(app: ApplicationEntry): void {
  app.retryCount = 0;
  app.lastFailure = null;
}

/**
 * An application whose executors fail one after the other, none coming to
 * run, would fail for ever: after `spark.deploy.maxExecutorRetries` of them it
 * is removed, unless some executor of it does run.
 */
function countFailure(
  turn: Turn,
  executor: ExecutorEntry,
  { state, message, exitStatus }: ExecutorStateChanged,
): void {
  const { application: app, worker } = executor;
  const reason = message ?? `it was ${state}` +
      (exitStatus === null ? "" : ` with exit status ${exitStatus}`);
  app.retryCount++;
  app.lastFailure = `executor ${executor.id} on ${formatAddress(worker)}: ` +
    reason;
  const limit = turn.settings.maxExecutorRetries;
  if (limit < 0 || app.retryCount < limit) return;
  for (const { state } of app.executors.values()) {
    if (state === "RUNNING") return;
  }
  turn.log(
    "error",
    `Application ${app.description.name} with ID ${app.id} failed ` +
      `${app.retryCount} times; removing it. The last failure was ` +
      `${app.lastFailure}.`,
  );
  removeApplication(turn, app, "FAILED");
}
