import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import {
  JOB_TIMEOUT,
  meanwhile,
  sparkApp,
  sparkSubmit,
  sparkTest,
} from "./harness.ts";

sparkTest(
  "with a TypeScript application at its side: cores, memory and the queue hold across both",
  async (cluster, spark) => {
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
    await meanwhile(
      first,
      "its tasks run",
      () => [...Deno.readDirSync(marks)].length === 2,
    );
    // It may take all: one of the two cores of each worker is left.
    const second = cluster.submit(
      ["--name", "second", "--executor-cores", "1"],
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
    await meanwhile(third, "it waits at the master", async () => {
      return (await cluster.state()).activeApps.length === 3;
    });
    assertEquals(await applications(), [
      ["first", "RUNNING", 2, 512, [1, 1]],
      ["second", "RUNNING", 2, 256, [1, 1]],
      ["third", "WAITING", 0, 600, []],
    ]);
    const { workers } = await cluster.state();
    assertEquals(
      workers.map(({ coresUsed, memoryUsed }) => [coresUsed, memoryUsed]),
      [[2, 768], [2, 768]],
    );

    await cluster.open();
    assertEquals((await second.finished()).code, 0);
    await meanwhile(third, "it has what the second had", async () => {
      const app = (await applications()).find(([name]) => name === "third");
      return app?.[2] === 2;
    });
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
