import { formatMegabytes } from "../conf/units.ts";
import { formatAddress, type RpcAddress } from "../messages/addresses.ts";
import type {
  Heartbeat,
  RegisterWorker,
  WorkerLatestState,
} from "../messages/deploy.ts";
import { type ExecutorEntry, fullExecutorId } from "./executor_entry.ts";
import type { Turn } from "./turn.ts";
import { WorkerEntry } from "./worker_entry.ts";

/**
 * The most cores that a worker may offer. Placement hands cores out one by
 * one, so a worker with a wild figure would keep the master busy.
 */
export const MAX_WORKER_CORES = 100_000;

/** A worker offers itself, for the first time or again. */
export function registerWorker(turn: Turn, message: RegisterWorker): void {
  const { tables, facts, now } = turn;
  const registering = { endpoint: message.worker };
  if (tables.state === "STANDBY") {
    turn.toWorker(registering, { type: "MasterInStandby" });
    return;
  }
  const known = tables.workerById.get(message.id);
  const registration = tables.nextRegistration();
  if (known === undefined) {
    const problem = problemOf(message) ?? makeRoomAt(turn, message);
    if (problem !== null) {
      turn.log("warn", `Refusing worker ${message.id}: ${problem}.`);
      turn.toWorker(registering, {
        type: "RegisterWorkerFailed",
        message: problem,
      });
      return;
    }
    const worker = new WorkerEntry(message, now);
    worker.registration = registration;
    tables.addWorker(worker);
    turn.log(
      "info",
      `Registered worker ${worker.id} with ${worker.cores} cores, ` +
        `${formatMegabytes(worker.memory)}.`,
    );
    turn.scheduleAtEnd();
  } else {
    known.registration = registration;
    if (known.state === "UNKNOWN") {
      turn.log("info", `Worker ${known.id} is known again.`);
      known.state = "ALIVE";
      turn.scheduleAtEnd();
    }
  }
  turn.toWorker(registering, {
    type: "RegisteredWorker",
    master: facts.self,
    masterWebUiUrl: facts.webUiUrl,
    masterAddress: message.masterAddress,
    duplicate: known !== undefined,
    registration,
  });
}

function problemOf({ cores, memory }: RegisterWorker): string | null {
  if (!Number.isSafeInteger(cores) || cores < 1 || cores > MAX_WORKER_CORES) {
    return `${cores} cores are not between 1 and ${MAX_WORKER_CORES}`;
  }
  return Number.isSafeInteger(memory) && memory >= 0
    ? null
    : `${memory} MiB is no amount of memory`;
}

/** @returns why the address cannot be had, or null when it is free now. */
function makeRoomAt(turn: Turn, message: RegisterWorker): string | null {
  const { tables } = turn;
  for (const worker of tables.workers) {
    if (
      worker.state === "DEAD" && worker.host === message.host &&
      worker.port === message.port
    ) {
      tables.forgetWorker(worker);
    }
  }
  const { address } = message.worker;
  const holder = tables.workerAt(address);
  if (holder === undefined) return null;
  if (holder.state !== "UNKNOWN") {
    return "Attempted to re-register worker at same address: " +
      formatAddress(address);
  }
  removeWorker(
    turn,
    holder,
    "Worker replaced by a new worker with same address",
  );
  return null;
}

/**
 * A worker lives; one that was given up wrongly is to register again.
 *
 * Spark's master only does this while it still shows the dead worker, and
 * later just logs its heartbeats: a worker that stood still for long enough
 * would then go on beating, with executors that nobody wants, for ever.
 */
export function heartbeat(turn: Turn, { workerId, worker }: Heartbeat): void {
  const { tables, facts, now } = turn;
  const known = tables.workerById.get(workerId);
  if (known !== undefined) {
    known.lastHeartbeat = now;
    return;
  }
  turn.log("warn", `Got a heartbeat from unknown worker ${workerId}.`);
  // The active master answers for itself.
  if (tables.state === "STANDBY") return;
  turn.toWorker({ endpoint: worker }, {
    type: "ReconnectWorker",
    masterUrl: facts.masterUrl,
  });
}

/**
 * What a worker really runs: anything not known here is to end, and what is
 * known here and does not run there is lost.
 */
