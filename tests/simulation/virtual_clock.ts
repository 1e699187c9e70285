import type { Milliseconds } from "../../lib/conf/units.ts";

/** Something that is to happen; `cancelled` keeps it from happening. */
export interface Scheduled {
  cancelled: boolean;
}

interface Entry extends Scheduled {
  readonly at: Milliseconds;
  /** What was scheduled first happens first, of things of the same moment. */
  readonly order: number;
  readonly action: () => void;
}

/**
 * Time that passes only from one scheduled action to the next.
 *
 * The actions are kept in a binary heap: the earliest is at its top.
 */
export class VirtualClock {
  readonly #heap: Entry[] = [];
  #order = 0;
  #now: Milliseconds;

  constructor(start: Milliseconds) {
    this.#now = start;
  }

  get now(): Milliseconds {
    return this.#now;
  }

  schedule(after: Milliseconds, action: () => void): Scheduled {
    const entry: Entry = {
      at: this.#now + Math.max(after, 0),
      order: this.#order++,
      action,
      cancelled: false,
    };
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    return entry;
  }

  /**
   * Does what is due until then, in order, and stands at that time after it.
   *
   * @returns How many actions that were.
   */
  runUntil(time: Milliseconds): number {
    let steps = 0;
    while (this.#heap.length > 0 && this.#heap[0].at <= time) {
      const entry = this.#pop();
      if (entry.cancelled) continue;
      this.#now = entry.at;
      entry.action();
      steps++;
    }
    this.#now = time;
    return steps;
  }

  #pop(): Entry {
    const top = this.#heap[0];
    const last = this.#heap.pop()!;
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return top;
  }

  #rise(at: number): void {
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(at: number): void {
    while (true) {
      let first = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#heap.length && this.#isBefore(child, first)) {
          first = child;
        }
      }
      if (first === at) return;
      this.#swap(at, first);
      at = first;
    }
  }

  #isBefore(one: number, other: number): boolean {
    const a = this.#heap[one];
    const b = this.#heap[other];
    return a.at < b.at || a.at === b.at && a.order < b.order;
  }

  #swap(one: number, other: number): void {
    const kept = this.#heap[one];
    this.#heap[one] = this.#heap[other];
    this.#heap[other] = kept;
  }
}
