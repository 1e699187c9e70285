import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Cluster, lines, pidOf } from "./harness.ts";

Deno.test("cluster: a job survives the SIGKILL of an executor, and one more is started", async () => {
  await using cluster = await Cluster.start();
  const driver = cluster.submit([], "gate.ts", cluster.marks);
  const [first] = await cluster.marked("started-", 2);
  Deno.kill(pidOf(first), "SIGKILL");
  // The task is started anew, in another process.
  await cluster.marked("started-", 3);
  await cluster.open();
  const { code, stdout } = await driver.finished();
  assertEquals([code, stdout], [0, "1\n"]);
  const app = await cluster.app();
  const ids = [...app.executors, ...app.removedExecutors].map(({ id }) => id);
  assertEquals(new Set(ids), new Set([0, 1, 2]));
});

Deno.test("cluster: the map outputs of a lost executor are made again", async () => {
  await using cluster = await Cluster.start();
  const driver = cluster.submit([], "two_stages.ts", cluster.marks);
  await cluster.marked("first", 1);
  const before = cluster.markNames("map-");
  const victim = pidOf(before[0]);
  Deno.kill(victim, "SIGKILL");
  await driver.says("Lost executor");
  await cluster.open();
  const { code, stdout, stderr } = await driver.finished();
  const [first, second] = lines(stdout);
  assertEquals(code, 0, stderr);
  assertEquals(
    JSON.parse(first),
    Array.from({ length: 10 }, (_, i) => [i, 450 + 10 * i]),
  );
  assertEquals(second, first);
  // What the other executor made is not made again.
  const lost = before.filter((mark) => pidOf(mark) === victim).length;
  const runs = cluster.markNames("map-").flatMap((mark) =>
    lines(Deno.readTextFileSync(`${cluster.marks}/${mark}`))
  );
  assertEquals(runs.length, 4 + lost);
});

Deno.test("cluster: a task that runs out of memory fails as a task, and its executor lives", async () => {
  await using cluster = await Cluster.start({ workers: 1 });
  const { code, stdout, stderr } = await cluster.submit(
    ["--conf", "spark.task.maxFailures=1"],
    "out_of_memory.ts",
  ).finished();
  assertEquals(code, 0, stderr);
  assertStringIncludes(stdout, "The task ran out of memory: it may take");
  const [, before, after] = /pids (\d+) (\d+)/.exec(stdout)!;
  assertEquals(before, after);
  assert(!stderr.includes("Lost executor"), stderr);
});
