import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { until } from "../cluster/harness.ts";
import {
  JOB_TIMEOUT,
  sparkApp,
  sparkSubmit,
  sparkTest,
  startSparkCluster,
} from "./harness.ts";

sparkTest(
  "with a TypeScript application at its side: cores, memory and the queue hold across both",
  async (spark) => {
    await using cluster = await startSparkCluster(spark);
    const marks = join(cluster.dir, "spark-marks");
    await Deno.mkdir(marks);
    const flags = ["--conf", "spark.executor.cores=1"];
    const first = sparkSubmit(
      cluster,
      spark,
      cluster.url,
      ...[...flags, "--total-executor-cores", "2", "--name", "first"],
      ...[sparkApp("gate.py"), marks, "2"],
    );
    await until(
      "the tasks of Spark run",
      () => [...Deno.readDirSync(marks)].length === 2,
      JOB_TIMEOUT,
    );
    // It may take all: two of the four cores are left.
    const second = cluster.submit(
      ["--name", "second", "--executor-cores", "2"],
      "gate.ts",
      cluster.marks,
    );
    await cluster.marked("started-", 2);
    const third = sparkSubmit(
      cluster,
      spark,
      cluster.url,
      ...[...flags, "--executor-memory", "600m", "--name", "third"],
      ...[sparkApp("gate.py"), marks, "3"],
    );
    await until("the third waits at the master", async () => {
      return (await cluster.state()).activeApps.length === 3;
    }, JOB_TIMEOUT);
    assertEquals(await applications(), [
      ["first", "RUNNING", 2, 512, [1, 1]],
      ["second", "RUNNING", 2, 256, [2]],
      ["third", "WAITING", 0, 600, []],
    ]);
    const { workers } = await cluster.state();
    assertEquals(
      workers.map(({ coresUsed, memoryUsed }) => [coresUsed, memoryUsed])
        .sort(([, a], [, b]) => a - b),
      // Whichever worker has the executor of two cores has no room for others.
      [[2, 256], [2, 1024]],
    );

    await cluster.open();
    assertEquals((await second.finished()).code, 0);
    await until("the third has what the second had", async () => {
      const app = (await applications()).find(([name]) => name === "third");
      return app?.[2] === 2;
    }, JOB_TIMEOUT);
    await Deno.writeTextFile(join(marks, "go"), "");
    for (const driver of [first, third]) {
      const { code, stdout, stderr } = await driver.finished(JOB_TIMEOUT);
      assertEquals(code, 0, stderr);
      assertStringIncludes(stdout, "sum 4950");
    }
    await cluster.idle();

    async function applications() {
      const { activeApps } = await cluster.state();
      return activeApps.map((app) =>
        [
          app.name,
          app.state,
          app.coresGranted,
          app.memoryPerExecutor,
          app.executors.map(({ cores }) => cores),
        ] as const
      );
    }
  },
);
