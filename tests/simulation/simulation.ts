import { SparkConf } from "../../lib/conf/spark_conf.ts";
import type { Milliseconds } from "../../lib/conf/units.ts";
import type { RpcAddress } from "../../lib/messages/addresses.ts";
import { Faults } from "./faults.ts";
import {
  checkEmptied,
  checkSettled,
  type Cluster,
  StrayWatch,
} from "./invariants.ts";
import { Network } from "./network.ts";
import { Prng } from "./prng.ts";
import { randomDescription, SimApp } from "./sim_app.ts";
import { SimMaster } from "./sim_master.ts";
import { SimWorker } from "./sim_worker.ts";
import { Trace } from "./trace.ts";
import { VirtualClock } from "./virtual_clock.ts";
import { Executors, type Sabotage, type World } from "./world.ts";

export interface SimulationOptions {
  /** Prints every line of the trace. @default {false} */
  readonly fullTrace?: boolean;
  /** What is broken on purpose. @default {{}} */
  readonly sabotage?: Sabotage;
}

export interface SimulationResult {
  readonly seed: number;
  /** The same for two runs that went the same way. */
  readonly traceHash: string;
  /** Actions of the virtual clock. */
  readonly steps: number;
  readonly executorsLaunched: number;
}

/** A run in which something did not hold; the message has all to replay it. */
export class SimulationError extends Error {
  override name = "SimulationError";

  constructor(readonly seed: number, trace: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `Seed ${seed} fails: ${reason}\n` +
        `The last events were:\n${trace}\n` +
        `Replay with SPARKTS_SIM_SEED=${seed}`,
      { cause },
    );
  }
}

/** Any time will do, as long as it is always the same. */
const START: Milliseconds = Date.UTC(2026, 10, 30);
/** From the last fault until all must have settled; see LONGEST_STRAY. */
const SETTLING: Milliseconds = 480_000;
/** From the end of the last driver until nothing may be left. */
const EMPTYING: Milliseconds = 180_000;
const CHECK_INTERVAL: Milliseconds = 5_000;

/**
 * Runs one cluster through its life: a time of faults in which applications
 * come and go, a calm in which all must settle, and the end of all drivers.
 *
 * @throws {SimulationError} when something does not hold.
 */
export function simulate(
  seed: number,
  options: SimulationOptions = {},
): SimulationResult {
  const clock = new VirtualClock(START);
  const trace = new Trace(clock, options.fullTrace ?? false);
  try {
    return new Simulation(seed, clock, trace, options.sabotage ?? {}).run();
  } catch (cause) {
    throw new SimulationError(seed, trace.tail, cause);
  }
}

class Simulation {
  readonly #seed: number;
  readonly #world: World;
  readonly #master: SimMaster;
  readonly #workers: SimWorker[] = [];
  readonly #apps: SimApp[] = [];
  #steps = 0;

  constructor(
    seed: number,
    clock: VirtualClock,
    trace: Trace,
    sabotage: Sabotage,
  ) {
    const prng = new Prng(seed);
    this.#seed = seed;
    this.#world = {
      clock,
      prng,
      trace,
      network: new Network(clock, prng, trace),
      conf: randomConf(prng),
      executors: new Executors(),
      sabotage,
      calmSince: null,
    };
    this.#master = new SimMaster(this.#world);
    const workers = prng.integer(1, 5);
    for (let n = 1; n <= workers; n++) {
      this.#workers.push(new SimWorker(this.#world, `worker${n}`));
    }
  }

  run(): SimulationResult {
    const { clock, prng, trace, network, executors } = this.#world;
    const apps = prng.integer(3, 10);
    const faultsFor = prng.integer(120_000, 900_000);
    for (let n = 1; n <= apps; n++) {
      this.#startApp(`driver${n}`, `app ${n}`, prng.integer(0, faultsFor));
    }
    new Faults({
      world: this.#world,
      master: this.#master,
      workers: this.#workers,
      apps: this.#apps,
    }, clock.now + faultsFor);
    this.#runFor(faultsFor);

    trace.add("fault", "no more faults");
    this.#world.calmSince = clock.now;
    network.longestDelay = 50;
    const cluster: Cluster = {
      world: this.#world,
      master: this.#master.core,
      workers: this.#workers,
      apps: this.#apps,
    };
    const strays = new StrayWatch(cluster);
    this.#runFor(SETTLING, () => strays.check());
    checkSettled(cluster);

    trace.add("fault", "all drivers end");
    for (const app of this.#apps) app.stop();
    this.#runFor(EMPTYING, () => strays.check());
    checkEmptied(cluster);
    return {
      seed: this.#seed,
      traceHash: trace.hash,
      steps: this.#steps,
      executorsLaunched: executors.launchCount,
    };
  }

  #runFor(duration: Milliseconds, check: () => void = () => {}): void {
    const { clock } = this.#world;
    const end = clock.now + duration;
    while (clock.now < end) {
      const until = Math.min(clock.now + CHECK_INTERVAL, end);
      this.#steps += clock.runUntil(until);
      check();
    }
  }

  #startApp(host: string, name: string, after: Milliseconds): void {
    const { clock, prng, network } = this.#world;
    const address: RpcAddress = { host, port: 5_000 };
    const description = randomDescription(prng, name);
    clock.schedule(after, () => {
      if (this.#world.calmSince !== null || !network.isFree(address)) return;
      // What a driver said can't be told from what the one before it at its
      // address said, should that come later: no driver is so quick.
      if (network.isHeardOf(address)) return;
      const app = new SimApp(this.#world, address, description);
      this.#apps.push(app);
      if (prng.chance(0.2)) return; // it stays until all drivers end
      const life = prng.integer(100, prng.pick([20_000, 200_000, 900_000]));
      clock.schedule(life, () => {
        if (this.#world.calmSince !== null) return;
        if (prng.chance(0.5)) app.stop();
        else app.crash();
        // With a fixed port another driver may follow at the same address.
        // (Of the very same job, too soon for the master to have noticed, it
        // would be taken for the one before.)
        if (prng.chance(0.5)) {
          this.#startApp(host, `${name}'`, prng.skewed(10, 60_000));
        }
      });
    });
  }
}

function randomConf(prng: Prng): SparkConf {
  return new SparkConf({
    "spark.deploy.maxExecutorRetries": String(prng.integer(1, 6)),
    "spark.deploy.retainedApplications": String(prng.integer(0, 5)),
    "spark.dead.worker.persistence": String(prng.integer(0, 2)),
    "spark.deploy.spreadOutApps": String(prng.chance(0.5)),
    "spark.deploy.workerSelectionPolicy": prng.pick([
      "CORES_FREE_ASC",
      "CORES_FREE_DESC",
      "MEMORY_FREE_ASC",
      "MEMORY_FREE_DESC",
      "WORKER_ID",
    ]),
    "spark.worker.timeout": prng.pick(["20", "60"]),
    "spark.worker.ui.retainedExecutors": String(prng.integer(0, 10)),
  });
}
