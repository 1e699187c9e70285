import type { SparkContext } from "../../../lib/mod.ts";

/**
 * Shuffles once, waits for the file `go`, and reads the same shuffle again.
 * Each map task leaves a mark `map-PARTITION-PID`; executors' ids are printed
 * as they were in the first job.
 */
export default async function main(sc: SparkContext, args: string[]) {
  const [dir] = args;
  const counts = sc.range(0, 100, { numPartitions: 4 })
    .mapPartitions((records) => {
      const all = [...records];
      const path = `${dir}/map-${all[0]}-${Deno.pid}`;
      Deno.writeTextFileSync(path, "map\n", { append: true });
      return all;
    })
    .map((i): [number, number] => [i % 10, i])
    .reduceByKey((a, b) => a + b, 2);
  const first = await counts.collect();
  console.log(JSON.stringify(sorted(first)));
  Deno.writeTextFileSync(`${dir}/first`, "");
  while (!isThere(`${dir}/go`)) await pause();
  console.log(JSON.stringify(sorted(await counts.collect())));
}

function sorted(pairs: [number, number][]): [number, number][] {
  return pairs.sort(([a], [b]) => a - b);
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
