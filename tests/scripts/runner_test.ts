import { assertEquals, assertMatch } from "@std/assert";
import { type Outcome, Sandbox } from "./sandbox.ts";

/** A checkout with test files, whose `scripts/test` runs the Deno that runs this. */
async function runTests(
  files: Record<string, string>,
  ...args: string[]
): Promise<Outcome & { last: string }> {
  await using sandbox = await Sandbox.make();
  for (const [name, text] of Object.entries(files)) {
    const path = sandbox.path(`app/tests/${name}`);
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
  const outcome = await sandbox.run(sandbox.path("app/scripts/test"), args, {
    SPARKTS_DENO: Deno.execPath(),
    SPARKTS_IMPORTS: "npm",
  });
  return {
    ...outcome,
    last: outcome.stdout.trimEnd().split("\n").at(-1) ?? "",
  };
}

const GOOD = `Deno.test("good", () => {});\n`;
const BAD = `Deno.test("bad", () => { throw new Error("bad"); });\n`;

Deno.test("scripts/test: adds up the files that run side by side and those that run alone", async () => {
  const files = {
    "log_test.ts": GOOD,
    "rpc/a_test.ts": GOOD + BAD,
    "cluster/b_test.ts": `${GOOD}
      Deno.test.ignore("not now", () => {});
      Deno.test("steps", async (t) => { await t.step("one", () => {}); });
    `,
  };
  const all = await runTests(files, "--no-check");
  assertEquals([all.code, all.last], [1, "4 passed, 1 failed"]);

  const some = await runTests(files, "cluster", "log", "--no-check");
  assertEquals([some.code, some.last], [0, "3 passed, 0 failed"]);

  const one = await runTests(files, "rpc/a", "--no-check", "--filter", "good");
  assertEquals([one.code, one.last], [0, "1 passed, 0 failed"]);
});

Deno.test("scripts/test: what fails outside of a test, and a run of no test, are failures", async () => {
  const throwing = await runTests({
    "a_test.ts": `${GOOD}throw new Error("at the top");\n`,
  }, "--no-check");
  assertEquals([throwing.code, throwing.last.split(", ")[1]], [1, "1 failed"]);

  const untyped = await runTests({
    "a_test.ts": `${GOOD}export const x: number = "";\n`,
  });
  assertEquals([untyped.code, untyped.last], [1, "0 passed, 1 failed"]);

  const none = await runTests(
    { "a_test.ts": GOOD },
    "--no-check",
    "--filter=nothing",
  );
  assertEquals([none.code, none.last], [1, "0 passed, 0 failed"]);
});

Deno.test("scripts/test: a name that no test has is wrong usage", async () => {
  const { code, stderr } = await runTests({ "a_test.ts": GOOD }, "b");
  assertEquals(code, 2);
  assertMatch(stderr, /^scripts\/test: there is no test named b\nusage: /);
});

/** A checkout under git with one more file, whose `scripts/check` believes its Deno. */
async function runCheck(name: string, text: string): Promise<Outcome> {
  await using sandbox = await Sandbox.make();
  await sandbox.run(sandbox.path("bin/git"), ["init", "--quiet"], {}, "app");
  await sandbox.program(`app/${name}`, text);
  return await sandbox.run(sandbox.path("app/scripts/check"), [], {
    SPARKTS_DENO: await sandbox.tellingDeno("deno", "2.9.6"),
    SPARKTS_IMPORTS: "npm",
  });
}

Deno.test("scripts/check: a file that names a machine's folder or a registry's host fails it", async () => {
  // Put together here, so that this file names none.
  const home = ["", "home", "anna", "project"].join("/");
  const root = ["", "root", ".cache"].join("/");
  const host = ["registry", "npmjs", "org"].join(".");
  for (
    const [text, fails] of [
      [`see ${home}`, true],
      [`see ${root}`, true],
      [`"tarball": "https://${host}/x.tgz"`, true],
      ["see /opt/spark/logs", false],
    ] as const
  ) {
    const { code, stderr } = await runCheck("notes.txt", `${text}\n`);
    assertEquals([text, code], [text, fails ? 1 : 0], stderr);
    if (fails) {
      assertMatch(
        stderr,
        /notes\.txt:1:.*\nscripts\/check: machine-names failed/,
      );
    }
  }
});

Deno.test("scripts/check: a shell script that does not parse fails it by name", async () => {
  const { code, stderr } = await runCheck(
    "scripts/new",
    "#!/bin/sh\nif true\n",
  );
  assertEquals(code, 1);
  assertMatch(stderr, /scripts\/check: failed: shell-syntax\n$/);
});
