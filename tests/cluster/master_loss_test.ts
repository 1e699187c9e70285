import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { appPath, Cluster, lines, Sandbox } from "./harness.ts";

Deno.test("cluster: a job that runs when the master gets SIGTERM ends right", async () => {
  await using cluster = await Cluster.start();
  const driver = cluster.submit([], "gate.ts", cluster.marks);
  await cluster.marked("started-", 2);
  cluster.master.signal("SIGTERM");
  await cluster.master.finished();
  await driver.says("waiting for master to reconnect");
  await cluster.open();
  const { code, stdout, stderr } = await driver.finished();
  assertEquals([code, stdout], [0, "1\n"], stderr);
});

Deno.test("cluster: with no master at the address submit fails with one clear line", async () => {
  await using sandbox = await Sandbox.make();
  const port = freePort();
  const { code, stdout, stderr } = await sandbox.run([
    ...["submit", "--master", `spark://127.0.0.1:${port}`],
    ...["--conf", "spark.appclient.registration.timeout=100ms"],
    ...["--conf", "spark.driver.host=127.0.0.1"],
    ...[appPath("gate.ts"), sandbox.marks],
  ]);
  assertEquals([code, stdout], [1, ""], stderr);
  const errors = lines(stderr).filter((line) => line.startsWith("sparkts: "));
  assertEquals(errors.length, 1, stderr);
  assertStringIncludes(errors[0], "All masters are unresponsive! Giving up.");
  assertStringIncludes(errors[0], `127.0.0.1:${port}, 3 times`);
  assert(!/^\s+at /m.test(stderr), stderr);
});

/** A port at which nobody listens. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
