import { assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { until } from "../cluster/harness.ts";
import {
  JOB_TIMEOUT,
  type Spark,
  sparkApp,
  sparkSubmit,
  sparkTest,
} from "./harness.ts";

function nowhere({ home }: Spark): string {
  return join(home, "nothing-here");
}

sparkTest(
  "a worker without Spark fails the launch, and the driver's log says why",
  async (cluster, spark) => {
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
      `there is no spark-core_*.jar in ${join(nowhere(spark), "jars")}`,
    );
  },
  {
    workers: 1,
    workerFlags: (spark) => ["--spark-home", nowhere(spark)],
  },
);

sparkTest(
  "a worker without Java fails the launch likewise",
  async (cluster, spark) => {
    const driver = sparkSubmit(
      cluster,
      spark,
      cluster.url,
      ...[sparkApp("gate.py"), cluster.marks, "2"],
    );
    await driver.says("This worker has no Java to start", JOB_TIMEOUT);
  },
  {
    workers: 1,
    workerFlags: (spark) => [
      ...["--spark-home", spark.home],
      ...["--java-home", nowhere(spark)],
    ],
  },
);
