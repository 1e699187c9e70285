import { formatMegabytes } from "../conf/units.ts";
import { formatAddress, type RpcAddress } from "../messages/addresses.ts";
import type {
  Heartbeat,
  RegisterWorker,
  WorkerLatestState,
} from "../messages/deploy.ts";
import { fullExecutorId } from "./executor_entry.ts";
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
    tables.addWorker(worker);
    turn.log(
      "info",
      `Registered worker ${worker.id} with ${worker.cores} cores, ` +
        `${formatMegabytes(worker.memory)}.`,
    );
    turn.scheduleAtEnd();
  } else if (known.state === "UNKNOWN") {
    turn.log("info", `Worker ${known.id} is known again.`);
    known.state = "ALIVE";
    turn.scheduleAtEnd();
  }
  turn.toWorker(registering, {
    type: "RegisteredWorker",
    master: facts.self,
    masterWebUiUrl: facts.webUiUrl,
    masterAddress: message.masterAddress,
    duplicate: known !== undefined,
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

/** A worker lives; one that was given up wrongly is to register again. */
export function heartbeat(turn: Turn, { workerId, worker }: Heartbeat): void {
  const { tables, facts, now } = turn;
  const known = tables.workerById.get(workerId);
  if (known !== undefined) {
    known.lastHeartbeat = now;
    return;
  }
  for (const { id } of tables.workers) {
    if (id !== workerId) continue;
    turn.log(
      "warn",
      `Got a heartbeat from worker ${workerId}, which was given up: asking ` +
        `it to register again.`,
    );
    turn.toWorker({ endpoint: worker }, {
      type: "ReconnectWorker",
      masterUrl: facts.masterUrl,
    });
    return;
  }
  turn.log("warn", `Got a heartbeat from unknown worker ${workerId}.`);
}

/** What a worker really runs: anything not known here is to end. */
export function workerLatestState(
  turn: Turn,
  { id, executors }: WorkerLatestState,
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
    executor.state = "LOST";
    worker.removeExecutor(executor);
    executor.application.removeExecutor(executor);
    turn.toDriver(executor.application, {
      type: "ExecutorUpdated",
      id: executor.id,
      state: "LOST",
      message: `worker lost: ${reason}`,
      exitStatus: null,
      workerHost: worker.host,
    });
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
