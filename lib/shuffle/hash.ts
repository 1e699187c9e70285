/**
 * When two keys are one key, and the hash that goes with it.
 *
 * Keys are compared by what they hold, as in Scala: strings, numbers (`NaN` is one key, `0` and
 * `-0` are one), booleans, bigints, `null`, `undefined`, Dates, typed arrays, and arrays and plain
 * objects of all these (the order of an object's properties does not matter). `1`, `1n` and `"1"`
 * are three keys. Hashes depend on nothing but the key, so that they are the same in every process.
 *
 * @module
 */

/** How deep a key may be nested. Also what ends the walk over a key that contains itself. */
const MAX_DEPTH = 64;

/** A key that has no hash, such as a function, a Map or an instance of a class. */
export class UnhashableKeyError extends TypeError {
  override readonly name = "UnhashableKeyError";
}

// What a key of each kind starts from, so that kinds do not collide as a rule.
const STRING = 0x5bd1e995;
const NUMBER = 0x2c1b3c6d;
const NOT_A_NUMBER = 0x3c6ef372;
const BIGINT = 0x297a2d39;
const TRUE = 0x38495ab5;
const FALSE = 0x7a5662dc;
const NULL = 0x1b873593;
const UNDEFINED = 0x6c8e9cf5;
const DATE = 0x4cf5ad43;
const ARRAY = 0x1656667b;
const OBJECT = 0x27d4eb2f;
const BYTES = 0x165667b1;

/** The prime that a step of FNV-1a multiplies by. */
const FNV_PRIME = 0x01000193;

const float = new Float64Array(1);
const floatWords = new Uint32Array(float.buffer);

/**
 * The hash of a key: an unsigned integer of 32 bits, all of which are mixed. The partition of a key
 * is `hashKey(key) % partitions`.
 *
 * @throws {UnhashableKeyError} for a key that is not of the kinds above or is nested more than 64
 * deep.
 */
export function hashKey(key: unknown): number {
  return hashAt(key, MAX_DEPTH) >>> 0;
}

/** Like {@linkcode hashKey}, as a signed integer, and for a key that is known to be a string. */
export function hashString(key: string): number {
  let hash = STRING;
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), FNV_PRIME);
  }
  return mix(hash ^ key.length);
}

/** Like {@linkcode hashKey}, as a signed integer, and for a key that is known to be a number. */
export function hashNumber(key: number): number {
  if ((key | 0) === key) return mix(key ^ NUMBER);
  // Its bits are not always the same.
  if (key !== key) return NOT_A_NUMBER;
  float[0] = key;
  return mix(combine(combine(NUMBER, floatWords[0]), floatWords[1]));
}

/**
 * Whether two keys are one key.
 *
 * Values that {@linkcode hashKey} refuses are equal only to themselves.
 */
export function keyEquals(a: unknown, b: unknown): boolean {
  return equalAt(a, b, MAX_DEPTH);
}

function hashAt(key: unknown, depth: number): number {
  switch (typeof key) {
    case "string":
      return hashString(key);
    case "number":
      return hashNumber(key);
    case "boolean":
      return key ? TRUE : FALSE;
    case "undefined":
      return UNDEFINED;
    case "bigint":
      return mix(hashString(key.toString(36)) ^ BIGINT);
    case "object":
      return key === null ? NULL : hashObject(key, depth);
    default:
      throw unhashable(key);
  }
}

function hashObject(key: object, depth: number): number {
  if (depth === 0) {
    throw new UnhashableKeyError(
      `Cannot use a value nested more than ${MAX_DEPTH} deep as a key`,
    );
  }
  if (Array.isArray(key)) {
    let hash = ARRAY;
    for (let i = 0; i < key.length; i++) {
      hash = combine(hash, hashAt(key[i], depth - 1));
    }
    return mix(hash ^ key.length);
  }
  if (isPlain(key)) {
    let sum = OBJECT;
    // A sum does not depend on the order of the properties.
    for (const name of Object.keys(key)) {
      const value = (key as Record<string, unknown>)[name];
      sum = (sum + mix(combine(hashString(name), hashAt(value, depth - 1)))) |
        0;
    }
    return mix(sum);
  }
  if (key instanceof Date) return mix(hashNumber(key.getTime()) ^ DATE);
  if (isTypedArray(key)) {
    let hash = BYTES;
    for (let i = 0; i < key.length; i++) {
      hash = combine(hash, hashAt(key[i], depth - 1));
    }
    return mix(hash ^ key.length);
  }
  throw unhashable(key);
}

function equalAt(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (
    typeof a !== "object" || typeof b !== "object" || a === null || b === null
  ) {
    return a !== a && b !== b;
  }
  if (depth === 0) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) {
      if (!equalAt(a[i], b[i], depth - 1)) return false;
    }
    return true;
  }
  if (isPlain(a)) return isPlain(b) && plainEqual(a, b, depth);
  if (a instanceof Date) {
    return b instanceof Date && equalAt(a.getTime(), b.getTime(), depth);
  }
  return isTypedArray(a) && isTypedArray(b) && typedEqual(a, b, depth);
}

function plainEqual(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
  depth: number,
): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  for (const name of names) {
    if (!Object.hasOwn(b, name) || !equalAt(a[name], b[name], depth - 1)) {
      return false;
    }
  }
  return true;
}

function typedEqual(a: TypedArray, b: TypedArray, depth: number): boolean {
  if (
    Object.getPrototypeOf(a) !== Object.getPrototypeOf(b) ||
    a.length !== b.length
  ) return false;
  for (let i = 0; i < a.length; i++) {
    if (!equalAt(a[i], b[i], depth - 1)) return false;
  }
  return true;
}

type TypedArray = ArrayBufferView & ArrayLike<number | bigint>;

function isTypedArray(value: object): value is TypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Takes one more word into a hash (a step of MurmurHash3), so that order counts. */
function combine(hash: number, next: number): number {
  next = Math.imul(next, 0xcc9e2d51);
  next = Math.imul((next << 15) | (next >>> 17), 0x1b873593);
  hash ^= next;
  return Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64 | 0;
}

/** Spreads a difference in any bit over all 32 (the last step of MurmurHash3). */
function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function unhashable(key: unknown): UnhashableKeyError {
  return new UnhashableKeyError(
    `Cannot use ${
      describeKey(key)
    } as a key: keys are strings, numbers, bigints, booleans, ` +
      `null, undefined, Dates, typed arrays, and arrays and plain objects of these`,
  );
}

function describeKey(key: unknown): string {
  if (typeof key !== "object" || key === null) return `a ${typeof key}`;
  const constructor: unknown = Object.getPrototypeOf(key)?.constructor;
  return typeof constructor === "function" && constructor.name !== ""
    ? `a value of class ${constructor.name}`
    : "an object with a prototype of its own";
}
