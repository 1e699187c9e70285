import type { SparkContext } from "../../../lib/mod.ts";

function check(value: number): number {
  if (value === 1) throw new Error("value 1 is not welcome");
  return value;
}

/** Its second task leaves a line in a file for each try, and throws. */
export default async function main(sc: SparkContext, args: string[]) {
  const [dir] = args;
  await sc.range(0, 2, { numPartitions: 2 }).foreach((i) => {
    Deno.writeTextFileSync(`${dir}/tries-${i}`, "try\n", { append: true });
    check(i);
  });
}
