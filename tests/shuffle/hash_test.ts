import {
  assert,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  hashKey,
  hashNumber,
  hashString,
  keyEquals,
  UnhashableKeyError,
} from "../../lib/shuffle/hash.ts";

const KNOWN = {
  empty: 3651860435,
  spark: 809962681,
  one: 3465418537,
  half: 1897702879,
  nested: 1250147851,
};

const leaf = fc.oneof(
  fc.string({ unit: "binary", maxLength: 3 }),
  fc.integer({ min: -3, max: 3 }),
  fc.double(),
  fc.constantFrom(NaN, 0, -0, 1.5, Infinity, -Infinity, 2 ** 31, -(2 ** 31)),
  fc.boolean(),
  fc.constantFrom(null, undefined),
  fc.bigInt({ min: -2n, max: 2n }),
  fc.constantFrom(0, 1, NaN).map((time) => new Date(time)),
  fc.constantFrom([], [1], [1, 2]).map((bytes) => Uint8Array.from(bytes)),
);
const key = fc.letrec((tie) => ({
  key: fc.oneof(
    { maxDepth: 3 },
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(tie("key"), { maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("key"), {
        maxKeys: 3,
      }),
    },
  ),
})).key;

/** Another object that is the same key: properties in reverse order, 0 as -0 and the reverse. */
function twin(value: unknown): unknown {
  if (value === 0) return Object.is(value, 0) ? -0 : 0;
  if (Array.isArray(value)) return value.map(twin);
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof Uint8Array) return value.slice();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).reverse().map(([name, held]) => [name, twin(held)]),
  );
}

Deno.test("hash: equal keys have equal hashes, whatever they are made of", () => {
  fc.assert(
    fc.property(key, (a) => {
      const b = twin(a);
      assert(keyEquals(a, b));
      assert(keyEquals(b, a));
      assertEquals(hashKey(a), hashKey(b));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("hash: of any two keys, those that are equal hash alike, and almost all others do not", () => {
  let equal = 0;
  let collisions = 0;
  fc.assert(
    fc.property(key, key, (a, b) => {
      assertEquals(keyEquals(a, b), keyEquals(b, a));
      if (keyEquals(a, b)) {
        equal++;
        assertEquals(hashKey(a), hashKey(b));
      } else if (hashKey(a) === hashKey(b)) collisions++;
    }),
    { numRuns: 5000 },
  );
  assert(equal > 10, `only ${equal} pairs were equal`);
  assert(collisions <= 2, `${collisions} pairs collided`);
});

Deno.test("hash: kinds are told apart, and -0 and NaN are one key each", () => {
  const distinct = [
    1,
    "1",
    1n,
    true,
    "true",
    null,
    "null",
    undefined,
    [],
    {},
    [1],
    [[1]],
    { 0: 1 },
    new Date(1),
    Uint8Array.of(1),
    Int8Array.of(1),
    "",
    0,
    [undefined],
    [null],
    { a: undefined },
  ];
  for (const [i, a] of distinct.entries()) {
    for (const [j, b] of distinct.entries()) {
      assertEquals(keyEquals(a, b), i === j, `${i} ${j}`);
    }
  }
  assert(keyEquals(-0, 0) && keyEquals([NaN], [NaN]));
  assertEquals(hashKey(-0), hashKey(0));
  assertEquals(hashKey(NaN), hashKey(-NaN));
  assert(keyEquals({ __proto__: null, a: 1 }, { a: 1 }));
  assert(!keyEquals({ a: 1, b: 2 }, { a: 1, c: 2 }));
  assertNotEquals(hashKey([1, 2]), hashKey([2, 1]));
  assertNotEquals(hashKey({ a: 1, b: 2 }), hashKey({ a: 2, b: 1 }));
});

Deno.test("hash: hashes are the same in every process and release", () => {
  // Written down from a first run: a change moves keys to other partitions between two releases.
  assertEquals(hashKey(""), KNOWN.empty);
  assertEquals(hashKey("spark"), KNOWN.spark);
  assertEquals(hashKey(1), KNOWN.one);
  assertEquals(hashKey(0.5), KNOWN.half);
  assertEquals(hashKey(["a", { b: [1n, null], c: new Date(0) }]), KNOWN.nested);
});

Deno.test("hash: the fast functions for strings and numbers agree with the general one", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assertEquals(hashString(text) >>> 0, hashKey(text));
  }));
  fc.assert(fc.property(fc.double(), (number) => {
    assertEquals(hashNumber(number) >>> 0, hashKey(number));
  }));
});

Deno.test("hash: partitions fill evenly with sequences, short strings and tuples", () => {
  const keys: Record<string, (i: number) => unknown> = {
    "integers": (i) => i,
    "even integers": (i) => i * 2,
    "multiples of 1024": (i) => i * 1024,
    "fractions": (i) => i / 8,
    "large numbers": (i) => 1e12 + i,
    "short strings": (i) => i.toString(36),
    "strings with a prefix": (i) => `user-${i}`,
    "tuples": (i) => [i % 100, Math.floor(i / 100)],
    "objects": (i) => ({ id: i }),
    "dates": (i) => new Date(i * 86_400_000),
    "bigints": (i) => BigInt(i),
  };
  const count = 20_000;
  for (const [name, make] of Object.entries(keys)) {
    for (const partitions of [2, 7, 16, 100, 256]) {
      const sizes = new Float64Array(partitions);
      for (let i = 0; i < count; i++) sizes[hashKey(make(i)) % partitions]++;
      const expected = count / partitions;
      let chiSquare = 0;
      for (const size of sizes) chiSquare += (size - expected) ** 2 / expected;
      // Six standard deviations above the mean of what chance gives.
      const freedom = partitions - 1;
      const bound = freedom + 6 * Math.sqrt(2 * freedom) + 6;
      assert(chiSquare < bound, `${name} in ${partitions}: ${chiSquare}`);
    }
  }
});

Deno.test("hash: regular series of keys collide hardly more than chance has it", () => {
  const keys: Record<string, (i: number) => unknown> = {
    "integers": (i) => i,
    "large numbers": (i) => 1e12 + i,
    "fractions": (i) => i / 8,
    "dates": (i) => new Date(i * 86_400_000),
    "short strings": (i) => i.toString(36),
    "tuples": (i) => [`w${i % 500}`, Math.floor(i / 500)],
    "objects": (i) => ({ a: i % 500, b: Math.floor(i / 500) }),
    "grids": (i) => [i % 500, Math.floor(i / 500)],
  };
  const count = 200_000;
  for (const [name, make] of Object.entries(keys)) {
    const hashes = new Set<number>();
    for (let i = 0; i < count; i++) hashes.add(hashKey(make(i)));
    // Chance gives about 5.
    assert(hashes.size > count - 60, `${name}: ${count - hashes.size}`);
  }
});

Deno.test("hash: what has no value to compare is refused, and named", () => {
  class Person {}
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const cases: [unknown, string][] = [
    [() => 1, "a function"],
    [Symbol("x"), "a symbol"],
    [new Map(), "class Map"],
    [new Set(), "class Set"],
    [new Person(), "class Person"],
    [[1, [new Person()]], "class Person"],
    [new DataView(new ArrayBuffer(1)), "class DataView"],
    [cyclic, "more than 64 deep"],
  ];
  for (const [value, words] of cases) {
    assertThrows(() => hashKey(value), UnhashableKeyError, words);
  }
});
