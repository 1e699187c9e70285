import { formatMegabytes } from "../conf/units.ts";
import type { ResourceProfile } from "../messages/deploy.ts";
import type { ApplicationEntry } from "./application_entry.ts";
import { launchExecutor } from "./executors.ts";
import type { MasterSettings } from "./master_settings.ts";
import {
  canHoldExecutor,
  leastCores,
  orderWorkers,
  scheduleExecutorsOnWorkers,
} from "./placement.ts";
import type { MasterTables } from "./state.ts";
import type { Turn } from "./turn.ts";
import type { WorkerEntry } from "./worker_entry.ts";

/** An executor that could be started now. */
export interface PlannedExecutor {
  readonly worker: WorkerEntry;
  readonly cores: number;
}

/**
 * Starts every executor for which there is room: first come, first served
 * over the applications, and within one the lowest resource profile first. A
 * profile that finds no room does not hold up those behind it.
 *
 * (Spark: `Master.startExecutorsOnWorkers`.)
 */
export function schedule(turn: Turn): void {
  const { tables, settings } = turn;
  if (tables.state !== "ALIVE") return;
  for (const app of tables.applications.values()) {
    for (const profile of app.profiles) {
      if (!isAskedFor(app, profile)) continue;
      const usable = usableWorkers(tables, profile);
      if (usable.length === 0) warnIfStarved(turn, app, profile);
      for (
        const { worker, cores } of plan(app, profile, usable, settings)
      ) {
        launchExecutor(turn, app, worker, profile, cores);
      }
    }
  }
}

/** Executors that could be started and were not; empty after `schedule`. */
export function findUnservedDemand(
  tables: MasterTables,
  settings: MasterSettings,
): string[] {
  if (tables.state !== "ALIVE") return [];
  const unserved: string[] = [];
  for (const app of tables.applications.values()) {
    for (const profile of app.profiles) {
      if (!isAskedFor(app, profile)) continue;
      const usable = usableWorkers(tables, profile);
      for (const { worker } of plan(app, profile, usable, settings)) {
        unserved.push(`${app.id}, profile ${profile.id}, on ${worker.id}`);
      }
    }
  }
  return unserved;
}

/** An executor that would get fewer cores than it needs is not started. */
function isAskedFor(app: ApplicationEntry, profile: ResourceProfile): boolean {
  return app.executorsLeft(profile.id) > 0 &&
    app.coresLeft >= leastCores(profile);
}

function usableWorkers(
  tables: MasterTables,
  profile: ResourceProfile,
): WorkerEntry[] {
  return [...tables.workerById.values()].filter((worker) =>
    worker.state === "ALIVE" && canHoldExecutor(worker, profile)
  );
}

function plan(
  app: ApplicationEntry,
  profile: ResourceProfile,
  usable: readonly WorkerEntry[],
  settings: MasterSettings,
): PlannedExecutor[] {
  const workers = orderWorkers(usable, settings.workerSelectionPolicy);
  const coresByWorker = scheduleExecutorsOnWorkers(
    {
      coresLeft: app.coresLeft,
      coresPerExecutor: profile.coresPerExecutor,
      memoryPerExecutor: profile.memoryPerExecutor,
      executorsLeft: app.executorsLeft(profile.id),
    },
    workers,
    settings.spreadOutApps,
  );
  return workers.flatMap((worker, at) => {
    const granted = coresByWorker[at];
    if (granted === 0) return [];
    const cores = profile.coresPerExecutor ?? granted;
    return Array<PlannedExecutor>(granted / cores).fill({ worker, cores });
  });
}

/** The only application has nothing and nowhere to go: say why it hangs. */
function warnIfStarved(
  turn: Turn,
  app: ApplicationEntry,
  profile: ResourceProfile,
): void {
  if (turn.tables.applications.size > 1 || app.executors.size > 0) return;
  const alive = [...turn.tables.workerById.values()].filter(({ state }) =>
    state === "ALIVE"
  );
  const needs = [
    `${leastCores(profile)} cores`,
    formatMegabytes(profile.memoryPerExecutor),
    ...profile.resourcesPerExecutor.map(({ name, amount }) =>
      `${amount} ${name}`
    ),
  ].join(", ");
  turn.log(
    "warn",
    `Application ${app.id} gets no executor: none of the ${alive.length} ` +
      `workers that are alive has room for one (${needs}).`,
  );
}
