import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { compareKeys, UnsortableKeyError } from "../../lib/shuffle/compare.ts";
import {
  partitionCount,
  type Partitioner,
  partitionFunction,
  rangeBounds,
  type SampledKey,
} from "../../lib/shuffle/partitioner.ts";

const key: fc.Arbitrary<unknown> = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.double(),
  fc.bigInt({ min: -3n, max: 3n }),
  fc.string({ unit: "binary", maxLength: 3 }),
  fc.boolean(),
  fc.date(),
  fc.constantFrom(null, undefined, NaN, -0, 0.5),
  fc.array(fc.oneof(fc.integer({ min: 0, max: 2 }), fc.boolean()), {
    maxLength: 3,
  }),
);

function ones(keys: readonly unknown[]): SampledKey[] {
  return keys.map((each) => [each, 1]);
}

Deno.test("compareKeys: it is an order: antisymmetric, transitive, and equal to itself", () => {
  fc.assert(fc.property(key, key, key, (a, b, c) => {
    const sign = (x: unknown, y: unknown) => Math.sign(compareKeys(x, y));
    assertEquals(sign(a, a), 0);
    assertEquals(sign(a, b) + sign(b, a), 0);
    if (sign(a, b) <= 0 && sign(b, c) <= 0) assert(sign(a, c) <= 0);
  }));
});

Deno.test("compareKeys: kinds come in their order, NaN after numbers and undefined last", () => {
  const inOrder = [
    null,
    false,
    true,
    -Infinity,
    -1n,
    0,
    0.5,
    1n,
    9007199254740993n,
    Infinity,
    NaN,
    new Date(0),
    new Date(1),
    new Date(NaN),
    "",
    "B",
    "a",
    "\ud800",
    [],
    [1],
    [1, 0],
    [2],
    undefined,
  ];
  for (let i = 1; i < inOrder.length; i++) {
    assert(compareKeys(inOrder[i - 1], inOrder[i]) < 0, `at ${i}`);
  }
  assertEquals(compareKeys(-0, 0), 0);
  assertEquals(compareKeys(1, 1n), 0);
});

Deno.test("compareKeys: what has no order is refused", () => {
  for (const bad of [{}, new Map(), () => {}, Symbol()]) {
    assertThrows(() => compareKeys(bad, 1), UnsortableKeyError, "Cannot sort");
    assertThrows(() => compareKeys([bad], [1]), UnsortableKeyError);
  }
});

Deno.test("range partitioner: partitions follow one another in the order of the keys", () => {
  fc.assert(
    fc.property(
      fc.array(key, { size: "medium" }),
      fc.array(key, { size: "medium" }),
      fc.integer({ min: 1, max: 9 }),
      fc.boolean(),
      (sample, keys, partitions, ascending) => {
        const bounds = rangeBounds(ones(sample), partitions);
        assert(bounds.length < partitions);
        for (let i = 1; i < bounds.length; i++) {
          assert(compareKeys(bounds[i - 1], bounds[i]) < 0);
        }
        const partitioner: Partitioner = {
          type: "range",
          partitions,
          bounds,
          ascending,
        };
        assertEquals(partitionCount(partitioner), partitions);
        const partitionOf = partitionFunction(partitioner);
        for (const a of keys) {
          const at = partitionOf(a);
          assert(Number.isInteger(at) && at >= 0 && at < partitions);
          for (const b of keys) {
            const order = compareKeys(a, b) * (ascending ? 1 : -1);
            if (order < 0) assert(at <= partitionOf(b));
            if (order === 0) assertEquals(at, partitionOf(b));
          }
        }
      },
    ),
  );
});

Deno.test("range bounds: keys that are all different are cut into even parts", () => {
  const keys = Array.from({ length: 1000 }, (_, i) => (i * 617) % 1000);
  assertEquals(rangeBounds(ones(keys), 4), [250, 500, 750]);
  assertEquals(rangeBounds(ones(keys), 1), []);
  assertEquals(rangeBounds([], 5), []);
});

Deno.test("range bounds: a sampled key weighs what it stands for, and costs no more for it", () => {
  const light = Array.from({ length: 100 }, (_, i): SampledKey => [i, 1]);
  const heavy = Array.from(
    { length: 100 },
    (_, i): SampledKey => [100 + i, 2 ** 40],
  );
  assertEquals(rangeBounds([...light, ...heavy], 4), [124, 149, 174]);
});

Deno.test("range bounds: one key that outweighs all is no reason for empty bounds", () => {
  const sample: SampledKey[] = [[1, 1], [5, 1000], [9, 1]];
  assertEquals(rangeBounds(sample, 4), [5]);
});

Deno.test("hash partitioner: equal keys go to the same partition, whatever they are", () => {
  const partitionOf = partitionFunction({ type: "hash", partitions: 7 });
  for (
    const [a, b] of [
      [[1, "x"], [1, "x"]],
      [{ a: 1, b: 2 }, { a: 1, b: 2 }],
      [-0, 0],
      [NaN, NaN],
    ]
  ) assertEquals(partitionOf(a), partitionOf(b));
  const used = new Set(Array.from({ length: 100 }, (_, i) => partitionOf(i)));
  assertEquals(used.size, 7);
});
