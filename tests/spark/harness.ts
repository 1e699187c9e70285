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

const HOST = "127.0.0.1";
/** A JVM alone takes seconds to come up, and here several do at once. */
export const JOB_TIMEOUT: Milliseconds = 120_000;

/** A release that scripts/spark-distribution has fetched. */
export type Spark = FetchedRelease;

/**
 * Adds a test for each release of Spark that there is. Where there is none, or
 * no Java, one test stands for them: skipped, and its name says why.
 */
export function sparkTest(
  name: string,
  run: (spark: Spark) => Promise<void>,
): void {
  const missing = whatIsMissing();
  if (missing !== undefined) {
    Deno.test({
      name: `spark: ${name} (skipped: ${missing})`,
      ignore: true,
      fn: () => {},
    });
    return;
  }
  for (const spark of fetchedReleases()) {
    Deno.test(`spark ${spark.version}: ${name}`, () => run(spark));
  }
}

function whatIsMissing(): string | undefined {
  if (!runs("java", "-version")) return "there is no java";
  if (!runs("python3", "--version")) return "there is no python3";
  return fetchedReleases().length === 0
    ? "no Spark was fetched with scripts/spark-distribution"
    : undefined;
}

function runs(program: string, argument: string): boolean {
  try {
    return new Deno.Command(program, {
      args: [argument],
      stdout: "null",
      stderr: "null",
    }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A master and two workers of two cores that can start Spark's executors. */
export function startSparkCluster(
  { home }: Spark,
  options: { workers?: number } = {},
): Promise<Cluster> {
  return Cluster.start({
    workers: options.workers ?? 2,
    cores: 2,
    memory: "2g",
    workerFlags: ["--spark-home", home],
  });
}

/** Flags of spark-submit and spark-shell for a job on this machine. */
export function sparkFlags(master: string): string[] {
  const conf = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.ui.enabled": "false",
    "spark.executor.memory": "512m",
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
    ...sparkFlags(master),
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
    // Where a JVM puts what isn't Spark's.
    SPARK_SUBMIT_OPTS: `-Djava.io.tmpdir=${dir} -Dderby.system.home=${dir}`,
    JAVA_TOOL_OPTIONS: "-XX:-UsePerfData",
  };
}

/** The path of a fixture. */
export function sparkApp(name: string): string {
  return fileURLToPath(new URL(`./apps/${name}`, import.meta.url));
}
