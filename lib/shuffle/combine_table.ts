import { hashKey, hashString, keyEquals } from "./hash.ts";

/** The most slots: two to the power of this. */
const MAX_BITS = 28;

/** How full the slots get before there are twice as many. */
const MAX_LOAD = 0.6;

/** How many numbers a slot takes in the array of slots. */
const SLOT_SIZE = 4;

/** The longest string whose characters (of one byte) fit the two words of a slot. */
const MAX_PACKED_LENGTH = 8;

// What a slot's two words are. From 0 to 8: all the characters of a string of that length.
const INTEGER = 9;
const FLOAT = 10;
const NOT_A_NUMBER = 11;
/** A hash, and nothing: the key itself has to be compared. */
const HASHED = 12;

const float = new Float64Array(1);
const floatWords = new Int32Array(float.buffer);

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
 * A hash table from keys to what has been combined for them: the heart of `reduceByKey` and its
 * like.
 *
 * Keys are told apart as in `hash.ts`: arrays and plain objects by what they hold. Iteration is in
 * the order in which keys first came. For strings that come from reading and splitting text it is
 * several times as fast as a `Map`, which computes and stores a hash in each of them before it can
 * look one up.
 *
 * How it works: keys and values are in two arrays, in order of arrival. The slots are an
 * open-addressing table with linear probing. What takes time is to fetch from memory, so a slot
 * tells as much as it can of its key: the characters of a short string and the bits of a number are
 * all there, and neither the key nor a hash is looked at. Of other keys it has the hash of 32 bits,
 * and only those that agree in it are compared.
 */
export class CombineTable<K, C> {
  readonly #initialBits: number;
  #bits = 0;
  #limit = 0;
  /** Four numbers a slot: two words, what they are, and the key's index plus one (0: the slot is free). */
  #slots = new Int32Array(0);
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
   * Adds a value to its key: `create(value)` makes what the key holds at first, `merge(held,
   * value)` what it holds then. The key must not be changed afterwards. When `create` throws, the
   * key stays without a value: the table is of no more use, as its task has failed.
   *
   * @throws {import("./hash.ts").UnhashableKeyError} for a key that cannot be one.
   * @throws {CombineTableFullError} for more than 160 million keys.
   */
  combine<V>(
    key: K,
    value: V,
    create: (value: V) => C,
    merge: (held: C, value: V) => C,
  ): void {
    const before = this.#keys.length;
    const index = this.#indexOf(key, true);
    if (index === before) this.#values[index] = create(value);
    else this.#values[index] = merge(this.#values[index], value);
  }

  /** What a key holds, or `undefined`. */
  get(key: K): C | undefined {
    return this.#values[this.#indexOf(key, false)];
  }

  /** Calls `visit` for each key with what it holds. */
  forEach(visit: (key: K, held: C) => void): void {
    for (let i = 0; i < this.#keys.length; i++) {
      visit(this.#keys[i], this.#values[i]);
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

  /** The index of a key. One that is new is added, or has the index -1. */
  #indexOf(key: K, add: boolean): number {
    if (typeof key === "string") return this.#indexOfString(key, add);
    if (typeof key === "number") return this.#indexOfNumber(key, add);
    return this.#indexOfHashed(key, hashKey(key) | 0, add);
  }

  #indexOfString(key: K & string, add: boolean): number {
    const length = key.length;
    if (length <= MAX_PACKED_LENGTH) {
      let low = 0;
      let high = 0;
      let allBits = 0;
      let i = 0;
      for (const half = length < 4 ? length : 4; i < half; i++) {
        const code = key.charCodeAt(i);
        allBits |= code;
        low = (low << 8) | code;
      }
      for (; i < length; i++) {
        const code = key.charCodeAt(i);
        allBits |= code;
        high = (high << 8) | code;
      }
      if (allBits <= 0xff) {
        return this.#indexOfPacked(key, low, high, length, add);
      }
    }
    return this.#indexOfHashed(key, hashString(key), add);
  }

  #indexOfNumber(key: K & number, add: boolean): number {
    // As in a Map, -0 is 0, also in what is kept.
    const integer = key | 0;
    if (integer === key) {
      return this.#indexOfPacked(integer as K, integer, 0, INTEGER, add);
    }
    // Its bits are not always the same.
    if (key !== key) return this.#indexOfPacked(key, 0, 0, NOT_A_NUMBER, add);
    float[0] = key;
    return this.#indexOfPacked(key, floatWords[0], floatWords[1], FLOAT, add);
  }

  #indexOfPacked(
    key: K,
    low: number,
    high: number,
    kind: number,
    add: boolean,
  ): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = this.#firstSlot(low, high, kind);
    for (;; at = (at + SLOT_SIZE) & mask) {
      const entry = slots[at + 3];
      if (entry === 0) {
        return add ? this.#add(key, low, high, kind, at) : -1;
      }
      if (
        slots[at] === low && slots[at + 1] === high && slots[at + 2] === kind
      ) return entry - 1;
    }
  }

  #indexOfHashed(key: K, hash: number, add: boolean): number {
    const slots = this.#slots;
    const keys = this.#keys;
    const mask = slots.length - 1;
    let at = this.#firstSlot(hash, 0, HASHED);
    for (;; at = (at + SLOT_SIZE) & mask) {
      const entry = slots[at + 3];
      if (entry === 0) {
        return add ? this.#add(key, hash, 0, HASHED, at) : -1;
      }
      if (
        slots[at] === hash && slots[at + 2] === HASHED &&
        (keys[entry - 1] === key || keyEquals(keys[entry - 1], key))
      ) return entry - 1;
    }
  }

  /**
   * Where to look first. The words are mixed once more, hashes too: those of one shuffle partition
   * agree in `hash % partitions`, so often in their low bits.
   */
  #firstSlot(low: number, high: number, kind: number): number {
    let hash = Math.imul(low ^ kind, 0x9e3779b1) ^ high;
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash >>> (32 - this.#bits)) * SLOT_SIZE;
  }

  #add(
    key: K,
    low: number,
    high: number,
    kind: number,
    at: number,
  ): number {
    const index = this.#keys.length;
    if (index === this.#limit) {
      this.#grow();
      at = this.#freeSlot(low, high, kind);
    }
    this.#fill(at, low, high, kind, index + 1);
    this.#keys.push(key);
    return index;
  }

  #fill(
    at: number,
    low: number,
    high: number,
    kind: number,
    entry: number,
  ): void {
    this.#slots[at] = low;
    this.#slots[at + 1] = high;
    this.#slots[at + 2] = kind;
    this.#slots[at + 3] = entry;
  }

  #freeSlot(low: number, high: number, kind: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = this.#firstSlot(low, high, kind);
    while (slots[at + 3] !== 0) at = (at + SLOT_SIZE) & mask;
    return at;
  }

  #grow(): void {
    if (this.#bits === MAX_BITS) {
      throw new CombineTableFullError(
        `Cannot combine more than ${this.#limit} keys in one task: use more partitions`,
      );
    }
    const old = this.#slots;
    this.#allocate(this.#bits + 1);
    for (let i = 0; i < old.length; i += SLOT_SIZE) {
      if (old[i + 3] === 0) continue;
      const at = this.#freeSlot(old[i], old[i + 1], old[i + 2]);
      this.#fill(at, old[i], old[i + 1], old[i + 2], old[i + 3]);
    }
  }

  #allocate(bits: number): void {
    this.#bits = bits;
    this.#limit = Math.floor(2 ** bits * MAX_LOAD);
    this.#slots = new Int32Array(SLOT_SIZE * 2 ** bits);
  }
}
