import { assertEquals } from "@std/assert";
import { allGone, Cluster, pidOf, until } from "./harness.ts";

Deno.test("cluster: a SIGKILL of a worker ends its executors, and the job ends right on the other worker", async () => {
  await using cluster = await Cluster.start();
  const driver = cluster.submit([], "gate.ts", cluster.marks);
  await cluster.marked("started-", 2);
  const [victim] = cluster.workers;
  const pids = await cluster.executorPids(0);
  assertEquals(pids.length, 1);
  victim.process.signal("SIGKILL");
  await allGone(pids);
  await cluster.open();
  const { code, stdout, stderr } = await driver.finished();
  assertEquals([code, stdout], [0, "1\n"], stderr);
  const { workers } = await cluster.state();
  assertEquals(workers.map(({ state }) => state).sort(), ["ALIVE", "DEAD"]);
});

Deno.test("cluster: a worker that gets SIGTERM kills its executors and leaves", async () => {
  await using cluster = await Cluster.start();
  const driver = cluster.submit([], "gate.ts", cluster.marks);
  const marks = await cluster.marked("started-", 2);
  const pids = await cluster.executorPids(1);
  assertEquals(pids.length, 1);
  const { process } = cluster.workers[1];
  process.signal("SIGTERM");
  await process.finished(5_000);
  await allGone(pids, 0);
  // Only that worker's are gone.
  const [other] = marks.map(pidOf).filter((pid) => !pids.includes(pid));
  assertEquals(await cluster.executorPids(0), [other]);
  await cluster.open();
  const { code, stdout, stderr } = await driver.finished();
  assertEquals([code, stdout], [0, "1\n"], stderr);
});

Deno.test("cluster: a worker that gets SIGTERM while a task loops leaves no process either", async () => {
  await using cluster = await Cluster.start({ workers: 1 });
  cluster.submit([], "loop.ts", cluster.marks);
  const [mark] = await cluster.marked("started-", 1);
  const { process } = cluster.workers[0];
  process.signal("SIGTERM");
  await process.finished(15_000);
  await allGone([pidOf(mark)], 0);
  await until("the master has no worker", async () => {
    const { workers } = await cluster.state();
    return workers.every(({ state }) => state === "DEAD");
  });
});
