import type { SparkContext } from "../../../lib/mod.ts";

/** Runs a job that succeeds, and then fails by itself. */
export default async function main(sc: SparkContext) {
  console.log(await sc.range(0, 3).count());
  throw new TypeError("the application's own");
}
