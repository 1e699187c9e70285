import type { SparkContext } from "../../../lib/mod.ts";

/** Runs a stage of so many empty tasks several times; prints the seconds. */
export default async function main(sc: SparkContext, args: string[]) {
  const [tasks, repeats] = args.map(Number);
  const seconds: number[] = [];
  // What comes first also pays for starting up.
  await run(2_000);
  for (let i = 0; i < repeats; i++) seconds.push(await run(tasks));
  console.log(JSON.stringify(seconds));

  async function run(tasks: number): Promise<number> {
    const start = performance.now();
    await sc.range(tasks, undefined, { numPartitions: tasks })
      .foreach(() => {});
    return (performance.now() - start) / 1_000;
  }
}
