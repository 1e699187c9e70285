import { hashKey, hashNumber, hashString, keyEquals } from "./hash.ts";

/** The most slots: two to the power of this. */
const MAX_BITS = 29;

/** How full the slots get before there are twice as many. */
const MAX_LOAD = 0.6;

/** Options for {@linkcode CombineTable}. */
export interface CombineTableOptions {
  /**
   * How many keys to make room for at once; the table grows beyond it.
   *
   * @default {256}
   */
  expectedKeys?: number;
}

/** A table that holds as many keys as it can. */
export class CombineTableFullError extends RangeError {
  override readonly name = "CombineTableFullError";
}

/**
 * A hash table from keys to what has been combined for them: the heart of `reduceByKey` and its like.
 *
 * Keys are told apart as in `hash.ts`: arrays and plain objects by what they hold. Iteration
 * is in the order in which keys first came. For strings it is several times as fast as a `Map`,
 * whose hashing and lookup of short-lived strings costs more than all the rest of a word count.
 *
 * How it works: keys, values and hashes are in three arrays, in order of arrival. The slots of an open-addressing
 * table with linear probing hold a key's hash and its index, side by side; a key is compared only when
 * all 32 bits of the hash agree. The slot is taken from the hash by a multiplication, because the keys of one
 * shuffle partition agree in `hash % partitions`, so often in the low bits.
 */
export class CombineTable<K, C> {
  readonly #initialBits: number;
  #bits = 0;
  #limit = 0;
  /** Two numbers a slot: the hash, and the key's index plus one (0: the slot is free). */
  #slots = new Int32Array(0);
  #hashes = new Int32Array(0);
  #keys: K[] = [];
  #values: C[] = [];

  constructor(options: CombineTableOptions = {}) {
    const slots = (options.expectedKeys ?? 256) / MAX_LOAD;
    this.#initialBits = Math.min(
      MAX_BITS,
      Math.max(4, Math.ceil(Math.log2(slots + 1))),
    );
    this.#allocate(this.#initialBits);
  }

  /** How many keys there are. */
  get size(): number {
    return this.#keys.length;
  }

  /**
   * Adds a value to its key: `create(value)` makes what the key holds at first, `merge(held, value)` what it holds then.
   * The key must not be changed afterwards. When `create` throws, the key stays without a value: the
   * table is of no more use, as its task has failed.
   *
   * @throws {import("./hash.ts").UnhashableKeyError} for a key that cannot be one.
   * @throws {CombineTableFullError} for more than 300 million keys.
   */
  combine<V>(
    key: K,
    value: V,
    create: (value: V) => C,
    merge: (held: C, value: V) => C,
  ): void {
    const before = this.#keys.length;
    const index = this.#indexOf(key);
    if (index === before) this.#values[index] = create(value);
    else this.#values[index] = merge(this.#values[index], value);
  }

  /** What a key holds, or `undefined`. */
  get(key: K): C | undefined {
    const hash = hashKey(key) | 0;
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = this.#firstSlot(hash);; at = (at + 2) & mask) {
      const entry = slots[at + 1];
      if (entry === 0) return undefined;
      if (slots[at] === hash && keyEquals(this.#keys[entry - 1], key)) {
        return this.#values[entry - 1];
      }
    }
  }

  /** Calls `visit` for each key, with its hash as {@linkcode hashKey} gives it. */
  forEach(visit: (key: K, held: C, hash: number) => void): void {
    for (let i = 0; i < this.#keys.length; i++) {
      visit(this.#keys[i], this.#values[i], this.#hashes[i] >>> 0);
    }
  }

  /** The keys with what they hold. */
  *entries(): Generator<[K, C]> {
    for (let i = 0; i < this.#keys.length; i++) {
      yield [this.#keys[i], this.#values[i]];
    }
  }

  [Symbol.iterator](): Generator<[K, C]> {
    return this.entries();
  }

  /** Removes all keys and gives their memory back. */
  clear(): void {
    this.#keys = [];
    this.#values = [];
    this.#allocate(this.#initialBits);
  }

  /** The index of a key. A new key is added: its index is what the size was before. */
  #indexOf(key: K): number {
    return typeof key === "string"
      ? this.#indexOfString(key, hashString(key))
      : typeof key === "number"
      ? this.#indexOfNumber(key, hashNumber(key))
      : this.#indexOfAny(key, hashKey(key) | 0);
  }

  // The three are alike but for how keys are compared: a comparison that must ask what it compares
  // costs a word count a fifth of its time.

  #indexOfString(key: K, hash: number): number {
    const slots = this.#slots;
    const keys = this.#keys;
    const mask = slots.length - 1;
    let at = this.#firstSlot(hash);
    for (;; at = (at + 2) & mask) {
      const entry = slots[at + 1];
      if (entry === 0) return this.#add(key, hash, at);
      if (slots[at] === hash && keys[entry - 1] === key) return entry - 1;
    }
  }

  #indexOfNumber(key: K, hash: number): number {
    const slots = this.#slots;
    const keys = this.#keys;
    const mask = slots.length - 1;
    let at = this.#firstSlot(hash);
    for (;; at = (at + 2) & mask) {
      const entry = slots[at + 1];
      // As in a Map, what is kept of -0 is 0.
      if (entry === 0) return this.#add(key === 0 ? 0 as K : key, hash, at);
      if (slots[at] === hash) {
        const held = keys[entry - 1];
        if (held === key || (held !== held && key !== key)) return entry - 1;
      }
    }
  }

  #indexOfAny(key: K, hash: number): number {
    const slots = this.#slots;
    const keys = this.#keys;
    const mask = slots.length - 1;
    let at = this.#firstSlot(hash);
    for (;; at = (at + 2) & mask) {
      const entry = slots[at + 1];
      if (entry === 0) return this.#add(key, hash, at);
      if (slots[at] === hash && keyEquals(keys[entry - 1], key)) {
        return entry - 1;
      }
    }
  }

  #firstSlot(hash: number): number {
    return (Math.imul(hash, 0x9e3779b1) >>> (32 - this.#bits)) << 1;
  }

  #add(key: K, hash: number, at: number): number {
    const index = this.#keys.length;
    if (index === this.#limit) {
      this.#grow();
      at = this.#freeSlot(hash);
    }
    this.#slots[at] = hash;
    this.#slots[at + 1] = index + 1;
    this.#hashes[index] = hash;
    this.#keys.push(key);
    return index;
  }

  #freeSlot(hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = this.#firstSlot(hash);
    while (slots[at + 1] !== 0) at = (at + 2) & mask;
    return at;
  }

  #grow(): void {
    if (this.#bits === MAX_BITS) {
      throw new CombineTableFullError(
        `Cannot combine more than ${this.#limit} keys in one task: use more partitions`,
      );
    }
    const hashes = this.#hashes;
    this.#allocate(this.#bits + 1);
    this.#hashes.set(hashes);
    for (let i = 0; i < hashes.length; i++) {
      const at = this.#freeSlot(hashes[i]);
      this.#slots[at] = hashes[i];
      this.#slots[at + 1] = i + 1;
    }
  }

  #allocate(bits: number): void {
    this.#bits = bits;
    this.#limit = Math.floor(2 ** bits * MAX_LOAD);
    this.#slots = new Int32Array(2 ** (bits + 1));
    this.#hashes = new Int32Array(this.#limit);
  }
}
