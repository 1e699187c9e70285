import { assertEquals } from "@std/assert";
import { join } from "node:path";
import {
  selfCommand,
  selfModule,
  setSelfModule,
} from "../../lib/process/self.ts";
import { spawnProcess } from "../../lib/process/spawn.ts";
import { withTempDir } from "./harness.ts";

Deno.test("self: the program starts itself again with other arguments", async () => {
  await withTempDir(async (dir) => {
    const program = join(dir, "program.ts");
    await Deno.writeTextFile(
      program,
      "console.log(JSON.stringify([Deno.args, Deno.mainModule]));",
    );
    const url = new URL(`file://${await Deno.realPath(program)}`);
    setSelfModule(url);
    try {
      const child = spawnProcess({
        ...selfCommand(["executor", "--cores", "2", "a b"]),
        cwd: dir,
        stdout: "piped",
      });
      assertEquals(await new Response(child.stdout).json(), [
        ["executor", "--cores", "2", "a b"],
        url.href,
      ]);
      assertEquals((await child.status).code, 0);
    } finally {
      setSelfModule(undefined);
    }
  });
});

Deno.test("self: the launcher's flags stand before the module", () => {
  const before = Deno.env.get("SPARKTS_RUN_FLAGS");
  setSelfModule("file:///main.ts");
  try {
    Deno.env.set("SPARKTS_RUN_FLAGS", "--import-map\n/a map.json\n");
    assertEquals(selfCommand(["worker"]), {
      command: Deno.execPath(),
      args: [
        "run",
        "-A",
        "--quiet",
        "--import-map",
        "/a map.json",
        "file:///main.ts",
        "worker",
      ],
    });
    Deno.env.delete("SPARKTS_RUN_FLAGS");
    assertEquals(
      selfCommand([]).args,
      ["run", "-A", "--quiet", "file:///main.ts"],
    );
  } finally {
    setSelfModule(undefined);
    if (before !== undefined) Deno.env.set("SPARKTS_RUN_FLAGS", before);
  }
});

Deno.test("self: unless told otherwise the main module is the program", () => {
  assertEquals(selfModule(), Deno.mainModule);
});
