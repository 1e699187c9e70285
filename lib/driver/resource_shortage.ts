/**
 * What an application asks for against what there is, for people to read.
 *
 * @module
 */
import { formatMegabytes } from "../conf/units.ts";
import type {
  MasterStateResponse,
  ResourceProfile,
} from "../messages/deploy.ts";

export function describeProfile(profile: ResourceProfile): string {
  const cores = profile.coresPerExecutor ?? 1;
  return `The application asks for executors of ${cores} core(s) and ${
    formatMegabytes(profile.memoryPerExecutor)
  } each.`;
}

export function describeCluster(
  state: MasterStateResponse,
  appId: string,
): string {
  const alive = state.workers.filter((worker) => worker.state === "ALIVE");
  if (alive.length === 0) return "The cluster has no worker.";
  const list = alive.slice(0, 5).map((worker) =>
    `${worker.host}:${worker.port} has ${
      worker.cores - worker.coresUsed
    } of ${worker.cores} cores and ${
      formatMegabytes(worker.memory - worker.memoryUsed)
    } of ${formatMegabytes(worker.memory)} free`
  );
  const more = alive.length > 5 ? `, and ${alive.length - 5} more` : "";
  const others = state.activeApps.filter((app) => app.id !== appId).length;
  return `The cluster has ${alive.length} worker(s): ${
    list.join("; ")
  }${more}. ${others} other application(s) run or wait.`;
}
