import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CombineTable } from "../../lib/shuffle/combine_table.ts";
import { hashKey, UnhashableKeyError } from "../../lib/shuffle/hash.ts";

const one = (value: number) => value;
const add = (held: number, value: number) => held + value;

function count<K>(table: CombineTable<K, number>, keys: Iterable<K>): void {
  for (const key of keys) table.combine(key, 1, one, add);
}

Deno.test("combine table: it holds what a Map of the keys' JSON holds, in the same order", () => {
  const key = fc.oneof(
    fc.string({ unit: "binary", maxLength: 2 }),
    fc.string({ unit: fc.constantFrom("a", "\0", "\xff"), maxLength: 3 }),
    fc.tuple(
      fc.constantFrom("abcdef", "abcdefgh"),
      fc.constantFrom("", "x", "\u0178"),
    ).map((parts) => parts.join("")),
    fc.integer({ min: -20, max: 20 }),
    fc.constantFrom(0.5, 1e300, 2 ** 31, null, true, false),
    fc.tuple(fc.constantFrom("a", "b", 1), fc.integer({ min: 0, max: 4 })),
    fc.record({ x: fc.integer({ min: 0, max: 3 }) }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(key, fc.integer()), { maxLength: 400 }),
      fc.constantFrom(0, 10, 1000),
      (records, expectedKeys) => {
        const table = new CombineTable<unknown, number[]>({ expectedKeys });
        const reference = new Map<string, [unknown, number[]]>();
        for (const [key, value] of records) {
          table.combine(key, value, (v) => [v], (held, v) => [...held, v]);
          const held = reference.get(JSON.stringify(key));
          if (held !== undefined) held[1].push(value);
          else reference.set(JSON.stringify(key), [key, [value]]);
        }
        assertEquals(table.size, reference.size);
        assertEquals([...table], [...reference.values()]);
        for (const [key, held] of reference.values()) {
          assertEquals(table.get(key), held);
        }
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("combine table: many strings survive many rehashes", () => {
  const table = new CombineTable<string, number>();
  const keys = Array.from({ length: 100_000 }, (_, i) => `key ${i}`);
  count(table, keys);
  count(table, keys.slice(0, 50_000));
  assertEquals(table.size, 100_000);
  const held: [string, number][] = keys.map((key, i) => [
    key,
    i < 50_000 ? 2 : 1,
  ]);
  assertEquals([...table.entries()], held);
});

Deno.test("combine table: numbers are keys as in a Map", () => {
  const table = new CombineTable<number, number>();
  count(table, [0, -0, NaN, NaN, 1, 1.5, 1, Infinity, -Infinity, 2 ** 40]);
  assertEquals([...table], [
    [0, 2],
    [NaN, 2],
    [1, 2],
    [1.5, 1],
    [Infinity, 1],
    [-Infinity, 1],
    [2 ** 40, 1],
  ]);
  // As in a Map: a first key of -0 is kept as 0.
  const negative = new CombineTable<number, number>();
  count(negative, [-0]);
  assertEquals([...negative], [[0, 1]]);
});

Deno.test("combine table: a key with the hash of another is another key", () => {
  const [a, b] = collidingStrings();
  assert(a !== b);
  assertEquals(hashKey(a), hashKey(b));
  const table = new CombineTable<string, number>();
  count(table, [a, b, a]);
  assertEquals([...table], [[a, 2], [b, 1]]);
  assertEquals(table.get(b), 1);
});

/** Two strings with one hash: among a million some hundred pairs have one by chance. */
function collidingStrings(): [string, string] {
  const byHash = new Map<number, string>();
  for (let i = 0; i < 1_000_000; i++) {
    // Too long to be told apart by its characters alone.
    const text = `a long string ${i}`;
    const other = byHash.get(hashKey(text));
    if (other !== undefined) return [other, text];
    byHash.set(hashKey(text), text);
  }
  throw new Error("no two of a million strings have one hash");
}

Deno.test("combine table: keys that agree in their low bits do not crowd the slots", () => {
  // As the hashes of one shuffle partition do. Placed by these bits, all keys would want one slot,
  // and the walk to a free one would be thousands of times as long.
  const indexes = Array.from({ length: 20_000 }, (_, i) => i);
  const fastest = (keys: number[]) => {
    let best = Infinity;
    for (let round = 0; round < 5; round++) {
      const start = performance.now();
      count(new CombineTable<number, number>(), keys);
      best = Math.min(best, performance.now() - start);
    }
    return best;
  };
  const ordinary = fastest(indexes);
  const crowded = fastest(indexes.map((i) => i * 65_536));
  assert(
    crowded < 20 * ordinary,
    `${crowded} ms with equal low bits, ${ordinary} ms without`,
  );
});

Deno.test("combine table: short strings of any characters are told apart", () => {
  const keys = ["\x01\x00", "\x00\u0100", "", "\0", "\0\0", "\xff", "\u01ff"];
  const table = new CombineTable<string, number>();
  count(table, keys);
  assertEquals([...table], keys.map((key) => [key, 1]));
});

Deno.test("combine table: forEach visits all keys in their order", () => {
  const table = new CombineTable<unknown, number>();
  count(table, ["a", 1, [1, "x"], "b", "a", null]);
  const seen: unknown[] = [];
  table.forEach((key, held) => seen.push([key, held]));
  assertEquals(seen, [["a", 2], [1, 1], [[1, "x"], 1], ["b", 1], [null, 1]]);
});

Deno.test("combine table: a key that never came holds nothing", () => {
  const table = new CombineTable<unknown, number>();
  count(table, ["a", "a long string", 1, 1.5, NaN, [1]]);
  for (const key of ["b", "", "another long string", 2, 2.5, [2], [1, 1]]) {
    assertEquals(table.get(key), undefined);
  }
  assertEquals(table.size, 6);
});

Deno.test("combine table: cleared, it is empty and takes keys again", () => {
  const table = new CombineTable<string, number>({ expectedKeys: 1 });
  const keys = Array.from({ length: 1000 }, (_, i) => String(i));
  count(table, keys);
  table.clear();
  assertEquals(table.size, 0);
  assertEquals([...table], []);
  assertEquals(table.get("1"), undefined);
  count(table, [...keys, "1"]);
  assertEquals(table.size, 1000);
  assertEquals(table.get("1"), 2);
});

Deno.test("combine table: a key that has no hash is refused and the table stays as it was", () => {
  const table = new CombineTable<unknown, number>();
  count(table, ["a"]);
  assertThrows(() => count(table, [new Map()]), UnhashableKeyError, "Map");
  assertEquals([...table], [["a", 1]]);
});
