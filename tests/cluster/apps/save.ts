import type { SparkContext } from "../../../lib/mod.ts";

/** Saves the numbers below 10 as text. */
export default async function main(sc: SparkContext, args: string[]) {
  await sc.range(0, 10, { numPartitions: 3 }).map((i) => `line ${i}`)
    .saveAsTextFile(args[0]);
  console.log("saved");
}
