import type { SparkContext } from "../../../lib/mod.ts";

/** Fails a job for want of memory, then runs another on the same executor. */
export default async function main(sc: SparkContext) {
  const pids = () =>
    sc.range(0, 1, { numPartitions: 1 }).map(() => Deno.pid).collect();
  const before = await pids();
  try {
    await sc.range(0, 1, { numPartitions: 1 }).foreach(() => {
      const hoard: number[][] = [];
      for (;;) hoard.push(new Array(10_000).fill(hoard.length));
    });
  } catch (error) {
    console.log((error as Error).message);
  }
  console.log(`pids ${before} ${await pids()}`);
}
