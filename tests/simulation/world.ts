import type { SparkConf } from "../../lib/conf/spark_conf.ts";
import type { Milliseconds } from "../../lib/conf/units.ts";
import type { RpcAddress } from "../../lib/messages/addresses.ts";
import type { AppClientCore } from "../../lib/driver/app_client_core.ts";
import type { MasterCore } from "../../lib/master/core.ts";
import type { WorkerCore } from "../../lib/worker/core.ts";
import type { Network } from "./network.ts";
import type { Prng } from "./prng.ts";
import type { Trace } from "./trace.ts";
import type { VirtualClock } from "./virtual_clock.ts";

export const MASTER_AT: RpcAddress = { host: "master", port: 7077 };

/**
 * Puts something between a machine and those that drive it, to see that what
 * it breaks is noticed.
 */
export interface Sabotage {
  master?(core: MasterCore): Pick<MasterCore, "handle">;
  worker?(core: WorkerCore): Pick<WorkerCore, "handle">;
  app?(core: AppClientCore): Pick<AppClientCore, "handle">;
}

/** The executors that really run, whatever master and workers believe. */
export class Executors {
  readonly #launched = new Set<string>();
  readonly #running = new Map<string, RunningExecutor>();

  get running(): ReadonlyMap<string, RunningExecutor> {
    return this.#running;
  }

  /** How many there were so far. */
  get launchCount(): number {
    return this.#launched.size;
  }

  /** @throws {ViolationError} when this executor was launched before. */
  launched(executor: RunningExecutor): void {
    mustHold(
      !this.#launched.has(executor.id),
      `executor ${executor.id} was launched twice, now on ${executor.workerId}`,
    );
    this.#launched.add(executor.id);
    this.#running.set(executor.id, executor);
  }

  ended(id: string): void {
    this.#running.delete(id);
  }
}

export interface RunningExecutor {
  /** `appId/execId` */
  readonly id: string;
  readonly workerId: string;
  readonly cores: number;
}

/** What all nodes of a simulation share. */
export interface World {
  readonly clock: VirtualClock;
  readonly prng: Prng;
  readonly trace: Trace;
  readonly network: Network;
  readonly conf: SparkConf;
  readonly executors: Executors;
  readonly sabotage: Sabotage;
  /** Since when there are no faults; null while there may be some. */
  calmSince: Milliseconds | null;
}

/** Something that must hold does not. */
export class ViolationError extends Error {
  override name = "ViolationError";
}

/** @throws {ViolationError} */
export function mustHold(condition: boolean, what: string): asserts condition {
  if (!condition) throw new ViolationError(what);
}
