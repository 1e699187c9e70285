import type { Figure } from "./figure.ts";
import {
  atLeast,
  median,
  pathOf,
  plain,
  REPEATS,
  runTimed,
  submit,
} from "./measure.ts";
import { writeWordFile } from "./word_file.ts";

interface Count {
  readonly seconds: number;
  readonly distinct: number;
  readonly total: number;
}

/**
 * Counts the words of a text on two executors, and in one plain loop. The
 * ratio is that of the counting: for the cluster the job, for the loop what
 * it takes from opening the file on. The whole commands are shown beside it.
 */
export async function benchWordCount(): Promise<Figure[]> {
  const directory = await Deno.makeTempDir({ prefix: "sparkts-bench-" });
  try {
    const path = `${directory}/words.txt`;
    writeWordFile(path);
    return await compare(path);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function compare(path: string): Promise<Figure[]> {
  const loop = pathOf("plain_word_count.ts");
  const jobs: number[] = [];
  const commands: number[] = [];
  const loops: number[] = [];
  const loopCommands: number[] = [];
  for (let i = 0; i < REPEATS; i++) {
    const plainRun = await runTimed(Deno.execPath(), [
      "run",
      "--no-config",
      "--allow-read",
      loop,
      path,
    ]);
    const expected: Count = JSON.parse(plainRun.stdout);
    const clusterRun = await submit(
      "local-cluster[2,1,1024]",
      "word_count.ts",
      path,
    );
    const counted: Count = JSON.parse(clusterRun.stdout);
    checkSame(counted, expected);
    jobs.push(counted.seconds);
    commands.push(clusterRun.milliseconds / 1_000);
    loops.push(expected.seconds);
    loopCommands.push(plainRun.milliseconds / 1_000);
  }
  const ratio = median(loops) / median(jobs);
  return [
    atLeast("Word count, the job against the loop", ratio, "×", 2),
    plain("  the job", median(jobs), "s"),
    plain("  the loop", median(loops), "s"),
    plain("  the whole command of the job", median(commands), "s"),
    plain("  the whole command of the loop", median(loopCommands), "s"),
  ];
}

/** What is fast and wrong is no figure. */
function checkSame(counted: Count, expected: Count): void {
  if (
    counted.distinct === expected.distinct && counted.total === expected.total
  ) return;
  throw new Error(
    `The cluster counted ${counted.total} words, ${counted.distinct} distinct, and the loop ${expected.total}, ${expected.distinct} distinct.`,
  );
}
