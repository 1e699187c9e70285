import type { SparkContext } from "../../../lib/mod.ts";

/**
 * Prints the sum of the squares below a number, a task each. Every task leaves
 * a mark `started-PARTITION-PID` in a directory, and waits for the file `go`.
 */
export default async function main(sc: SparkContext, args: string[]) {
  const [dir, count = "2"] = args;
  const tasks = Number(count);
  const sum = await sc.range(0, tasks, { numPartitions: tasks })
    .map(async (i) => {
      await Deno.writeTextFile(`${dir}/started-${i}-${Deno.pid}`, "");
      while (!isThere(`${dir}/go`)) await pause();
      return i * i;
    })
    .reduce((a, b) => a + b);
  console.log(sum);
}

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
