import { assert, assertEquals, assertThrows } from "@std/assert";
import { join } from "node:path";
import { ProcessStartError, spawnProcess } from "../../lib/process/spawn.ts";
import { isRunning, textOf, until, withTempDir } from "./harness.ts";

Deno.test("process: a child has its own group, environment and directory", async () => {
  await withTempDir(async (dir) => {
    const child = spawnProcess({
      command: "sh",
      args: ["-c", 'ps -o pgid= -p $$; pwd; echo "$COLOUR"'],
      cwd: dir,
      env: { COLOUR: "green" },
      stdout: "piped",
    });
    const [group, cwd, colour] = (await new Response(child.stdout).text())
      .trim().split("\n");
    assertEquals(Number(group), child.pid);
    assertEquals(cwd, await Deno.realPath(dir));
    assertEquals(colour, "green");
    assertEquals(await child.status, { code: 0, signal: null });
  });
});

Deno.test("process: a child's exit code is its own", async () => {
  const child = spawnProcess({ command: "sh", args: ["-c", "exit 7"] });
  assertEquals(await child.status, { code: 7, signal: null });
});

Deno.test("process: SIGTERM is exit code 143", async () => {
  const child = spawnProcess({ command: "sleep", args: ["60"] });
  const end = await child.terminate({ grace: 10_000 });
  assertEquals(end, { status: { code: 143, signal: "SIGTERM" } });
});

Deno.test("process: a child that ignores SIGTERM is killed after the grace", async () => {
  const child = spawnProcess({
    command: "sh",
    args: ["-c", "trap '' TERM; echo ready; while :; do sleep 1; done"],
    stdout: "piped",
  });
  const reader = child.stdout!.getReader();
  await reader.read();
  const start = performance.now();
  const end = await child.terminate({ grace: 200 });
  assertEquals(end, { status: { code: 137, signal: "SIGKILL" } });
  assert(performance.now() - start >= 200);
  await reader.cancel();
});

Deno.test("process: a grandchild that ignores SIGTERM is killed after the grace", async () => {
  await withTempDir(async (dir) => {
    const pidFile = join(dir, "pid");
    const grandchild = `trap '' TERM; echo $$ > ${pidFile}; exec sleep 60`;
    const child = spawnProcess({
      command: "sh",
      args: ["-c", `sh -c "$0" & wait`, grandchild],
    });
    await until(
      "the grandchild runs",
      async () => (await textOf(pidFile)).endsWith("\n"),
    );
    const pid = Number(await textOf(pidFile));
    assert(await isRunning(pid));
    const start = performance.now();
    const end = await child.terminate({ grace: 200 });
    assertEquals(end, { status: { code: 143, signal: "SIGTERM" } });
    assert(performance.now() - start >= 200, "the grace was not kept");
    assertEquals(await isRunning(pid), false);
  });
});

Deno.test("process: what a child left running when it ended is killed with its group", async () => {
  await withTempDir(async (dir) => {
    const pidFile = join(dir, "pid");
    const child = spawnProcess({
      command: "sh",
      args: ["-c", `sleep 60 & echo $! > ${pidFile}; exit 3`],
    });
    assertEquals((await child.status).code, 3);
    const pid = Number(await textOf(pidFile));
    assert(await isRunning(pid), "the grandchild should outlive its parent");
    const end = await child.terminate({ grace: 10_000 });
    assertEquals(end, { status: { code: 3, signal: null } });
    assertEquals(await isRunning(pid), false);
  });
});

Deno.test("process: terminate is quick, does nothing twice, and a signal then finds nobody", async () => {
  const child = spawnProcess({ command: "true" });
  await child.status;
  const start = performance.now();
  const first = child.terminate({ grace: 60_000 });
  assertEquals(child.terminate({ grace: 1 }), first);
  await first;
  assert(performance.now() - start < 5_000);
  assertEquals(child.signal("SIGTERM"), false);
});

Deno.test("process: a program that is missing, no program, or started nowhere is a ProcessStartError", () => {
  for (
    const options of [
      { command: "sparkts-no-such-program" },
      { command: "/etc/passwd" },
      { command: "sh", cwd: "/no/such/directory" },
    ]
  ) {
    const error = assertThrows(
      () => spawnProcess(options),
      ProcessStartError,
      `Cannot start "${options.command}"`,
    );
    assert(error.cause instanceof Error);
  }
});
