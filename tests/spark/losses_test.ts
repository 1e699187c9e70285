import { assertEquals, assertStringIncludes } from "@std/assert";
import { allGone, type Cluster, type TestProcess } from "../cluster/harness.ts";
import {
  JOB_TIMEOUT,
  meanwhile,
  type Spark,
  sparkApp,
  sparkSubmit,
  sparkTest,
} from "./harness.ts";

/** What the gate's tasks add up to. */
const RESULT = "sum 4950";

/** A job of two tasks that wait, each on an executor of its own. */
function submitGate(cluster: Cluster, spark: Spark) {
  return sparkSubmit(
    cluster,
    spark,
    cluster.url,
    "--conf",
    "spark.executor.cores=1",
    "--conf",
    "spark.cores.max=2",
    sparkApp("gate.py"),
    cluster.marks,
    "2",
  );
}

/** Waits for so many starts of tasks, those that were tried again too. */
function started(
  driver: TestProcess,
  cluster: Cluster,
  count: number,
): Promise<void> {
  return meanwhile(
    driver,
    `${count} tasks have started`,
    () => cluster.markNames("started-").length >= count,
  );
}

sparkTest(
  "a SIGKILL of an executor in the midst of a job is made good",
  async (cluster, spark) => {
    const driver = submitGate(cluster, spark);
    await started(driver, cluster, 2);
    const [pid] = await cluster.executorPids(0);
    Deno.kill(pid, "SIGKILL");
    await started(driver, cluster, 3);
    await cluster.open();
    const { code, stdout, stderr } = await driver.finished(JOB_TIMEOUT);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, RESULT);
    const { removedExecutors } = await cluster.app();
    assertEquals(removedExecutors.map(({ state }) => state), ["EXITED"]);
  },
);

sparkTest(
  "a SIGKILL of a worker ends its executors within 5 s, and the job ends right on the other",
  async (cluster, spark) => {
    const driver = submitGate(cluster, spark);
    await started(driver, cluster, 2);
    const pids = await cluster.executorPids(0);
    assertEquals(pids.length, 1);
    cluster.workers[0].process.signal("SIGKILL");
    await allGone(pids);
    await started(driver, cluster, 3);
    await cluster.open();
    const { code, stdout, stderr } = await driver.finished(JOB_TIMEOUT);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, RESULT);
  },
);

sparkTest(
  "a SIGKILL of the driver ends its executors and frees their cores",
  async (cluster, spark) => {
    const driver = submitGate(cluster, spark);
    await started(driver, cluster, 2);
    const pids = [
      ...await cluster.executorPids(0),
      ...await cluster.executorPids(1),
    ];
    assertEquals(pids.length, 2);
    driver.signal("SIGKILL");
    await allGone(pids);
    await cluster.idle();
    assertEquals((await cluster.app()).state, "FINISHED");
  },
);

sparkTest(
  "a driver goes on when its master ends, and its running job ends right",
  async (cluster, spark) => {
    const driver = submitGate(cluster, spark);
    await started(driver, cluster, 2);
    cluster.master.signal("SIGTERM");
    await driver.says("Waiting for reconnection", JOB_TIMEOUT);
    await cluster.open();
    const { code, stdout, stderr } = await driver.finished(JOB_TIMEOUT);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, RESULT);
  },
);
