import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { compareKeys } from "../../lib/shuffle/compare.ts";
import { EmptyCollectionError } from "../../lib/rdd/rdd.ts";
import { localContext } from "./local_context.ts";

function sorted<T>(values: Iterable<T>): T[] {
  return [...values].sort(compareKeys);
}

function grouped(pairs: readonly [number, string][]): Map<number, string[]> {
  const groups = new Map<number, string[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

Deno.test("rdd: operators on records do what arrays do, in the same order", async () => {
  await using context = await localContext();
  const { sc } = context;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 4 }),
      async (values, partitions, factor) => {
        const rdd = sc.parallelize(values, partitions);
        assertEquals(rdd.getNumPartitions(), partitions);
        const chain = rdd.map((x) => x * factor).filter((x) => x % 2 === 0)
          .flatMap((x) => [x, x + 1]);
        const expected = values.map((x) => x * factor)
          .filter((x) => x % 2 === 0).flatMap((x) => [x, x + 1]);
        assertEquals(await chain.collect(), expected);
        assertEquals(await chain.count(), expected.length);
        assertEquals(await chain.take(factor), expected.slice(0, factor));
        const slow = rdd.map(async (x) => await Promise.resolve(x * factor))
          .filter(async (x) => await Promise.resolve(x % 2 === 0))
          .flatMap(async function* (x) {
            yield x;
            await Promise.resolve();
            yield x + 1;
          });
        assertEquals(await slow.collect(), expected);
        const lazy = rdd.flatMap(function* (x) {
          yield x;
          yield factor;
        });
        assertEquals(
          await lazy.collect(),
          values.flatMap((x) => [x, factor]),
        );
        const twice = rdd.union(rdd.map((x) => -x), rdd);
        assertEquals(await twice.collect(), [
          ...values,
          ...values.map((x) => 0 - x || (x === 0 ? -0 : -x)),
          ...values,
        ]);
        assertEquals(twice.getNumPartitions(), 3 * partitions);
        if (values.length > 0) {
          assertEquals(
            await rdd.reduce((a, b) => Math.max(a, b)),
            Math.max(...values),
          );
          assertEquals(await rdd.first(), values[0]);
        } else {
          await assertRejects(
            () => rdd.reduce((a) => a),
            EmptyCollectionError,
          );
          await assertRejects(() => rdd.first(), EmptyCollectionError);
        }
      },
    ),
    { numRuns: 15 },
  );
});

Deno.test("rdd: operators on pairs do what a Map does", async () => {
  await using context = await localContext();
  const { sc } = context;
  const pairs = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom("a", "b", "c")),
    { maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(
      pairs,
      pairs,
      fc.integer({ min: 1, max: 4 }),
      async (left, right, partitions) => {
        const a = sc.parallelize(left, 3);
        const b = sc.parallelize(right, 2);
        const groups = grouped(left);
        const others = grouped(right);
        const joinedStrings = (each: string[]) => sorted(each).join("");

        const counts = await a.mapValues(() => 1)
          .reduceByKey((x, y) => x + y, partitions).collect();
        assertEquals(
          sorted(counts),
          sorted([...groups].map(([key, all]) => [key, all.length])),
        );
        assertEquals(
          new Map(await a.countByKey()),
          new Map([...groups].map(([key, all]) => [key, all.length])),
        );
        const collected = await a.groupByKey(partitions).collect();
        assertEquals(
          sorted(collected.map(([key, all]) => [key, joinedStrings(all)])),
          sorted([...groups].map(([key, all]) => [key, joinedStrings(all)])),
        );
        const cogrouped = await a.cogroup(b, partitions).collect();
        const keys = new Set([...groups.keys(), ...others.keys()]);
        assertEquals(
          sorted(cogrouped.map(([key, [x, y]]) => [
            key,
            joinedStrings(x),
            joinedStrings(y),
          ])),
          sorted([...keys].map((key) => [
            key,
            joinedStrings(groups.get(key) ?? []),
            joinedStrings(others.get(key) ?? []),
          ])),
        );
        const joined = await a.join(b, partitions).collect();
        const expected = left.flatMap(([key, x]) =>
          right.filter(([other]) => other === key)
            .map(([, y]): [number, [string, string]] => [key, [x, y]])
        );
        assertEquals(sorted(joined), sorted(expected));
        assertEquals(
          sorted(await a.distinct(partitions).collect()),
          sorted(new Set(left.map(([k, v]) => `${k}${v}`)))
            .map((text) => [Number(text[0]), text[1]]),
        );
        assertEquals(await a.keys().collect(), left.map(([key]) => key));
        assertEquals(await a.values().collect(), left.map(([, v]) => v));
        assertEquals(
          await a.keyBy(([, v]) => v).collect(),
          left.map((pair) => [pair[1], pair]),
        );
      },
    ),
    { numRuns: 10 },
  );
});

