import { MAX_EXECUTOR_RETRIES } from "../../lib/conf/settings.ts";
import type { SparkConf } from "../../lib/conf/spark_conf.ts";
import type { Milliseconds } from "../../lib/conf/units.ts";
import { formatAddress } from "../../lib/messages/addresses.ts";
import type { MasterCore } from "../../lib/master/core.ts";
import type { SimApp } from "./sim_app.ts";
import type { SimWorker } from "./sim_worker.ts";
import { mustHold, type World } from "./world.ts";

/**
 * How long an executor may run that the master does not know, once there are
 * no faults: until a worker has found its connection gone (30 s), has tried to
 * register (90 s apart at most) and has ended the executor (40 s at most).
 */
export const LONGEST_STRAY: Milliseconds = 180_000;

/** What is looked at. */
export interface Cluster {
  readonly world: World;
  readonly master: MasterCore;
  readonly workers: readonly SimWorker[];
  readonly apps: readonly SimApp[];
}

/**
 * An application whose executors fail one after the other is removed at the
 * limit, unless some executor of it runs.
 */
export class RetryWatch {
  readonly #master: MasterCore;
  readonly #limit: number;
  readonly #counts = new Map<string, number>();

  constructor(master: MasterCore, conf: SparkConf) {
    this.#master = master;
    this.#limit = conf.get(MAX_EXECUTOR_RETRIES);
  }

  /** To be called after every event of the master. */
  check(): void {
    const { applications } = this.#master.tables;
    for (const { id, retryCount, executors } of applications.values()) {
      const before = this.#counts.get(id) ?? 0;
      this.#counts.set(id, retryCount);
      if (retryCount <= before || retryCount < this.#limit) continue;
      mustHold(
        [...executors.values()].some(({ state }) => state === "RUNNING"),
        `${id} goes on after ${retryCount} executors that failed in a row`,
      );
    }
  }
}

/** Sees to it that no executor runs on that the master does not know. */
export class StrayWatch {
  readonly #cluster: Cluster;
  readonly #straySince = new Map<string, Milliseconds>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** To be called now and then, in the calm. */
  check(): void {
    const { world, master } = this.#cluster;
    const { now } = world.clock;
    const known = new Set<string>();
    for (const { executors } of master.tables.workers) {
      for (const id of executors.keys()) known.add(id);
    }
    for (const { id, workerId } of world.executors.running.values()) {
      if (known.has(id)) {
        this.#straySince.delete(id);
        continue;
      }
      const since = this.#straySince.get(id) ?? now;
      this.#straySince.set(id, since);
      mustHold(
        now - since <= LONGEST_STRAY,
        `${id} still runs on ${workerId}, ${now - since} ms after the master ` +
          `forgot it`,
      );
    }
  }
}

/** What must hold when there have been no faults for long enough. */
export function checkSettled(cluster: Cluster): void {
  checkWorkersAreKnown(cluster);
  checkExecutorsAreKnown(cluster);
  checkApplications(cluster);
  checkDemandIsServed(cluster);
}

/** What must hold when, after that, all drivers have ended. */
export function checkEmptied({ world, master }: Cluster): void {
  mustHold(
    world.executors.running.size === 0,
    `executors outlive all applications: ${
      [...world.executors.running.keys()].join(", ")
    }`,
  );
  const { applications, workers } = master.tables;
  mustHold(
    applications.size === 0,
    `applications outlive their drivers: ${[...applications.keys()].join()}`,
  );
  for (const { id, coresUsed, memoryUsed } of workers) {
    mustHold(
      coresUsed === 0 && memoryUsed === 0,
      `${id} holds ${coresUsed} cores for nobody`,
    );
  }
}

function checkWorkersAreKnown({ workers, master }: Cluster): void {
  const alive = [...master.tables.workers].filter(({ state }) =>
    state === "ALIVE"
  );
  const expected = workers.map(({ current, address }) => {
    mustHold(current !== null, `no worker runs on ${address.host}`);
    return current.id;
  });
  mustBeSame(
    alive.map(({ id }) => id),
    expected,
    "the workers that the master takes for alive, and those that live",
  );
}

/** Master, worker and reality agree on who runs what. */
function checkExecutorsAreKnown({ world, workers, master }: Cluster): void {
  for (const { current } of workers) {
    if (current === null) continue;
    const { id, core } = current;
    const atMaster = [...master.tables.workerById.get(id)!.executors.values()]
      .map(({ fullId, state, cores }) => `${fullId} ${state} ${cores}`);
    const atWorker = core.describe().executors
      .map((e) => `${e.appId}/${e.execId} ${e.state} ${e.cores}`);
    const inReality = [...world.executors.running.values()]
      .filter(({ workerId }) => workerId === id)
      .map((e) => `${e.id} RUNNING ${e.cores}`);
    mustBeSame(atMaster, atWorker, `what master and worker think of ${id}`);
    mustBeSame(atWorker, inReality, `what ${id} believes, and what runs there`);
  }
}

function checkApplications({ apps, master }: Cluster): void {
  const drivers = new Map(
    apps.filter(({ isUp }) => isUp)
      .map((app) => [formatAddress(app.address), app]),
  );
  for (
    const { id, driver, description } of master.tables.applications.values()
  ) {
    const app = drivers.get(formatAddress(driver.address));
    mustHold(app !== undefined, `${id} is kept, but its driver is gone`);
    mustHold(
      app.description.name === description.name,
      `the driver of ${id} runs ${app.description.name} and not ` +
        `${description.name}`,
    );
    mustHold(
      app.core.appId === id,
      `the driver of ${id} takes itself for ${app.core.appId}`,
    );
  }
  for (const app of drivers.values()) {
    if (app.hasLostMaster) continue;
    const { appId } = app.core;
    const entry = master.tables.applications.get(appId ?? "");
    mustHold(
      entry !== undefined,
      `the driver at ${app.address.host} believes to have ${appId}`,
    );
    // It may know of more: nobody tells it of those that it gave back.
    for (const id of entry.executors.keys()) {
      mustHold(
        app.granted.has(String(id)),
        `the driver of ${appId} does not know its executor ${id}`,
      );
    }
  }
}

/** The master checks this of itself too; here it is said in other words. */
function checkDemandIsServed({ master }: Cluster): void {
  const { applications, workers } = master.tables;
  for (const app of applications.values()) {
    for (const profile of app.profiles) {
      const { id: profileId, coresPerExecutor, memoryPerExecutor } = profile;
      const least = coresPerExecutor ?? 1;
      const count = [...app.executors.values()]
        .filter(({ resourceProfileId }) => resourceProfileId === profileId)
        .length;
      if (count >= app.targetOf(profileId) || app.coresLeft < least) continue;
      for (const { id, state, coresFree, memoryFree } of workers) {
        mustHold(
          state !== "ALIVE" || coresFree < least ||
            memoryFree < memoryPerExecutor,
          `${app.id} waits although ${id} has room for profile ${profileId}`,
        );
      }
    }
  }
}

function mustBeSame(some: string[], others: string[], what: string): void {
  const one = some.sort().join(", ");
  const other = others.sort().join(", ");
  mustHold(one === other, `${what} differ: [${one}] and [${other}]`);
}
