import { assertEquals } from "@std/assert";
import { type ManagedProcess, spawnProcess } from "../../lib/process/spawn.ts";
import { until, withTempDir, writeScript } from "./harness.ts";

const SIGNALS = new URL("../../lib/process/signals.ts", import.meta.url);

/** A daemon that prints which signal it obeys, and goes on for ever. */
const DAEMON = `
  import { onShutdownSignal } from "${SIGNALS}";
  onShutdownSignal((signal) => console.log("obeys " + signal));
  setInterval(() => {}, 1000);
  console.log("ready");
`;

/**
 * Runs `body` with the daemon, started by a shell that ran `before`; `printed`
 * waits for so many lines.
 */
async function withDaemon(
  before: string,
  body: (
    daemon: ManagedProcess,
    printed: (lines: number) => Promise<string[]>,
  ) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const args = await writeScript(dir, "daemon.ts", DAEMON);
    const daemon = spawnProcess({
      command: "sh",
      args: ["-c", `${before} exec "$0" "$@"`, Deno.execPath(), ...args],
      stdout: "piped",
    });
    let output = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of daemon.stdout!) output += decoder.decode(chunk);
    })();
    const lines = () => output.split("\n").slice(0, -1);
    try {
      await body(daemon, async (count) => {
        await until(`${count} lines`, () => lines().length >= count);
        return lines();
      });
    } finally {
      await daemon.terminate({ grace: 0 });
      await reading;
    }
  });
}

Deno.test("signals: the first is obeyed, and a second Ctrl-C ends the process at once", async () => {
  await withDaemon("", async (daemon, printed) => {
    await printed(1);
    daemon.signal("SIGINT");
    assertEquals(await printed(2), ["ready", "obeys SIGINT"]);
    daemon.signal("SIGTERM");
    daemon.signal("SIGINT");
    assertEquals(await daemon.status, { code: 130, signal: null });
    assertEquals((await printed(2)).length, 2);
  });
});

Deno.test("signals: SIGHUP is obeyed, but not under nohup", async () => {
  await withDaemon("", async (daemon, printed) => {
    await printed(1);
    daemon.signal("SIGHUP");
    assertEquals(await printed(2), ["ready", "obeys SIGHUP"]);
  });
  await withDaemon("trap '' HUP;", async (daemon, printed) => {
    await printed(1);
    daemon.signal("SIGHUP");
    daemon.signal("SIGTERM");
    assertEquals(await printed(2), ["ready", "obeys SIGTERM"]);
  });
});
