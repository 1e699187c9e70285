import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { lines, type Sandbox } from "../cluster/harness.ts";
import {
  JOB_TIMEOUT,
  sparkApp,
  sparkEnvironment,
  sparkFlags,
  sparkSubmit,
  sparkTest,
} from "./harness.ts";

const TEXTS = ["one fish two fish", "red fish", "blue fish one two"];

async function writeTexts(sandbox: Sandbox): Promise<string> {
  const folder = join(sandbox.dir, "texts");
  await Deno.mkdir(folder);
  for (const [index, text] of TEXTS.entries()) {
    await Deno.writeTextFile(join(folder, `${index}.txt`), `${text}\n`);
  }
  return folder;
}

sparkTest(
  "pyspark's jobs give what they give on local[2]",
  async (cluster, spark) => {
    const texts = await writeTexts(cluster);
    const { code, stdout, stderr } = await sparkSubmit(
      cluster,
      spark,
      cluster.url,
      ...[sparkApp("jobs.py"), texts, "local[2]"],
    ).finished(JOB_TIMEOUT);
    assertEquals(code, 0, stderr);
    // Python may warn before them.
    const [results, local] = lines(stdout).slice(-2).map((line) =>
      JSON.parse(line)
    );
    assertEquals([results.master, local.master], [cluster.url, "local[2]"]);
    assertEquals(results.jobs, local.jobs);
    // That they are equal says nothing if both are empty.
    const { words, join: joined, slope, udf, pi } = results.jobs;
    assertEquals(words.slice(0, 2), [["blue", 1], ["fish", 4]]);
    assertEquals(joined.length, 4);
    assert(slope > 0);
    assert(udf.length > 10);
    assert(Math.abs(pi - Math.PI) < 0.01);
    await cluster.idle(JOB_TIMEOUT);
    const app0 = await cluster.app();
    assertEquals([app0.name, app0.state], ["jobs", "FINISHED"]);
  },
);

sparkTest(
  "a Java application of one's own, and lines in spark-shell",
  async (cluster, spark) => {
    await compile(cluster, spark.home, sparkApp("SumOfSquares.java"));
    const { code, stdout, stderr } = await sparkSubmit(
      cluster,
      spark,
      cluster.url,
      "--class",
      "SumOfSquares",
      join(cluster.dir, "app.jar"),
      "100",
    ).finished(JOB_TIMEOUT);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, "The sum is 328350");

    const script = await cluster.write(
      "lines.scala",
      "val words = sc.parallelize(Seq(1, 2, 3, 4), 2).map(n => n * n)\n" +
        'println("squares " + words.sum())\n:quit\n',
    );
    const shell = cluster.startProgram([
      "sh",
      "-c",
      'file=$1; shift; exec "$@" <"$file"',
      "sh",
      script,
      join(spark.home, "bin", "spark-shell"),
      ...sparkFlags(cluster, cluster.url),
    ], { env: sparkEnvironment(spark.home, cluster.dir) });
    const said = await shell.finished(JOB_TIMEOUT);
    assertStringIncludes(said.stdout, "squares 30.0", said.stderr);
    const { completedApps } = await cluster.state();
    assertEquals(completedApps.map(({ state }) => state), [
      "FINISHED",
      "FINISHED",
    ]);
  },
  { needs: ["javac", "jar"] },
);

/** Makes app.jar in the sandbox of one Java file. */
async function compile(
  sandbox: Sandbox,
  home: string,
  source: string,
): Promise<void> {
  const classes = join(sandbox.dir, "classes");
  await run("javac", "-cp", `${home}/jars/*`, "-d", classes, source);
  await run("jar", "cf", join(sandbox.dir, "app.jar"), "-C", classes, ".");
}

async function run(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args })
    .output();
  assert(success, new TextDecoder().decode(stderr));
}