Deno.test("rdd: sortBy sorts, either way, with duplicates and with more partitions than keys", async () => {
  await using context = await localContext();
  const { sc } = context;
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          fc.integer({ min: 0, max: 4 }),
          fc.double(),
          fc.string(),
          fc.boolean(),
          fc.constantFrom(null, undefined, 7n),
        ),
        { maxLength: 40 },
      ),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 6 }),
      fc.boolean(),
      async (values, from, numPartitions, ascending) => {
        const key = (value: unknown) => value;
        const rdd = sc.parallelize(values, from)
          .sortBy(key, { ascending, numPartitions });
        assertEquals(rdd.getNumPartitions(), numPartitions);
        const all = await rdd.collect();
        const inOrder = [...values].sort(compareKeys);
        if (!ascending) inOrder.reverse();
        assertEquals(all.length, values.length);
        for (const [i, value] of all.entries()) {
          assertEquals(compareKeys(value, inOrder[i]), 0);
        }
        assertEquals(rdd.getNumPartitions(), numPartitions);
      },
    ),
    { numRuns: 20 },
  );
});

Deno.test("rdd: a sorted data set has the same partitions before and after its keys were looked at", async () => {
  await using context = await localContext();
  const { sc } = context;
  const same = sc.parallelize([2, 1, 2, 1, 2], 3)
    .sortBy((x) => x, { numPartitions: 6 });
  assertEquals(await same.take(10), [1, 1, 2, 2, 2]);
  assertEquals(await same.collect(), [1, 1, 2, 2, 2]);
  assertEquals(same.getNumPartitions(), 6);
  const empty = sc.parallelize<number>([], 2)
    .sortBy((x) => x, { numPartitions: 4 });
  assertEquals(await empty.take(1), []);
  assertEquals(await empty.collect(), []);
  const both = empty.union(same, same.map((x) => x * 10));
  assertEquals(both.getNumPartitions(), 16);
  assertEquals(await both.collect(), [1, 1, 2, 2, 2, 10, 10, 20, 20, 20]);
  assertEquals(await both.take(7), [1, 1, 2, 2, 2, 10, 10]);
  const again = both.sortBy((x) => x, { ascending: false, numPartitions: 2 });
  assertEquals(await again.collect(), [20, 20, 20, 10, 10, 2, 2, 2, 1, 1]);
});

Deno.test("rdd: a sort of uneven partitions is spread over all that were asked for", async () => {
  await using context = await localContext();
  const { sc } = context;
  // One partition has nothing, one a little and one nearly everything.
  const skewed = sc.parallelize([0, 1, 2], 3).flatMap(function* (which) {
    const count = [0, 3, 200_000][which];
    for (let i = 0; i < count; i++) yield (i * 7919) % 200_003;
  });
  const rdd = skewed.sortBy((x) => x, { numPartitions: 4 });
  const sizes = await rdd.mapPartitions((all) => [[...all].length]).collect();
  assertEquals(sizes.reduce((a, b) => a + b), 200_003);
  for (const size of sizes) assert(size > 20_000, `${sizes}`);
});

Deno.test("rdd: distinct, join and countByKey compare objects and arrays by value, and a join has one pair for each combination", async () => {
  await using context = await localContext();
  const { sc } = context;
  const objects = sc.parallelize([{ a: 1 }, { a: 2 }, { a: 1 }, { a: 1 }], 3);
  assertEquals(
    (await objects.distinct().collect()).sort((x, y) => x.a - y.a),
    [{ a: 1 }, { a: 2 }],
  );
  const left = sc.parallelize<[number[], string]>([[[1, 2], "l"]]);
  const right = sc.parallelize<[number[], string]>([[[1, 2], "r"]]);
  assertEquals(await left.join(right).collect(), [[[1, 2], ["l", "r"]]]);
  const counts = await objects.map((each): [{ a: number }, null] => [
    each,
    null,
  ]).countByKey();
  assertEquals([...counts.values()].sort(), [1, 3]);
  const a = sc.parallelize<[string, number]>([["k", 1], ["k", 2], ["x", 9]]);
  const b = sc.parallelize<[string, string]>([["k", "a"], ["k", "b"]]);
  assertEquals(sorted(await a.join(b).collect()), [
    ["k", [1, "a"]],
    ["k", [1, "b"]],
    ["k", [2, "a"]],
    ["k", [2, "b"]],
  ]);
});

