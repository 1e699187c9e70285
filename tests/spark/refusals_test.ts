import { assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { Cluster, until } from "../cluster/harness.ts";
import { JOB_TIMEOUT, sparkApp, sparkSubmit, sparkTest } from "./harness.ts";

sparkTest(
  "a worker without Spark or Java fails the launch, and the driver's log says why",
  async (spark) => {
    const empty = await Deno.makeTempDir({ prefix: "sparkts-test-" });
    try {
      await using cluster = await Cluster.start({
        workers: 1,
        cores: 2,
        memory: "2g",
        workerFlags: ["--spark-home", join(empty, "spark")],
      });
      const driver = sparkSubmit(
        cluster,
        spark,
        cluster.url,
        ...[sparkApp("gate.py"), cluster.marks, "2"],
      );
      await driver.says("This worker has no Spark to start", JOB_TIMEOUT);
      // Ten in a row, and the application is given up.
      await driver.says("Application has been killed", JOB_TIMEOUT);
      await until("the application has failed", async () => {
        return (await cluster.app()).state === "FAILED";
      });
      assertStringIncludes(
        cluster.workers[0].process.stderr,
        `there is no spark-core_*.jar in ${join(empty, "spark", "jars")}`,
      );
    } finally {
      await Deno.remove(empty, { recursive: true });
    }
  },
);

sparkTest("a worker without Java fails the launch likewise", async (spark) => {
  await using cluster = await Cluster.start({
    workers: 1,
    cores: 2,
    memory: "2g",
    workerFlags: ["--spark-home", spark.home, "--java-home", "no-java-here"],
  });
  const driver = sparkSubmit(
    cluster,
    spark,
    cluster.url,
    ...[sparkApp("gate.py"), cluster.marks, "2"],
  );
  await driver.says("This worker has no Java to start", JOB_TIMEOUT);
});
