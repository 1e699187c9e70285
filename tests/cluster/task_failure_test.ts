import { assertEquals, assertMatch } from "@std/assert";
import { appPath, Cluster, lines, Sandbox } from "./harness.ts";

Deno.test("cluster: a task that throws is tried four times, and the driver shows the application's file and line", async () => {
  await using cluster = await Cluster.start();
  const { code, stdout, stderr } = await cluster.submit(
    [],
    "throws.ts",
    cluster.marks,
  ).finished();
  assertEquals([code, stdout], [1, ""], stderr);
  const tries = (task: number) =>
    lines(Deno.readTextFileSync(`${cluster.marks}/tries-${task}`)).length;
  assertEquals([tries(0), tries(1)], [1, 4]);
  assertMatch(stderr, /Task 1 in stage 0 failed 4 times/);
  assertMatch(stderr, /value 1 is not welcome/);
  const line = lineOf("throws.ts", "value 1 is not welcome");
  assertMatch(stderr, new RegExp(`throws\\.ts:${line}\\b`));
});

Deno.test("cluster: an application that throws ends with 1, and its file and line are shown", async () => {
  await using cluster = await Cluster.start({ workers: 1 });
  const { code, stdout, stderr } = await cluster.submit([], "fails.ts")
    .finished();
  assertEquals([code, stdout], [1, "3\n"], stderr);
  const line = lineOf("fails.ts", "throw new");
  assertMatch(stderr, /^Uncaught TypeError: the application's own$/m);
  assertMatch(stderr, new RegExp(`fails\\.ts:${line}:`));
});

for (
  const [app, variable, what] of [
    ["captures_socket.ts", "listener", "a Deno.Listener"],
    ["captures_context.ts", "sc", "a SparkContext"],
  ]
) {
  Deno.test(`cluster: ${what} in a closure is refused in one line that names variable and function`, async () => {
    await using sandbox = await Sandbox.make();
    const { code, stdout, stderr } = await sandbox.run([
      ...["submit", "--master", "local[1]", appPath(app)],
    ]);
    assertEquals([code, stdout], [1, ""], stderr);
    const line = lineOf(app, ".map(");
    assertEquals(
      stderr.replace(/:\d+\)/, ")"),
      `sparkts: Cannot send the function "main.<anonymous>" (${app}:${line}): ` +
        `it captures "${variable}", ${what}, which cannot travel to an executor.\n`,
    );
  });
}

function lineOf(app: string, text: string): number {
  const source = Deno.readTextFileSync(appPath(app)).split("\n");
  return source.findIndex((line) => line.includes(text)) + 1;
}