Deno.test("rdd: mapPartitions gets a partition's records, sets up once, and may be a generator or async", async () => {
  await using context = await localContext();
  const { sc } = context;
  const rdd = sc.range(0, 10, { numPartitions: 3 });
  const sums = rdd.mapPartitions((records) => {
    let sum = 0;
    for (const record of records) sum += record;
    return [sum];
  });
  assertEquals(await sums.collect(), [3, 12, 30]);
  const firsts = rdd.mapPartitions(function* (records) {
    for (const record of records) {
      yield record;
      return;
    }
  });
  assertEquals(await firsts.collect(), [0, 3, 6]);
  const slow = rdd.mapPartitions(async (records) => {
    await Promise.resolve();
    return [[...records].length];
  });
  assertEquals(await slow.collect(), [3, 3, 4]);
  const streamed = rdd.mapPartitions(async function* (records) {
    for (const record of records) yield await Promise.resolve(record * 2);
  });
  assertEquals(await streamed.count(), 10);
  // After an async operator, which the function must not notice.
  const after = rdd.map(async (x) => await Promise.resolve(x + 1))
    .mapPartitions((records) => [Math.max(...records)]);
  assertEquals(await after.collect(), [3, 6, 10]);
  await assertRejects(
    () => rdd.mapPartitions(() => 5 as unknown as number[]).collect(),
    Error,
    "returned number, and not an iterable",
  );
});

Deno.test("rdd: take looks at no more partitions than it must, and at no more records", async () => {
  await using context = await localContext();
  const { sc } = context;
  const seen = sc.collectionAccumulator<number>();
  const rdd = sc.range(0, 100, { numPartitions: 10 }).map((x) => {
    seen.add(x);
    return x;
  });
  assertEquals(await rdd.take(3), [0, 1, 2]);
  assertEquals(seen.value, [0, 1, 2]);
  assertEquals(await rdd.take(0), []);
  assertEquals(await rdd.take(25), Array.from({ length: 25 }, (_, i) => i));
  assertEquals((await rdd.take(1000)).length, 100);
  assertEquals(await rdd.filter((x) => x === 99).take(1), [99]);
  assertEquals(await rdd.filter(() => false).take(1), []);
});

Deno.test("rdd: range counts by a step over any number of partitions, and numbers that can't be are refused", async () => {
  await using context = await localContext();
  const { sc } = context;
  assertEquals(await sc.range(5, 5).collect(), []);
  assertEquals(
    await sc.range(10, 0, { step: -3, numPartitions: 3 }).collect(),
    [10, 7, 4, 1],
  );
  assertEquals(
    await sc.range(1, 8, { step: 3, numPartitions: 7 }).collect(),
    [1, 4, 7],
  );
  const many = await sc.range(20_000).map((x) => x % 7).reduce((a, b) => a + b);
  assertEquals(
    many,
    Array.from({ length: 20_000 }, (_, i) => i % 7).reduce((a, b) => a + b),
  );
  assertThrows(() => sc.range(0.5), RangeError, "whole numbers");
  assertThrows(() => sc.range(0, 1, { step: 0 }), RangeError);
  const pairs = sc.parallelize<[string, number]>([]);
  for (const bad of [0, -1, 1.5, NaN]) {
    assertThrows(() => sc.parallelize([1], bad), RangeError);
    assertThrows(() => pairs.groupByKey(bad), RangeError);
    assertThrows(() => pairs.join(pairs, bad), RangeError);
    assertThrows(() => pairs.distinct(bad), RangeError);
    assertThrows(
      () => pairs.sortBy((x) => x, { numPartitions: bad }),
      RangeError,
    );
  }
});

Deno.test("rdd: a promise that nobody awaits is an error and not a truth, and so is a record that is no pair", async () => {
  await using context = await localContext({ "spark.task.maxFailures": "1" });
  const { sc } = context;
  const rdd = sc.range(3);
  const no = () => Promise.resolve(false);
  for (
    const job of [
      () => rdd.filter((_) => no()).count(),
      () => rdd.map((_) => no()).count(),
      () => rdd.foreach((_) => no() as unknown as void),
      () => rdd.keyBy((_) => no()).count(),
    ]
  ) {
    await assertRejects(job, Error, "is not declared async");
  }
  const noPairs = sc.parallelize([1, 2]) as unknown as ReturnType<
    typeof sc.parallelize<[number, number]>
  >;
  await assertRejects(
    () => noPairs.groupByKey().collect(),
    Error,
    "A record is no [key, value] pair but number",
  );
  await assertRejects(() => noPairs.countByKey(), Error, "no [key, value]");
});

Deno.test("rdd: long chains of shuffles give the right answer", async () => {
  await using context = await localContext();
  const { sc } = context;
  let ranks = sc.range(0, 20, { numPartitions: 3 })
    .map((x): [number, number] => [x, 1]);
  const links = sc.range(0, 20, { numPartitions: 2 })
    .map((x): [number, number] => [x, (x + 1) % 20]).cache();
  for (let i = 0; i < 4; i++) {
    ranks = links.join(ranks, 2)
      .map(([, [to, rank]]): [number, number] => [to, rank + 1])
      .reduceByKey((a, b) => a + b, 2);
  }
  assertEquals(
    (await ranks.collect()).sort(([a], [b]) => a - b),
    Array.from({ length: 20 }, (_, i) => [i, 5]),
  );
});
