import { assertEquals } from "@std/assert";
import type { RDD } from "../../lib/rdd/rdd.ts";
import type { SparkContext } from "../../lib/driver/spark_context.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends
  (<T>() => T extends B ? 1 : 2) ? true : false;

/** Fails to compile unless the types are the same. */
function same<A, B>(_: Equal<A, B>): void {}

/** Never called: what it says is for the compiler. */
function inferred(sc: SparkContext): void {
  const words = sc.textFile("x").flatMap((line) => line.split(" "));
  same<typeof words, RDD<string>>(true);
  const pairs = words.map((word): [string, number] => [word, 1]);
  const counts = pairs.reduceByKey((a, b) => a + b);
  same<typeof counts, RDD<[string, number]>>(true);
  const slow = words.map(async (word) => await Promise.resolve(word.length));
  same<typeof slow, RDD<number>>(true);
  const generated = words.flatMap(async function* (word) {
    yield await Promise.resolve(word.length);
  });
  same<typeof generated, RDD<number>>(true);
  const narrowed = sc.parallelize([1, "a"])
    .filter((x): x is string => typeof x === "string");
  same<typeof narrowed, RDD<string>>(true);
  const joined = counts.join(words.keyBy((word) => word));
  same<typeof joined, RDD<[string, [number, string]]>>(true);
  const grouped = pairs.groupByKey().mapValues((all) => all.length);
  same<typeof grouped, RDD<[string, number]>>(true);
  const parts = words.mapPartitions(function* (all) {
    for (const word of all) yield word.length;
  });
  same<typeof parts, RDD<number>>(true);
  const byKey = counts.countByKey();
  same<typeof byKey, Promise<Map<string, number>>>(true);
  const taken = joined.values().keys().take(1);
  same<typeof taken, Promise<number[]>>(true);
  // @ts-expect-error -- an operation on keys needs pairs
  words.reduceByKey((a, b) => a + b);
  // @ts-expect-error -- numbers and texts have no union of one type
  sc.range(1).union(words);
  const total = sc.accumulator(0);
  same<typeof total.value, number>(true);
  const broadcast = sc.broadcast(new Map([["a", 1]]));
  same<typeof broadcast.value, Map<string, number>>(true);
}

Deno.test("rdd: types of records are inferred through operators, which compiling this file shows", () => {
  assertEquals(inferred.length, 1);
});
