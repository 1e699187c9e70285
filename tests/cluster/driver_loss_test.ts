import { assertEquals } from "@std/assert";
import {
  allGone,
  appPath,
  CLEANUP_TIME,
  Cluster,
  descendantsOf,
  pidOf,
  Sandbox,
  until,
} from "./harness.ts";

Deno.test("cluster: a SIGKILL of the driver ends its executors and frees their cores", async () => {
  await using cluster = await Cluster.start();
  const driver = cluster.submit([], "gate.ts", cluster.marks);
  const marks = await cluster.marked("started-", 2);
  driver.signal("SIGKILL");
  await Promise.all([allGone(marks.map(pidOf)), cluster.idle(CLEANUP_TIME)]);
  const { activeApps, completedApps } = await cluster.state();
  assertEquals(activeApps, []);
  assertEquals(completedApps.map(({ state }) => state), ["FINISHED"]);
});

for (const app of ["gate.ts", "loop.ts"]) {
  const what = app === "loop.ts" ? "a task loops" : "a job runs";
  Deno.test(`cluster: Ctrl-C while ${what} ends the application with 130`, async () => {
    await using cluster = await Cluster.start({ workers: 1 });
    const driver = cluster.submit([], app, cluster.marks);
    const marks = await cluster.marked("started-", 1);
    driver.signal("SIGINT");
    const { code, stdout } = await driver.finished(CLEANUP_TIME);
    assertEquals([code, stdout], [130, ""]);
    await Promise.all([allGone(marks.map(pidOf)), cluster.idle(CLEANUP_TIME)]);
    assertEquals((await cluster.state()).activeApps, []);
  });
}

Deno.test("cluster: Ctrl-C while no master answers ends submit at once", async () => {
  await using sandbox = await Sandbox.make();
  // It takes connections and says nothing.
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const driver = sandbox.start([
    ...["submit", "--master", `spark://127.0.0.1:${listener.addr.port}`],
    ...["--verbose", "--conf", "spark.driver.host=127.0.0.1"],
    ...[appPath("gate.ts"), sandbox.marks],
  ]);
  await driver.says("Connecting to master");
  driver.signal("SIGINT");
  assertEquals((await driver.finished(CLEANUP_TIME)).code, 130);
});

Deno.test("cluster: Ctrl-C while a local cluster starts ends all of it", async () => {
  await using sandbox = await Sandbox.make();
  const driver = startLocalCluster(sandbox, "gate.ts");
  let pids: number[] = [];
  await until("the master is started", async () => {
    pids = await descendantsOf(driver.pid);
    return pids.length > 0;
  });
  driver.signal("SIGINT");
  const { code } = await driver.finished(CLEANUP_TIME);
  assertEquals(code, 130);
  await allGone(pids, 0);
  assertEquals(leftBehind(sandbox), []);
});

Deno.test("cluster: SIGTERM ends submit and its application with 143", async () => {
  await using cluster = await Cluster.start({ workers: 1 });
  const driver = cluster.submit([], "gate.ts", cluster.marks);
  const marks = await cluster.marked("started-", 1);
  driver.signal("SIGTERM");
  assertEquals((await driver.finished(CLEANUP_TIME)).code, 143);
  await Promise.all([allGone(marks.map(pidOf)), cluster.idle(CLEANUP_TIME)]);
});

Deno.test("cluster: Ctrl-C in a local cluster ends all of it", async () => {
  await using sandbox = await Sandbox.make();
  const driver = startLocalCluster(sandbox, "loop.ts");
  await sandbox.marked("started-", 1);
  const pids = await descendantsOf(driver.pid);
  assertEquals(pids.length, 5);
  driver.signal("SIGINT");
  const { code } = await driver.finished(CLEANUP_TIME);
  assertEquals(code, 130);
  await allGone(pids, 0);
  assertEquals(leftBehind(sandbox), []);
});

Deno.test("cluster: a SIGKILL of submit takes its local cluster with it", async () => {
  await using sandbox = await Sandbox.make();
  const driver = startLocalCluster(sandbox, "gate.ts");
  await sandbox.marked("started-", 2);
  const pids = await descendantsOf(driver.pid);
  assertEquals(pids.length, 5);
  driver.signal("SIGKILL");
  await allGone(pids);
});

function startLocalCluster(sandbox: Sandbox, app: string) {
  return sandbox.start([
    "submit",
    "--master",
    "local-cluster[2,1,256]",
    appPath(app),
    sandbox.marks,
  ]);
}

function leftBehind(sandbox: Sandbox): string[] {
  return [...Deno.readDirSync(sandbox.dir)].map(({ name }) => name)
    .filter((name) => name.startsWith("sparkts-cluster-"));
}
