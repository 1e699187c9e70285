/**
 * The only source of chance in a simulation: two generators of one seed give
 * the same numbers for ever (the algorithm is known as mulberry32).
 */
export class Prng {
  #state: number;

  /** @param seed Any integer; its low 32 bits count. */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer, both ends included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws {Error} when there is nothing to pick from. */
  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new Error("There is nothing to pick from.");
    return choices[this.integer(0, choices.length - 1)];
  }

  /** Picks by weight; one of weight 0 is never picked. */
  pickWeighted<T>(choices: readonly (readonly [T, number])[]): T {
    const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
    let point = this.next() * total;
    for (const [choice, weight] of choices) {
      point -= weight;
      if (point < 0) return choice;
    }
    throw new Error("All weights are 0.");
  }

  /** Mostly near `least`, now and then up to `most`: how delays are in life. */
  skewed(least: number, most: number): number {
    return Math.round(least + (most - least) * this.next() ** 4);
  }
}
