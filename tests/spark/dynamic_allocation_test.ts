import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Cluster } from "../cluster/harness.ts";
import {
  JOB_TIMEOUT,
  meanwhile,
  sparkApp,
  sparkSubmit,
  sparkTest,
} from "./harness.ts";

const DYNAMIC = [
  "spark.dynamicAllocation.enabled=true",
  "spark.dynamicAllocation.shuffleTracking.enabled=true",
  "spark.dynamicAllocation.executorIdleTimeout=1s",
  "spark.dynamicAllocation.schedulerBacklogTimeout=1s",
  "spark.executor.cores=1",
].flatMap((setting) => ["--conf", setting]);

async function executors(cluster: Cluster) {
  return (await cluster.app())?.executors ?? [];
}

sparkTest(
  "executors come with the backlog and go when they are idle",
  async (cluster, spark) => {
    const driver = sparkSubmit(
      cluster,
      spark,
      cluster.url,
      ...[...DYNAMIC, sparkApp("backlog.py"), cluster.marks],
    );
    // No executor is asked for at the start; four tasks bring all that fit.
    await meanwhile(driver, "every core has an executor", async () => {
      return (await executors(cluster)).length === 4;
    });
    await cluster.open();
    await meanwhile(driver, "none is left when they are idle", async () => {
      return cluster.markNames("idle").length === 1 &&
        (await executors(cluster)).length === 0;
    });
    await cluster.idle();
    assertEquals((await cluster.app()).state, "RUNNING");
    await Deno.writeTextFile(`${cluster.marks}/end`, "");
    const { code, stdout, stderr } = await driver.finished(JOB_TIMEOUT);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, "sum 4950");
  },
);

sparkTest(
  "a stage gets executors of its own resource profile",
  async (cluster, spark) => {
    const driver = sparkSubmit(
      cluster,
      spark,
      cluster.url,
      ...[...DYNAMIC, sparkApp("profiles.py"), cluster.marks],
    );
    await meanwhile(
      driver,
      "the second stage runs",
      () => cluster.markNames("started-").length === 1,
    );
    const profiled = (await executors(cluster))
      .filter(({ resourceProfileId }) => resourceProfileId > 0);
    assertEquals(
      profiled.map(({ cores, memory, state }) => [cores, memory, state]),
      [[2, 600, "RUNNING"]],
    );
    await cluster.open();
    const { code, stdout, stderr } = await driver.finished(JOB_TIMEOUT);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, "plain 45\nprofiled 45");
  },
);
