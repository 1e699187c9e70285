import type { SparkContext } from "../../lib/mod.ts";

/** Words are what white space separates. */
function words(line: string): string[] {
  return line.split(/\s+/).filter((word) => word !== "");
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Counts the words of text files, the most frequent first:
 *
 *     sparkts submit word_count.ts PATH
 */
export default async function main(sc: SparkContext, args: string[]) {
  const [path] = args;
  if (path === undefined) throw new Error("Give the path of a text file.");
  const counts = await sc.textFile(path)
    .flatMap(words)
    .map((word): [string, number] => [word, 1])
    .reduceByKey((a, b) => a + b)
    .collect();
  counts.sort(([a, m], [b, n]) => n - m || byCodeUnit(a, b));
  const lines = counts.map(([word, count]) => `${word}\t${count}\n`);
  await Deno.stdout.write(new TextEncoder().encode(lines.join("")));
}
