import { assertEquals, assertMatch } from "@std/assert";
import { Cluster } from "./harness.ts";

Deno.test("cluster: a killed task that would not end takes its executor with it, and the next job gets another", async () => {
  await using cluster = await Cluster.start();
  const { code, stdout, stderr } = await cluster.submit(
    [
      "--conf",
      "spark.task.reaper.killTimeout=500ms",
      "--conf",
      "spark.task.maxFailures=1",
    ],
    "stubborn.ts",
  ).finished();
  assertEquals(
    [code, stdout.replace(/\s+/g, " ")],
    [0, "true [ 0, 1, 4, 9, 16, 25, 36, 49 ] "],
    stderr,
  );
  assertMatch(stderr, /could not be stopped within/);
});

Deno.test("cluster: a task that outruns its heap's limit takes its executor with it, and the driver says why", async () => {
  await using cluster = await Cluster.start({ workers: 1 });
  const { code, stdout, stderr } = await cluster.submit(
    ["--conf", "spark.task.maxFailures=1"],
    "runaway.ts",
  ).finished();
  assertEquals([code, stdout], [1, ""], stderr);
  assertMatch(stderr, /The (task|executor) ran out of memory/);
});
