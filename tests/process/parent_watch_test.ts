import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { spawnProcess } from "../../lib/process/spawn.ts";
import {
  isRunning,
  textOf,
  until,
  withTempDir,
  writeScript,
} from "./harness.ts";

const LIB = new URL("../../lib/process/", import.meta.url);

const CHILD = `
  import { watchParent } from "${new URL("parent_watch.ts", LIB)}";
  const watch = watchParent(() => {
    Deno.writeTextFileSync(Deno.args[0], "gone");
    Deno.exit(9);
  });
  Deno.writeTextFileSync(
    Deno.args[0],
    Deno.pid + " " + (watch !== null) + " " +
      (Deno.env.get("SPARKTS_EXIT_WITH_PARENT") ?? "unset") + "\\n",
  );
`;

Deno.test("parent watch: a child ends when its parent is killed outright", async () => {
  await withTempDir(async (dir) => {
    const childArgs = await writeScript(dir, "child.ts", CHILD);
    const note = join(dir, "note");
    const parentArgs = await writeScript(
      dir,
      "parent.ts",
      `
      import { spawnProcess } from "${new URL("spawn.ts", LIB)}";
      const child = spawnProcess({
        command: Deno.execPath(),
        args: ${JSON.stringify([...childArgs, note])},
        env: { SPARKTS_EXIT_WITH_PARENT: "1" },
        stdin: "piped",
      });
      await child.status;
    `,
    );
    const parent = spawnProcess({ command: Deno.execPath(), args: parentArgs });
    await until(
      "the child watches",
      async () => (await textOf(note)).endsWith("\n"),
    );
    const [pid, watches, variable] = (await textOf(note)).trim().split(" ");
    assertEquals([watches, variable], ["true", "unset"]);
    parent.signal("SIGKILL"); // the child has a group of its own
    await until("the child is gone", async () => !await isRunning(Number(pid)));
    assertEquals(await textOf(note), "gone");
    await parent.status;
  });
});

Deno.test("parent watch: a child that wasn't asked to doesn't mind its standard input", async () => {
  await withTempDir(async (dir) => {
    const args = await writeScript(dir, "child.ts", CHILD);
    const note = join(dir, "note");
    const child = spawnProcess({
      command: Deno.execPath(),
      args: [...args, note],
      env: { SPARKTS_EXIT_WITH_PARENT: "0" },
    });
    assertEquals((await child.status).code, 0);
    assertEquals((await textOf(note)).split(" ")[1], "false");
  });
});

Deno.test("parent watch: once it is closed a program can run out of work", async () => {
  await withTempDir(async (dir) => {
    const args = await writeScript(
      dir,
      "child.ts",
      `
      import { watchParent } from "${new URL("parent_watch.ts", LIB)}";
      await watchParent(() => Deno.exit(9)).close();
      `,
    );
    const child = spawnProcess({
      command: Deno.execPath(),
      args,
      env: { SPARKTS_EXIT_WITH_PARENT: "1" },
      stdin: "piped",
    });
    assertEquals((await child.status).code, 0);
  });
});
