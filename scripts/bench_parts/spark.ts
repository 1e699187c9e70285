import { join } from "node:path";
import { Daemons, makePlace, type Maker, type Place } from "./daemons.ts";
import type { Figure } from "./figure.ts";
import { atMost, median, pathOf, plain, REPEATS } from "./measure.ts";
import { type Resident, residentOf } from "./resident.ts";
import { fetchedReleases } from "../fetched_releases.ts";

/** How long daemons idle before they are looked at. */
const IDLE_MS = 5_000;
/** "No slower" by what two runs of the same differ. */
const NO_SLOWER = 1.05;
const MAKERS = ["sparkts", "Spark"] as const;

/** What one cluster and one job on it took. */
interface Run {
  readonly startMs: number;
  readonly resident: Resident;
  readonly jobMs: number;
  /** From the driver's RegisterApplication to its first executor. */
  readonly executorMs: number;
}

/**
 * Our master and worker, and Spark's own, in turn: the same driver, the same
 * job, for each release of Spark that was fetched.
 *
 * @throws {Error} when none was.
 */
export async function benchSpark(): Promise<Figure[]> {
  const releases = fetchedReleases();
  if (releases.length === 0) {
    throw new Error(
      "no Spark to measure: fetch one with scripts/spark-distribution",
    );
  }
  const figures: Figure[] = [];
  for (const { version, home } of releases) {
    figures.push(...await benchRelease(version, home));
  }
  return figures;
}

async function benchRelease(version: string, home: string): Promise<Figure[]> {
  const runs: Record<Maker, Run[]> = { sparkts: [], Spark: [] };
  // By turns, so that what else the machine does falls on both.
  for (let i = 0; i < REPEATS; i++) {
    for (const maker of MAKERS) runs[maker].push(await measure(maker, home));
  }
  const of = (maker: Maker, value: (run: Run) => number) =>
    median(runs[maker].map(value));
  const compared = (
    name: string,
    unit: string,
    limit: number,
    value: (run: Run) => number,
  ): Figure[] => {
    const [ours, theirs] = MAKERS.map((maker) => of(maker, value));
    return [
      atMost(`${name}, by Spark's ${version}`, ours / theirs, "×", limit),
      plain("  sparkts", ours, unit),
      plain("  Spark", theirs, unit),
    ];
  };
  return [
    ...compared(
      "Idle master and worker",
      "MB",
      1 / 3,
      ({ resident }) => resident.total,
    ),
    plain(
      "  of ours: the executable's pages",
      of("sparkts", ({ resident }) => resident.executable),
      "MB",
    ),
    plain(
      "  of ours: memory of its own",
      of("sparkts", ({ resident }) => resident.anonymous),
      "MB",
    ),
    ...compared("Start to registered", "ms", 0.1, ({ startMs }) => startMs),
    ...compared(
      "Registration to first executor",
      "ms",
      NO_SLOWER,
      ({ executorMs }) => executorMs,
    ),
    ...compared(
      "A pyspark job of two tasks",
      "ms",
      NO_SLOWER,
      ({ jobMs }) => jobMs,
    ),
  ];
}

async function measure(maker: Maker, home: string): Promise<Run> {
  const place = await makePlace(home);
  try {
    await using daemons = await Daemons.start(maker, place);
    const { startMs } = daemons;
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const resident = residentOf(daemons.pids);
    return { startMs, resident, ...await runJob(daemons.url, place) };
  } finally {
    await Deno.remove(place.directory, { recursive: true });
  }
}

async function runJob(
  master: string,
  { sparkHome, env }: Place,
): Promise<{ jobMs: number; executorMs: number }> {
  const settings = [
    "spark.driver.host=127.0.0.1",
    "spark.driver.bindAddress=127.0.0.1",
    "spark.ui.enabled=false",
    "spark.executor.cores=1",
    "spark.executor.memory=512m",
  ].flatMap((setting) => ["--conf", setting]);
  const begun = performance.now();
  const { success, stderr } = await new Deno.Command(
    join(sparkHome, "bin", "spark-submit"),
    {
      args: ["--master", master, ...settings, pathOf("apps/two_tasks.py")],
      env,
      stdin: "null",
    },
  ).output();
  const jobMs = performance.now() - begun;
  const log = new TextDecoder().decode(stderr);
  if (!success) throw new Error(`spark-submit failed: ${log}`);
  return {
    jobMs,
    executorMs: timeOf(log, "Registered executor") -
      timeOf(log, "Connecting to master"),
  };
}

/** When the driver's log first says this. */
function timeOf(log: string, text: string): number {
  const line = log.split("\n").find((line) => line.includes(text));
  const time = Date.parse(line?.slice(0, 23).replace(" ", "T") ?? "");
  if (Number.isNaN(time)) {
    throw new Error(`the driver's log doesn't say when "${text}" was`);
  }
  return time;
}
