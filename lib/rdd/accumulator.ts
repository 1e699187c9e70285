import { type Travel, travel } from "../closure/travel.ts";

export const ACCUMULATOR_KIND = "accumulator";

/** What one task added, by accumulator id. Only sums and lists travel. */
export type AccumulatorUpdates =
  readonly (readonly [id: number, partial: unknown])[];

/** How the parts become one: `sum` of numbers or bigints, or `list` of values. */
export type AccumulatorMode = "sum" | "list";

/**
 * A value that tasks add to and the driver reads. What a task added counts
 * once, when the task has succeeded; what a failed try added does not.
 */
export class Accumulator<T, R = T> {
  readonly id: number;
  readonly mode: AccumulatorMode;
  #value: unknown;

  constructor(id: number, mode: AccumulatorMode, initial: R) {
    this.id = id;
    this.mode = mode;
    this.#value = initial;
  }

  /** Adds a value: to the sum, or at the end of the list. */
  add(value: T): void {
    if (this.mode === "list") (this.#value as unknown[]).push(value);
    else this.#value = sum(this.#value, value);
  }

  /** In the driver: all that finished tasks added. In a task: its own part. */
  get value(): R {
    return this.#value as R;
  }

  /** In the driver: takes in what a finished task added. */
  merge(partial: unknown): void {
    if (this.mode === "list") {
      for (const value of partial as unknown[]) {
        (this.#value as unknown[]).push(value);
      }
    } else {
      this.#value = sum(this.#value, partial);
    }
  }

  /** In a task: hands out what was added and starts from nothing. */
  takePartial(): unknown {
    const partial = this.#value;
    this.#value = zeroLike(this.mode, partial);
    return partial;
  }

  [travel](): Travel {
    const zero = zeroLike(this.mode, this.#value);
    return {
      kind: ACCUMULATOR_KIND,
      data: { id: this.id, mode: this.mode, zero },
    };
  }
}

function sum(a: unknown, b: unknown): number | bigint {
  // A number added to a bigint throws, and should: neither would be right.
  return (a as number) + (b as number);
}

function zeroLike(mode: AccumulatorMode, value: unknown): unknown {
  if (mode === "list") return [];
  return typeof value === "bigint" ? 0n : 0;
}

/** Whether a part changes nothing, and so need not travel. */
export function isZero(partial: unknown): boolean {
  return partial === 0 || partial === 0n ||
    (Array.isArray(partial) && partial.length === 0);
}
