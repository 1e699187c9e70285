import type { SparkContext } from "../../../lib/mod.ts";

/** Counts words once; prints how many there are, and the seconds. */
export default async function main(sc: SparkContext, [path]: string[]) {
  const start = performance.now();
  const counts = await sc.textFile(path)
    .flatMap((line) => line.split(/\s+/))
    .filter((word) => word !== "")
    .map((word): [string, number] => [word, 1])
    .reduceByKey((a, b) => a + b)
    .collect();
  const seconds = (performance.now() - start) / 1_000;
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  console.log(JSON.stringify({ seconds, distinct: counts.length, total }));
}
