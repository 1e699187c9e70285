import type { SparkContext } from "../../../lib/mod.ts";

/** A job of two empty tasks. */
export default async function main(sc: SparkContext) {
  await sc.range(2, undefined, { numPartitions: 2 }).foreach(() => {});
}