export function workerLatestState(
  turn: Turn,
  { id, executors, registration }: WorkerLatestState,
): void {
  const worker = turn.tables.workerById.get(id);
  if (worker === undefined) {
    turn.log("warn", `Got the state of unknown worker ${id}.`);
    return;
  }
  const endedApps = new Set<string>();
  for (const { appId, execId } of executors) {
    if (worker.executors.has(fullExecutorId(appId, execId))) continue;
    turn.log("info", `Killing ${appId}/${execId} on ${id}: it is unknown.`);
    turn.toWorker(worker, {
      type: "KillExecutor",
      masterUrl: turn.facts.masterUrl,
      appId,
      execId,
    });
    if (!turn.tables.applications.has(appId)) endedApps.add(appId);
  }
  // The worker was not there when these ended, and still has their directories.
  for (const appId of endedApps) {
    turn.toWorker(worker, { type: "ApplicationFinished", id: appId });
  }
  dropUnreported(turn, worker, executors, registration);
}

/**
 * A LaunchExecutor is lost when it was sent over a connection that was broken
 * already, while the worker had a new one before the old one was seen to close
 * here. It was launched before the registration that the report follows, so
 * it would have reached the worker first; one that was launched after it may
 * still be on its way. What ended by itself was told before the report.
 *
 * (Spark's master keeps such an executor, and its cores, for ever.)
 */
function dropUnreported(
  turn: Turn,
  worker: WorkerEntry,
  executors: WorkerLatestState["executors"],
  registration: number,
): void {
  const reported = new Set(
    executors.map(({ appId, execId }) => fullExecutorId(appId, execId)),
  );
  for (const executor of [...worker.executors.values()]) {
    const { fullId } = executor;
    const mustHaveCome = executor.registration < registration;
    if (!mustHaveCome || reported.has(fullId)) continue;
    const message = `worker ${worker.id} does not run it`;
    turn.log("warn", `Removing executor ${fullId}: ${message}.`);
    loseExecutor(turn, executor, message, null);
    turn.scheduleAtEnd();
  }
}

/** Through no fault of its own: so it counts for no failure. */
function loseExecutor(
  turn: Turn,
  executor: ExecutorEntry,
  message: string,
  workerHost: string | null,
): void {
  const { id, application, worker } = executor;
  executor.state = "LOST";
  worker.removeExecutor(executor);
  application.removeExecutor(executor);
  turn.toDriver(application, {
    type: "ExecutorUpdated",
    id,
    state: "LOST",
    message,
    exitStatus: null,
    workerHost,
  });
}

/** Gives up workers that were silent for `spark.worker.timeout`. */
export function checkWorkers(turn: Turn): void {
  const { tables, settings, now } = turn;
  const timeout = settings.workerTimeout;
  for (const worker of [...tables.workers]) {
    const silence = now - worker.lastHeartbeat;
    if (silence <= timeout) continue;
    if (worker.state !== "DEAD") {
      removeWorker(
        turn,
        worker,
        `Not receiving heartbeat for ${timeout / 1_000} seconds`,
      );
    } else if (silence > (settings.deadWorkerPersistence + 1) * timeout) {
      tables.forgetWorker(worker);
    }
  }
}

/** The worker's process is gone. */
export function workerDisconnected(turn: Turn, address: RpcAddress): void {
  const worker = turn.tables.workerAt(address);
  if (worker === undefined) return;
  removeWorker(turn, worker, `${formatAddress(address)} got disassociated`);
}

/**
 * A worker is lost, and with it its executors: their applications are told of
 * both, and what can be placed elsewhere is placed at once
 * (Spark: `Master.removeWorker`).
 */
export function removeWorker(
  turn: Turn,
  worker: WorkerEntry,
  reason: string,
): void {
  turn.log("warn", `Removing worker ${worker.id}: ${reason}.`);
  turn.tables.markDead(worker);
  for (const executor of [...worker.executors.values()]) {
    loseExecutor(turn, executor, `worker lost: ${reason}`, worker.host);
  }
  for (const app of turn.tables.applications.values()) {
    turn.toDriver(app, {
      type: "WorkerRemoved",
      id: worker.id,
      host: worker.host,
      message: reason,
    });
  }
  turn.scheduleAtEnd();
}
