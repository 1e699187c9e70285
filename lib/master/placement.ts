/**
 * Who decides which worker gets an executor: the part of the master that
 * knows nothing but figures (Spark: `Master.scheduleExecutorsOnWorkers`).
 *
 * @module
 */
import type { WorkerSelectionPolicy } from "../conf/settings.ts";
import type { Megabytes } from "../conf/units.ts";
import type { ResourceProfile, WorkerId } from "../messages/deploy.ts";

/** What placement must know of a worker. */
export interface FreeWorker {
  readonly id: WorkerId;
  readonly coresFree: number;
  readonly memoryFree: Megabytes;
}

/** What an application asks for with one of its resource profiles. */
export interface ExecutorRequest {
  /** Cores that the application may still be granted. */
  readonly coresLeft: number;
  /** Unset: one executor a worker, with all the cores granted there. */
  readonly coresPerExecutor: number | null;
  readonly memoryPerExecutor: Megabytes;
  /** Executors that may still be started. */
  readonly executorsLeft: number;
}

/** The least cores that an executor of this profile can have. */
export function leastCores(
  profile: Pick<ResourceProfile, "coresPerExecutor">,
): number {
  return profile.coresPerExecutor ?? 1;
}

/**
 * Whether a worker has room for at least one executor of this profile. No
 * custom resources are granted, so a profile that needs some fits no worker.
 */
export function canHoldExecutor(
  worker: Omit<FreeWorker, "id">,
  profile: ResourceProfile,
): boolean {
  return profile.resourcesPerExecutor.length === 0 &&
    worker.coresFree >= leastCores(profile) &&
    worker.memoryFree >= profile.memoryPerExecutor;
}

/**
 * The workers in the order in which they are taken
 * (`spark.deploy.workerSelectionPolicy`). Those with the same figure are in
 * the order of their ids, and a descending policy turns that order round too.
 */
export function orderWorkers<W extends FreeWorker>(
  workers: Iterable<W>,
  policy: WorkerSelectionPolicy,
): W[] {
  const figure = figureOf(policy);
  const ordered = [...workers].sort((a, b) =>
    figure(a) - figure(b) || compareIds(a.id, b.id)
  );
  return policy.endsWith("_DESC") ? ordered.reverse() : ordered;
}

function figureOf(policy: WorkerSelectionPolicy): (w: FreeWorker) => number {
  switch (policy) {
    case "CORES_FREE_ASC":
    case "CORES_FREE_DESC":
      return (worker) => worker.coresFree;
    case "MEMORY_FREE_ASC":
    case "MEMORY_FREE_DESC":
      return (worker) => worker.memoryFree;
    case "WORKER_ID":
      return () => 0;
  }
}

function compareIds(a: WorkerId, b: WorkerId): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * How many cores of each worker the request gets, in the order of `workers`.
 *
 * Cores are handed out in steps of one executor's cores, or of 1 when that is
 * unset: then the steps on a worker make a single executor that grows, and
 * only the first one takes memory. Spread out, each worker in turn gets one
 * step, so that the executors lie on many workers (good for data locality);
 * otherwise a worker is filled before the next one is looked at.
 */
export function scheduleExecutorsOnWorkers(
  request: ExecutorRequest,
  workers: readonly Omit<FreeWorker, "id">[],
  spreadOut: boolean,
): number[] {
  const step = leastCores(request);
  const oneExecutorPerWorker = request.coresPerExecutor === null;
  const cores = workers.map(() => 0);
  const executors = workers.map(() => 0);
  let { executorsLeft } = request;
  let coresLeft = Math.min(
    request.coresLeft,
    workers.reduce((sum, worker) => sum + worker.coresFree, 0),
  );

  const canTakeStep = (at: number): boolean => {
    const worker = workers[at];
    if (coresLeft < step || worker.coresFree - cores[at] < step) return false;
    if (oneExecutorPerWorker && executors[at] > 0) return true;
    const memoryTaken = executors[at] * request.memoryPerExecutor;
    return executorsLeft > 0 &&
      worker.memoryFree - memoryTaken >= request.memoryPerExecutor;
  };
  const takeStep = (at: number): void => {
    coresLeft -= step;
    cores[at] += step;
    if (oneExecutorPerWorker && executors[at] > 0) return;
    executors[at]++;
    executorsLeft--;
  };

  let open = workers.map((_, at) => at).filter(canTakeStep);
  while (open.length > 0) {
    for (const at of open) {
      if (spreadOut) {
        if (canTakeStep(at)) takeStep(at);
      } else {
        while (canTakeStep(at)) takeStep(at);
      }
    }
    open = open.filter(canTakeStep);
  }
  return cores;
}
