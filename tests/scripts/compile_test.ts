import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Outcome, Sandbox } from "./sandbox.ts";

/** Packs a telling Deno and returns the path of the executable. */
async function pack(sandbox: Sandbox): Promise<string> {
  const output = sandbox.path("home/my sparkts");
  const { code, stderr } = await sandbox.run(
    sandbox.path("app/scripts/compile"),
    ["--pack", "--output", "my sparkts"],
    {
      SPARKTS_DENO: await sandbox.tellingDeno("deno", "2.9.6"),
      SPARKTS_IMPORTS: "npm",
    },
  );
  assertEquals([code, stderr], [
    0,
    `scripts/compile: made ${output}, self-extracting\n`,
  ]);
  return output;
}

/** What a packed telling Deno writes when it runs from a folder. */
function toldFrom(folder: string, ...args: string[]): string {
  return [
    "deno 2.9.6",
    ..."run -A --quiet --no-config --no-lock".split(" ").map((flag) =>
      `<${flag}>`
    ),
    `<${folder}/sparkts.js>`,
    ...args.map((arg) => `<${arg}>`),
    "flags --no-config",
    "--no-lock",
    "",
  ].join("\n");
}

/** The one folder in a cache folder of packed executables. */
function onlyEntry(cache: string): string {
  const names = [...Deno.readDirSync(cache)].map(({ name }) => name);
  assertEquals(names.length, 1, names.join(" "));
  return `${cache}/${names[0]}`;
}

function assertTold(outcome: Outcome, folder: string, ...args: string[]) {
  assertEquals(outcome, {
    code: 0,
    stdout: toldFrom(folder, ...args),
    stderr: "",
  });
}

Deno.test("packed executable: first runs at the same time all work, later ones need no tool at all", async () => {
  await using sandbox = await Sandbox.make();
  const packed = await pack(sandbox);
  const runs = await Promise.all(
    [1, 2, 3, 4].map((n) => sandbox.run(packed, ["submit", `a ${n}`, ""])),
  );
  const folder = onlyEntry(sandbox.path("home/.cache/sparkts"));
  for (const [i, run] of runs.entries()) {
    assertTold(run, folder, "submit", `a ${i + 1}`, "");
  }
  assertTold(
    await sandbox.run(packed, ["--version"], { PATH: "/nowhere" }),
    folder,
    "--version",
  );
});

Deno.test("packed executable: where HOME cannot be written it unpacks into a folder of its own in TMPDIR", async () => {
  await using sandbox = await Sandbox.make();
  const packed = await pack(sandbox);
  // A file where the cache folder should be: not even root can write into it.
  const home = sandbox.path("app/deno.json");
  for (const run of [1, 2]) {
    const outcome = await sandbox.run(packed, [`${run}`], { HOME: home });
    const base = onlyEntry(sandbox.path("tmp"));
    assertTold(outcome, onlyEntry(base), `${run}`);
    assertEquals((Deno.statSync(base).mode ?? 0) & 0o777, 0o700);
  }
});

Deno.test("packed executable: a folder in TMPDIR that is a link is not trusted", async () => {
  await using sandbox = await Sandbox.make();
  const packed = await pack(sandbox);
  const env = { HOME: sandbox.path("app/deno.json") };
  await sandbox.run(packed, [], env);
  const base = onlyEntry(sandbox.path("tmp"));
  await Deno.rename(base, sandbox.path("elsewhere"));
  await Deno.symlink(sandbox.path("elsewhere"), base);
  const { code, stdout, stderr } = await sandbox.run(packed, [], env);
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^sparkts: cannot unpack itself: [^\n]*\n$/);
});

Deno.test("packed executable: one that was cut short is never run, and leaves nothing behind", async () => {
  await using sandbox = await Sandbox.make();
  const packed = await pack(sandbox);
  const whole = await Deno.readFile(packed);
  // The last bytes hold gzip's checksum: tar alone does not miss them.
  for (const missing of [4, 200]) {
    await Deno.writeFile(packed, whole.subarray(0, whole.length - missing));
    const { code, stdout, stderr } = await sandbox.run(packed);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(
      stderr,
      /^sparkts: cannot unpack itself: unpacking .* the file is damaged[^\n]*\n$/,
    );
    assertEquals(
      [...Deno.readDirSync(sandbox.path("home/.cache/sparkts"))],
      [],
    );
  }
});

Deno.test("packed executable: an extraction that lost a file is made anew", async () => {
  await using sandbox = await Sandbox.make();
  const packed = await pack(sandbox);
  await sandbox.run(packed);
  const folder = onlyEntry(sandbox.path("home/.cache/sparkts"));
  for (const name of ["deno", "sparkts.js"]) {
    await Deno.remove(`${folder}/${name}`);
    assertTold(await sandbox.run(packed, [name]), folder, name);
  }
});

Deno.test("packed executable: its folder is named for what is inside", async () => {
  await using sandbox = await Sandbox.make();
  await sandbox.run(await pack(sandbox));
  const first = onlyEntry(sandbox.path("home/.cache/sparkts"));
  await sandbox.run(await pack(sandbox));
  assertEquals(onlyEntry(sandbox.path("home/.cache/sparkts")), first);
});

Deno.test("scripts/compile: without a base binary it says so and names --pack", async () => {
  await using sandbox = await Sandbox.make();
  const { code, stderr } = await sandbox.run(
    sandbox.path("app/scripts/compile"),
    [],
    {
      SPARKTS_DENO: await sandbox.tellingDeno("deno", "2.9.6"),
      SPARKTS_IMPORTS: "npm",
    },
  );
  assertEquals(code, 1);
  assertMatch(stderr, /^error: Setting up base binary\n/);
  assertMatch(stderr, /base binary .*scripts\/compile --pack/);
  // Nothing half made is left.
  assertEquals([...Deno.readDirSync(sandbox.path("app/dist"))], []);
});

Deno.test("scripts/compile: wrong usage exits with 2 and the usage line", async () => {
  await using sandbox = await Sandbox.make();
  for (const args of [["--bad"], ["--output"], ["--output", ""], ["x"]]) {
    const { code, stderr } = await sandbox.run(
      sandbox.path("app/scripts/compile"),
      args,
    );
    assertEquals([args, code], [args, 2]);
    assert(
      stderr.endsWith("usage: scripts/compile [--pack] [--output FILE]\n"),
    );
  }
});
