import type { Milliseconds } from "../../lib/conf/units.ts";
import type { SimApp } from "./sim_app.ts";
import type { SimMaster } from "./sim_master.ts";
import type { SimWorker } from "./sim_worker.ts";
import { MASTER_AT, type World } from "./world.ts";

/** Whom faults befall. */
export interface Targets {
  readonly world: World;
  readonly master: SimMaster;
  readonly workers: readonly SimWorker[];
  /** All drivers that there were so far. */
  readonly apps: readonly SimApp[];
}

/**
 * Brings one fault after the other until some time; none lasts longer.
 *
 * How often and of which kinds is drawn for each run: runs with all kinds at
 * once hide what shows only when one kind comes alone and often.
 */
export class Faults {
  readonly #targets: Targets;
  readonly #until: Milliseconds;
  readonly #longestPause: Milliseconds;
  readonly #kinds: readonly (readonly [() => void, number])[];

  constructor(targets: Targets, until: Milliseconds) {
    const { prng } = targets.world;
    this.#targets = targets;
    this.#until = until;
    this.#longestPause = prng.pick([5_000, 30_000, 120_000]);
    const weight = () => prng.chance(0.3) ? 0 : prng.integer(1, 5);
    this.#kinds = [
      [() => this.#breakConnection(), 1 + weight()],
      [() => this.#partition(), weight()],
      [() => this.#crashWorker(), weight()],
      [() => this.#shutDownWorker(), weight()],
      [() => this.#pauseSomeone(), weight()],
      [() => this.#slowDown(), weight()],
    ];
    this.#next();
  }

  #next(): void {
    const { clock, prng } = this.#targets.world;
    clock.schedule(prng.skewed(1, this.#longestPause), () => {
      if (clock.now >= this.#until) return;
      prng.pickWeighted(this.#kinds)();
      this.#next();
    });
  }

  #breakConnection(): void {
    const { network, prng, trace } = this.#targets.world;
    const { connections } = network;
    if (connections.length === 0) return;
    const connection = prng.pick(connections);
    const [one, other] = connection.ends.map(({ user }) => user.host);
    trace.add("fault", `the connection of ${one} and ${other} breaks`);
    network.break(connection);
  }

  /** All hosts talk only to the master, so that is from whom one is parted. */
  #partition(): void {
    const { network, prng, trace, clock } = this.#targets.world;
    const hosts = this.#targets.workers.map(({ address }) => address.host)
      .concat(this.#liveApps().map(({ address }) => address.host))
      .filter(() => prng.chance(0.4));
    const { host: master } = MASTER_AT;
    const duration = this.#duration(100, 150_000);
    trace.add("fault", `${hosts.join()} and ${master} part for ${duration} ms`);
    for (const host of hosts) network.cut(master, host);
    clock.schedule(duration, () => {
      trace.add("fault", `${hosts.join()} and ${master} meet again`);
      for (const host of hosts) network.heal(master, host);
    });
    // What is silent for long is taken for broken, on whichever side.
    for (const connection of network.connections) {
      const parted = connection.ends.some(({ user }) =>
        hosts.includes(user.host)
      );
      if (parted && prng.chance(duration / 60_000)) network.break(connection);
    }
  }

  #crashWorker(): void {
    this.#targets.world.prng.pick(this.#targets.workers).crash();
  }

  #shutDownWorker(): void {
    this.#targets.world.prng.pick(this.#targets.workers).shutdown();
  }

  #pauseSomeone(): void {
    const { prng, trace } = this.#targets.world;
    const { master, workers } = this.#targets;
    const duration = this.#duration(10, 100_000);
    const someone = prng.chance(0.3)
      ? master.process
      : prng.pick([...workers, ...this.#liveApps()]);
    const { host } = "host" in someone ? someone : someone.address;
    trace.add("fault", `${host} stands still for ${duration} ms`);
    someone.pause(duration);
  }

  #slowDown(): void {
    const { network, prng, trace, clock } = this.#targets.world;
    network.longestDelay = prng.integer(200, 5_000);
    trace.add("fault", `delays up to ${network.longestDelay} ms`);
    clock.schedule(this.#duration(1_000, 30_000), () => {
      network.longestDelay = 50;
    });
  }

  #duration(least: Milliseconds, most: Milliseconds): Milliseconds {
    const { prng, clock } = this.#targets.world;
    return Math.min(prng.skewed(least, most), this.#until - clock.now);
  }

  #liveApps(): SimApp[] {
    return this.#targets.apps.filter(({ isUp }) => isUp);
  }
}
