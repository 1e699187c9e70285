import type { SparkContext } from "../../../lib/mod.ts";

/** Prints how many lines a text file has. */
export default async function main(sc: SparkContext, args: string[]) {
  console.log(await sc.textFile(args[0]).count());
}
