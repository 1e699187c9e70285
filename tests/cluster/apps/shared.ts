import type { SparkContext } from "../../../lib/mod.ts";

/** Counts with accumulators and looks up in a broadcast, on all executors. */
export default async function main(sc: SparkContext) {
  const table = sc.broadcast(new Map([[0, "even"], [1, "odd"]]));
  const seen = sc.accumulator(0);
  const big = sc.accumulator(0n);
  const executors = sc.collectionAccumulator<number>();
  const rdd = sc.range(0, 1000, { numPartitions: 8 }).map((i) => {
    seen.add(i);
    big.add(BigInt(i) << 64n);
    return table.value.get(i % 2)!;
  });
  await sc.range(0, 8, { numPartitions: 8 }).foreach(() =>
    executors.add(Deno.pid)
  );
  const counts = await rdd.map((name): [string, number] => [name, 1])
    .countByKey();
  console.log(JSON.stringify({
    counts: [...counts].sort(),
    seen: seen.value,
    big: String(big.value >> 64n),
    tasks: executors.value.length,
    executors: new Set(executors.value).size,
  }));
}
