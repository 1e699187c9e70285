import { assertEquals, assertMatch } from "@std/assert";
import { stripVTControlCharacters } from "node:util";
import { appPath, Sandbox } from "./harness.ts";

/** Whether there is a `script` that takes a command, as util-linux has it. */
async function canFakeTerminal(): Promise<boolean> {
  try {
    const { success } = await new Deno.Command("script", {
      args: ["-qec", "true", "/dev/null"],
      stdin: "null",
    }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test({
  name:
    "cluster: the progress of stages is shown on a terminal, and only there",
  // Without `script` there is no terminal to be had.
  ignore: !await canFakeTerminal(),
  async fn() {
    await using sandbox = await Sandbox.make();
    const args = ["submit", "--master", "local[1]", appPath("gate.ts")]
      .concat(sandbox.marks, "1");
    const piped = sandbox.start(args);
    await sandbox.marked("started-", 1);
    const shown = sandbox.start(args, { terminal: true });
    await shown.says("[Stage 0:>");
    // By now the other would have shown its own.
    await sandbox.open();
    const onTerminal = await shown.finished();
    assertEquals(onTerminal.code, 0);
    assertMatch(onTerminal.stdout, /\[Stage 0:> +\(0 \+ 1\) \/ 1\]/);
    // The line is taken away before the application's own output is there.
    const [, last] = /([^\r\n]*)\r?\n$/.exec(onTerminal.stdout)!;
    assertEquals(stripVTControlCharacters(last), "0");
    assertEquals(await piped.finished(), {
      code: 0,
      stdout: "0\n",
      stderr: "",
    });
  },
});
