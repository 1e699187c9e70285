import type { SparkContext } from "../../../lib/mod.ts";

/** Prints what it was given, and where it ran, as one line of JSON. */
export default async function main(sc: SparkContext, args: string[]) {
  const pids = await sc.range(0, 4, { numPartitions: 4 })
    .map(() => Deno.pid).collect();
  console.log(JSON.stringify({
    args,
    name: sc.appName,
    id: sc.applicationId,
    executors: new Set(pids).size,
  }));
}
