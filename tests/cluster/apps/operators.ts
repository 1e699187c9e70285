import type { SparkContext } from "../../../lib/mod.ts";

/** Joins, sorts and caches over executors, and prints what comes of it. */
export default async function main(sc: SparkContext) {
  const numbers = sc.range(0, 100, { numPartitions: 4 });
  const tens = numbers.keyBy((i) => Math.floor(i / 10));
  const names = sc.parallelize(
    Array.from({ length: 10 }, (_, i): [number, string] => [i, `t${i}`]),
    2,
  );
  const sums = await tens.join(names)
    .map(([, [value, name]]): [string, number] => [name, value])
    .reduceByKey((a, b) => a + b)
    .sortBy(([, sum]) => sum, { ascending: false, numPartitions: 3 })
    .collect();
  console.log(JSON.stringify(sums));
  const runs = sc.accumulator(0);
  const cached = numbers.map((i) => {
    runs.add(1);
    return i % 7;
  }).cache();
  const distinct = (await cached.distinct().collect()).sort();
  console.log(JSON.stringify([distinct, await cached.count(), runs.value]));
}
