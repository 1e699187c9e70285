import type { Milliseconds } from "../../lib/conf/units.ts";
import {
  formatAddress,
  type RpcAddress,
} from "../../lib/messages/addresses.ts";
import { Connection, type End, type Medium } from "./connection.ts";
import type { Prng } from "./prng.ts";
import type { SimProcess } from "./sim_process.ts";
import type { Trace } from "./trace.ts";
import type { VirtualClock } from "./virtual_clock.ts";

/** `spark.rpc.io.connectionTimeout` */
const CONNECT_TIMEOUT: Milliseconds = 10_000;
/** The longest that a side goes on with a connection that is gone. */
export const LONGEST_NOTICE: Milliseconds = 30_000;

/**
 * What lies between processes: connections that deliver in order and with
 * delays, that break, and hosts that don't reach each other for a time.
 */
export class Network implements Medium {
  readonly clock: VirtualClock;
  readonly prng: Prng;
  readonly trace: Trace;
  /** The longest delay of a frame; faults raise it for a time. */
  longestDelay: Milliseconds = 50;
  /** Those that accept connections. */
  readonly #listening = new Map<string, SimProcess>();
  /** Addresses of processes that are there, if only to close. */
  readonly #taken = new Set<string>();
  readonly #connections = new Set<Connection>();
  /** How many partitions lie between two hosts. */
  readonly #cuts = new Map<string, number>();

  constructor(clock: VirtualClock, prng: Prng, trace: Trace) {
    this.clock = clock;
    this.prng = prng;
    this.trace = trace;
  }

  get now(): Milliseconds {
    return this.clock.now;
  }

  get connections(): readonly Connection[] {
    this.#forgetOver();
    return [...this.#connections];
  }

  delay(): Milliseconds {
    return this.prng.skewed(1, this.longestDelay);
  }

  schedule(after: Milliseconds, action: () => void): void {
    this.clock.schedule(after, action);
  }

  // Processes

  listen(process: SimProcess): void {
    const key = formatAddress(process.address);
    if (this.#taken.has(key)) throw new Error(`${key} is taken.`);
    this.#taken.add(key);
    this.#listening.set(key, process);
  }

  stopListening(process: SimProcess): void {
    this.#listening.delete(formatAddress(process.address));
  }

  /** The process is gone, so that another one can have its address. */
  leave(process: SimProcess): void {
    this.stopListening(process);
    this.#taken.delete(formatAddress(process.address));
  }

  isFree(address: RpcAddress): boolean {
    return !this.#taken.has(formatAddress(address));
  }

  /** Whether something from this address is still on its way. */
  isHeardOf(address: RpcAddress): boolean {
    return this.connections.some(({ ends }) =>
      ends.some(({ user, inFlight }) =>
        user.host === address.host && inFlight > 0
      )
    );
  }

  /** Makes a connection; `done` takes the dialler's end, or null. */
  dial(
    from: SimProcess,
    address: RpcAddress,
    done: (end: End | null) => void,
  ): void {
    this.schedule(this.delay(), () => {
      if (from.isGone) return;
      if (this.isCut(from.host, address.host)) {
        return this.schedule(CONNECT_TIMEOUT, () => done(null));
      }
      const target = this.#listening.get(formatAddress(address));
      if (target === undefined) return done(null);
      const connection = new Connection(this, from, target, address);
      this.#forgetOver();
      this.#connections.add(connection);
      target.accepted(connection.acceptor);
      done(connection.dialler);
    });
  }

  // Faults

  /**
   * A connection breaks. Each side finds out in its own time; until then it
   * sends into the void.
   */
  break(connection: Connection): void {
    connection.break((inFlight) => this.prng.integer(0, inFlight));
    for (const end of connection.ends) {
      const after = this.prng.chance(0.6)
        ? this.prng.integer(0, 200)
        : this.prng.integer(0, LONGEST_NOTICE);
      this.schedule(after, () => end.noticeClosed());
    }
  }

  /** A process is gone without a word: so are its ends of connections. */
  crash(process: SimProcess): void {
    this.leave(process);
    for (const connection of this.connections) {
      const own = connection.ends.filter(({ user }) => user === process);
      if (own.length === 0) continue;
      for (const end of own) end.open = false;
      this.break(connection);
    }
  }

  /** Parts two hosts. What is under way waits, as TCP would try again. */
  cut(one: string, other: string): void {
    const key = pairOf(one, other);
    this.#cuts.set(key, (this.#cuts.get(key) ?? 0) + 1);
  }

  heal(one: string, other: string): void {
    const key = pairOf(one, other);
    const cuts = (this.#cuts.get(key) ?? 0) - 1;
    if (cuts > 0) {
      this.#cuts.set(key, cuts);
      return;
    }
    this.#cuts.delete(key);
    for (const connection of this.connections) {
      const [a, b] = connection.ends;
      if (pairOf(a.user.host, b.user.host) === key) connection.resume();
    }
  }

  isCut(from: string, to: string): boolean {
    return this.#cuts.has(pairOf(from, to));
  }

  #forgetOver(): void {
    for (const connection of this.#connections) {
      if (connection.isOver) this.#connections.delete(connection);
    }
  }
}

function pairOf(one: string, other: string): string {
  return one < other ? `${one}|${other}` : `${other}|${one}`;
}
