import { assertEquals, assertMatch } from "@std/assert";
import { Cluster, until } from "./harness.ts";

Deno.test("cluster: an application that asks for more than there is gets a warning that says so", async () => {
  await using cluster = await Cluster.start({ workers: 1, memory: "300m" });
  const driver = cluster.submit(
    [
      ...[
        "--executor-memory",
        "2g",
        "--conf",
        "spark.starvation.timeout=300ms",
      ],
    ],
    "echo.ts",
  );
  await driver.says("Initial job has not accepted any resources");
  const warning = driver.stderr.split("\n").find((line) =>
    line.includes("not accepted")
  )!;
  assertMatch(warning, /\bWARN\b/);
  assertMatch(
    warning,
    /asks for executors of 1 core\(s\) and 2(\.0)? GiB each/,
  );
  assertMatch(warning, /1 of 1 cores and 300(\.0)? MiB of 300(\.0)? MiB free/);
  driver.signal("SIGINT");
  assertEquals((await driver.finished()).code, 130);
});

Deno.test("cluster: of two applications the first gets all cores and the second waits its turn", async () => {
  await using cluster = await Cluster.start({ workers: 2, cores: 1 });
  const first = cluster.submit(["--name", "first"], "gate.ts", cluster.marks);
  await cluster.marked("started-", 2);
  const second = cluster.submit(["--name", "second"], "echo.ts");
  await until("both are at the master", async () => {
    return (await cluster.state()).activeApps.length === 2;
  });
  const { activeApps } = await cluster.state();
  assertEquals(
    activeApps.map(({ name, state, coresGranted }) => [
      name,
      state,
      coresGranted,
    ]),
    [["first", "RUNNING", 2], ["second", "WAITING", 0]],
  );
  await cluster.open();
  assertEquals((await first.finished()).code, 0);
  const { code, stderr } = await second.finished();
  assertEquals(code, 0, stderr);
});

Deno.test("cluster: two applications run side by side when each is held to its cores", async () => {
  await using cluster = await Cluster.start({ workers: 2, cores: 1 });
  const flags = ["--total-executor-cores", "1"];
  const drivers = ["1", "2"].map((count) =>
    cluster.submit([...flags, "--name", count], "gate.ts", cluster.marks, "1")
  );
  await cluster.marked("started-", 2);
  const { activeApps } = await cluster.state();
  assertEquals(
    activeApps.map(({ state, coresGranted }) => [state, coresGranted]),
    [["RUNNING", 1], ["RUNNING", 1]],
  );
  await cluster.open();
  for (const driver of drivers) {
    const { code, stdout, stderr } = await driver.finished();
    assertEquals([code, stdout], [0, "0\n"], stderr);
  }
});
