import type { SparkContext } from "../../../lib/mod.ts";

/** Its task leaves a mark `started-PARTITION-PID` and never ends. */
export default async function main(sc: SparkContext, args: string[]) {
  const [dir] = args;
  await sc.range(0, 1, { numPartitions: 1 }).foreach((i) => {
    Deno.writeTextFileSync(`${dir}/started-${i}-${Deno.pid}`, "");
    for (;;);
  });
}
