import {
  isFinishedApplication,
  isFinishedExecutor,
} from "../messages/states.ts";
import type { ApplicationEntry } from "./application_entry.ts";
import type { ExecutorEntry } from "./executor_entry.ts";
import { mustHold } from "./invariant.ts";
import type { MasterSettings } from "./master_settings.ts";
import { findUnservedDemand } from "./scheduling.ts";
import type { MasterTables } from "./state.ts";
import type { WorkerEntry } from "./worker_entry.ts";

/**
 * Checks all that must hold between two events, whatever came before.
 *
 * @throws {InvariantError} naming the first thing that does not.
 */
export function checkTables(
  tables: MasterTables,
  settings: MasterSettings,
): void {
  let findable = 0;
  for (const worker of tables.workers) {
    checkWorker(tables, worker);
    if (worker.state !== "DEAD") findable++;
  }
  mustHold(tables.workerById.size === findable, "a worker id leads nowhere");
  mustHold(tables.addressCount === findable, "a worker address leads nowhere");
  for (const app of tables.applications.values()) {
    checkActiveApplication(tables, app);
  }
  for (const app of tables.completed) {
    mustHold(isFinishedApplication(app.state), `${app.id} has not ended`);
    mustHold(app.endTime !== null, `${app.id} ended at no time`);
    for (const executor of app.executors.values()) {
      mustHold(
        isFinishedExecutor(executor.state) && !isOnItsWorker(executor),
        `${executor.fullId} outlives its application`,
      );
    }
  }
  mustHold(
    tables.completed.length <= Math.max(settings.retainedApplications, 1),
    "too many ended applications are kept",
  );
  const unserved = findUnservedDemand(tables, settings);
  mustHold(
    unserved.length === 0,
    `executors that fit were not started: ${unserved.join("; ")}`,
  );
}

function checkWorker(tables: MasterTables, worker: WorkerEntry): void {
  const { id, state, cores, memory, coresUsed, memoryUsed } = worker;
  let coresGranted = 0;
  let memoryGranted = 0;
  for (const executor of worker.executors.values()) {
    coresGranted += executor.cores;
    memoryGranted += executor.memory;
    const app = tables.applications.get(executor.application.id);
    mustHold(
      executor.worker === worker && app === executor.application,
      `${executor.fullId} on ${id} belongs elsewhere`,
    );
  }
  mustHold(coresGranted === coresUsed, `${id} miscounts its cores`);
  mustHold(memoryGranted === memoryUsed, `${id} miscounts its memory`);
  mustHold(
    coresUsed <= cores && memoryUsed <= memory,
    `${id} is granted more than it has`,
  );
  const found = tables.workerById.get(id);
  if (state === "DEAD") {
    mustHold(found !== worker, `${id} is dead and can be found`);
    mustHold(worker.executors.size === 0, `${id} is dead and has executors`);
  } else {
    mustHold(found === worker, `${id} cannot be found by its id`);
    mustHold(
      tables.workerAt(worker.endpoint.address) === worker,
      `${id} cannot be found by its address`,
    );
  }
}

function checkActiveApplication(
  tables: MasterTables,
  app: ApplicationEntry,
): void {
  mustHold(!isFinishedApplication(app.state), `${app.id} has ended`);
  mustHold(
    tables.applicationAt(app.driver.address) === app,
    `${app.id} cannot be found by its driver's address`,
  );
  let granted = 0;
  const counts = new Map<number, number>();
  for (const executor of app.executors.values()) {
    granted += executor.cores;
    const { fullId, resourceProfileId, worker, state } = executor;
    counts.set(resourceProfileId, (counts.get(resourceProfileId) ?? 0) + 1);
    mustHold(!isFinishedExecutor(state), `${fullId} has ended`);
    mustHold(isOnItsWorker(executor), `${fullId} is not on its worker`);
    mustHold(tables.workers.has(worker), `${fullId} is on a forgotten worker`);
  }
  mustHold(granted === app.coresGranted, `${app.id} miscounts its cores`);
  mustHold(app.coresLeft >= 0, `${app.id} has more cores than it may`);
  for (const { id } of app.profiles) {
    mustHold(
      app.targetOf(id) - app.executorsLeft(id) === (counts.get(id) ?? 0),
      `${app.id} miscounts its executors of profile ${id}`,
    );
  }
}

function isOnItsWorker(executor: ExecutorEntry): boolean {
  return executor.worker.executors.get(executor.fullId) === executor;
}
