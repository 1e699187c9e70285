import type { VirtualClock } from "./virtual_clock.ts";

/** How many of the last lines a failing run shows. */
const SHOWN_LINES = 120;

const ROUTINE = /heartbeat|check-workers/i;

/**
 * All that happens in a run, a line each: the last lines are kept to be shown,
 * and a hash of all lines tells whether two runs were the same.
 */
export class Trace {
  readonly #clock: VirtualClock;
  readonly #start: number;
  readonly #full: boolean;
  readonly #lines: string[] = [];
  #hash = 0x811c9dc5;

  /** @param full Whether every line is printed as it comes. */
  constructor(clock: VirtualClock, full: boolean) {
    this.#clock = clock;
    this.#start = clock.now;
    this.#full = full;
  }

  add(who: string, what: string): void {
    const seconds = (this.#clock.now - this.#start) / 1_000;
    const line = `${seconds.toFixed(3).padStart(9)} ${who.padEnd(8)} ${what}`;
    // FNV-1a
    for (let at = 0; at < line.length; at++) {
      this.#hash = Math.imul(this.#hash ^ line.charCodeAt(at), 0x01000193);
    }
    if (this.#full) console.log(line);
    if (ROUTINE.test(what)) return; // it would leave no room for the rest
    this.#lines.push(line);
    if (this.#lines.length > 2 * SHOWN_LINES) {
      this.#lines.splice(0, SHOWN_LINES);
    }
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  /** The last lines. */
  get tail(): string {
    return this.#lines.slice(-SHOWN_LINES).join("\n");
  }
}
