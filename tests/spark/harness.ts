/**
 * Whole jobs of real Spark on a cluster of sparkts.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Milliseconds } from "../../lib/conf/units.ts";
import {
  type FetchedRelease,
  fetchedReleases,
} from "../../scripts/fetched_releases.ts";
import {
  Cluster,
  type Sandbox,
  type TestProcess,
  until,
} from "../cluster/harness.ts";
import { canRun } from "../process/harness.ts";

const HOST = "127.0.0.1";
/** A JVM alone takes seconds to come up, and here several do at once. */
export const JOB_TIMEOUT: Milliseconds = 120_000;

/**
 * For JVMs that live for seconds: the quick compiler alone, and the collector
 * that starts no threads. The file of figures for jps would outlive a SIGKILL.
 */
const JVM_FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData";

/** A release that scripts/spark-distribution has fetched. */
export type Spark = FetchedRelease;

export interface SparkTestOptions {
  /** How many workers of two cores there are. Default: two. */
  readonly workers?: number;
  /** Flags of each worker. Default: those with which it finds the release. */
  readonly workerFlags?: (spark: Spark) => readonly string[];
  /** Programs that it needs beside Java and Python. */
  readonly needs?: readonly string[];
}

/**
 * Adds a test for each release of Spark that there is, with a cluster of its
 * own, whose logs are shown if the test fails. Where there is no release or no
 * Java, one test stands for them: skipped, and its name says why.
 */
export function sparkTest(
  name: string,
  run: (cluster: Cluster, spark: Spark) => Promise<void>,
  options: SparkTestOptions = {},
): void {
  const missing = whatIsMissing(options.needs ?? []);
  if (missing !== undefined) {
    Deno.test({
      name: `spark: ${name} (skipped: ${missing})`,
      ignore: true,
      fn: () => {},
    });
    return;
  }
  for (const spark of fetchedReleases()) {
    Deno.test(`spark ${spark.version}: ${name}`, async () => {
      await using cluster = await startSparkCluster(spark, options);
      try {
        await run(cluster, spark);
      } catch (error) {
        console.error(await logsOf(cluster));
        throw error;
      }
    });
  }
}

function whatIsMissing(needs: readonly string[]): string | undefined {
  for (const program of ["java", "python3", ...needs]) {
    const flag = program === "java" ? "-version" : "--version";
    if (!canRun(program, flag)) return `there is no ${program}`;
  }
  return fetchedReleases().length === 0
    ? "no Spark was fetched with scripts/spark-distribution"
    : undefined;
}

function startSparkCluster(
  spark: Spark,
  { workers = 2, workerFlags = () => ["--spark-home", spark.home] }:
    SparkTestOptions,
): Promise<Cluster> {
  return Cluster.start({
    workers,
    cores: 2,
    memory: "2g",
    workerFlags: workerFlags(spark),
  });
}

/** The ends of what the daemons and the executors of a cluster logged. */
async function logsOf(cluster: Cluster): Promise<string> {
  const logs = [["the master", cluster.master.stderr]];
  for (const [index, { process }] of cluster.workers.entries()) {
    logs.push([`worker ${index}`, process.stderr]);
  }
  for await (const path of filesNamed("stderr", cluster.dir)) {
    logs.push([path, await Deno.readTextFile(path)]);
  }
  return logs.map(([whose, text]) => `--- ${whose} ---\n${tail(text)}`)
    .join("\n");
}

async function* filesNamed(name: string, dir: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(dir)) {
    const path = join(dir, entry.name);
    if (entry.isDirectory) yield* filesNamed(name, path);
    else if (entry.name === name) yield path;
  }
}

/** Flags of spark-submit and spark-shell for a job on this machine. */
export function sparkFlags({ dir }: Sandbox, master: string): string[] {
  const conf = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.ui.enabled": "false",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": javaOptions(dir),
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "3",
  };
  return [
    "--master",
    master,
    ...Object.entries(conf).flatMap(([key, value]) => [
      "--conf",
      `${key}=${value}`,
    ]),
  ];
}

/** Starts `bin/spark-submit` of a release. */
export function sparkSubmit(
  sandbox: Sandbox,
  spark: Spark,
  master: string,
  ...args: string[]
): TestProcess {
  return startSpark(sandbox, spark, "spark-submit", [
    ...sparkFlags(sandbox, master),
    ...args,
  ]);
}

/** Starts a program of a release. */
export function startSpark(
  sandbox: Sandbox,
  { home }: Spark,
  program: string,
  args: readonly string[],
): TestProcess {
  return sandbox.startProgram([join(home, "bin", program), ...args], {
    env: sparkEnvironment(home, sandbox.dir),
  });
}

/** Waits until something holds; fails with what a driver said, or that it ended. */
export async function meanwhile(
  driver: TestProcess,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  let ended = false;
  driver.status.then(() => ended = true);
  try {
    await until(what, async () => ended || await holds(), JOB_TIMEOUT);
  } catch (cause) {
    throw new Error(`Not so: ${what}.\n${tail(driver.stderr)}`, { cause });
  }
  if (ended) {
    throw new Error(
      `The driver ended before ${what}.\n${tail(driver.stderr)}`,
    );
  }
}

function tail(text: string): string {
  return text.split("\n").slice(-60).join("\n");
}

/** The variables with which a release runs and leaves nothing behind. */
export function sparkEnvironment(
  home: string,
  dir: string,
): Record<string, string> {
  return {
    SPARK_HOME: home,
    SPARK_LOCAL_IP: HOST,
    SPARK_CONF_DIR: dir,
    PYSPARK_PYTHON: "python3",
    SPARK_SUBMIT_OPTS: `${javaOptions(dir)} -Dderby.system.home=${dir}`,
    SPARK_LAUNCHER_OPTS: JVM_FLAGS,
  };
}

/** A JVM that is killed leaves the libraries that it unpacked: in the test's folder. */
function javaOptions(dir: string): string {
  return `${JVM_FLAGS} -Djava.io.tmpdir=${dir}`;
}

/** The path of a fixture. */
export function sparkApp(name: string): string {
  return fileURLToPath(new URL(`./apps/${name}`, import.meta.url));
}
