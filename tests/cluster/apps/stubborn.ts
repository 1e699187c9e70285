import type { SparkContext } from "../../../lib/mod.ts";

/**
 * One job has a task that fails and one that never lets its thread go. The job
 * after it needs the core that the stubborn task has.
 */
export default async function main(sc: SparkContext) {
  try {
    await sc.range(2, undefined, { numPartitions: 2 }).foreach((n) => {
      if (n === 0) { for (;;); }
      const since = Date.now();
      while (Date.now() - since < 300);
      throw new Error("this one fails");
    });
  } catch (error) {
    console.log((error as Error).message.includes("this one fails"));
  }
  const tasks = sc.range(8, undefined, { numPartitions: 8 });
  // Long enough for the stubborn task to be given up meanwhile.
  const squares = tasks.map((n) => {
    const since = Date.now();
    while (Date.now() - since < 200);
    return n * n;
  });
  console.log(await squares.collect());
}
