import { assert, assertEquals, assertMatch } from "@std/assert";
import { FakeRegistry, Sandbox } from "./sandbox.ts";

const META = JSON.stringify({ scope: "std", name: "assert", versions: {} });

/** The arguments and flags that a telling Deno writes for a checkout at `app`. */
function told(
  app: string,
  imports: "jsr" | "npm",
  ...rest: string[]
): string {
  const flags = ["--config", `${app}/deno.json`];
  if (imports === "npm") {
    flags.push("--import-map", `${app}/scripts/offline/import_map.json`);
    flags.push("--lock", `${app}/scripts/offline/deno.lock`);
  }
  const [subcommand, ...args] = rest;
  return [
    "deno 2.9.6",
    ...[subcommand, ...flags, ...args].map((argument) => `<${argument}>`),
    `flags ${flags.join("\n")}`,
    "",
  ].join("\n");
}

/** An address on which nothing listens. */
function closedAddress(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return `http://127.0.0.1:${listener.addr.port}/`;
}

Deno.test("scripts/deno: where JSR answers its imports are taken, and that is remembered", async () => {
  await using sandbox = await Sandbox.make();
  const deno = await sandbox.tellingDeno("deno", "2.9.6");
  const app = sandbox.path("app");
  let url: string;
  {
    await using jsr = new FakeRegistry(META);
    url = jsr.url;
    const first = await sandbox.deno(["run", "-A", "a b.ts"], {
      SPARKTS_DENO: deno,
      JSR_URL: url,
    });
    assertEquals(first.stdout, told(app, "jsr", "run", "-A", "a b.ts"));
    assertMatch(first.stderr, /^sparkts: JSR answers: [^\n]*\n$/);
    assertEquals(jsr.asked, ["/@std/assert/meta.json"]);
  }
  // Nobody listens there any more.
  const second = await sandbox.deno(["check", "a.ts"], {
    SPARKTS_DENO: deno,
    JSR_URL: url,
  });
  assertEquals(second, {
    code: 0,
    stdout: told(app, "jsr", "check", "a.ts"),
    stderr: "",
  });
});

Deno.test("scripts/deno: where JSR does not answer npm's imports are taken, which is said once", async () => {
  await using sandbox = await Sandbox.make();
  const env = {
    SPARKTS_DENO: await sandbox.tellingDeno("deno", "2.9.6"),
    JSR_URL: closedAddress(),
  };
  const first = await sandbox.deno(["test"], env);
  assertEquals(first.stdout, told(sandbox.path("app"), "npm", "test"));
  assertMatch(first.stderr, /^sparkts: JSR does not answer: [^\n]*\n$/);
  const second = await sandbox.deno(["test"], env);
  assertEquals([second.stdout, second.stderr], [first.stdout, ""]);
});

Deno.test("scripts/deno: what answers in JSR's place but is no JSR is not taken for it", async () => {
  for (
    const [body, status] of [["<html>", 200], ["{}", 200], [META, 503]] as const
  ) {
    await using sandbox = await Sandbox.make();
    await using other = new FakeRegistry(body, status);
    const { stderr } = await sandbox.deno(["test"], {
      SPARKTS_DENO: await sandbox.tellingDeno("deno", "2.9.6"),
      JSR_URL: other.url,
    });
    assertMatch(stderr, /JSR does not answer/);
  }
});

Deno.test("scripts/deno: after a day without JSR it is asked again", async () => {
  await using sandbox = await Sandbox.make();
  await using jsr = new FakeRegistry(META);
  const env = {
    SPARKTS_DENO: await sandbox.tellingDeno("deno", "2.9.6"),
    JSR_URL: jsr.url,
  };
  await sandbox.deno(["test"], env);
  const [memory] = [...Deno.readDirSync(sandbox.path("home/.cache/sparkts"))];
  const path = sandbox.path(`home/.cache/sparkts/${memory.name}`);
  const now = Math.floor(Date.now() / 1000);

  for (
    const [answer, age, asksAgain] of [
      ["npm", 86_000, false],
      ["npm", 86_500, true],
      ["jsr", 86_500, false],
      ["jsr", 8 * 86_400, true],
      ["garbage", 0, true],
    ] as const
  ) {
    const before = jsr.asked.length;
    await Deno.writeTextFile(path, `${answer} ${now - age}\n`);
    await sandbox.deno(["test"], env);
    assertEquals(
      [answer, age, jsr.asked.length > before],
      [answer, age, asksAgain],
    );
  }
});

Deno.test("scripts/deno: SPARKTS_IMPORTS decides without asking or remembering", async () => {
  await using sandbox = await Sandbox.make();
  await using jsr = new FakeRegistry(META);
  const env = {
    SPARKTS_DENO: await sandbox.tellingDeno("deno", "2.9.6"),
    JSR_URL: jsr.url,
  };
  for (const imports of ["jsr", "npm"] as const) {
    assertEquals(
      await sandbox.deno(["run", "x"], { ...env, SPARKTS_IMPORTS: imports }),
      {
        code: 0,
        stdout: told(sandbox.path("app"), imports, "run", "x"),
        stderr: "",
      },
    );
  }
  const wrong = await sandbox.deno(["run", "x"], {
    ...env,
    SPARKTS_IMPORTS: "yarn",
  });
  assertEquals(wrong, {
    code: 1,
    stdout: "",
    stderr: "sparkts: SPARKTS_IMPORTS is yarn: it must be jsr or npm\n",
  });
  assertEquals(jsr.asked, []);
});

Deno.test("scripts/deno: subcommands that resolve no imports get what they were given", async () => {
  await using sandbox = await Sandbox.make();
  const env = { SPARKTS_DENO: await sandbox.tellingDeno("deno", "2.9.6") };
  for (const args of [["fmt", "--check"], ["lint"], ["--help"], []]) {
    const { stdout, stderr } = await sandbox.deno(args, env);
    assertEquals(
      [stdout, stderr],
      [
        ["deno 2.9.6", ...args.map((arg) => `<${arg}>`), "flags unset", ""]
          .join("\n"),
        "",
      ],
    );
  }
});

Deno.test("scripts/deno: the Deno on PATH is taken from 2.9.0 on", async () => {
  for (
    const [version, taken] of [
      ["2.9.0", true],
      ["2.10.1", true],
      ["3.0.0", true],
      ["2.9.0-rc.1", true],
      ["2.8.9", false],
      ["1.46.3", false],
      ["broken", false],
    ] as const
  ) {
    await using sandbox = await Sandbox.make();
    await sandbox.tellingDeno("bin/deno", version);
    const { code, stdout, stderr } = await sandbox.deno(["lint"], {});
    if (taken) {
      assertEquals(stdout.split("\n")[0], `deno ${version}`);
    } else {
      assertEquals([version, code, stdout], [version, 1, ""]);
      // There is no npm in the sandbox.
      assertMatch(stderr, /^sparkts: needs Deno 2\.9 or later [^\n]*\n$/);
    }
  }
});

/** An npm that installs the telling Deno that stands beside it. */
const NPM = `#!/bin/sh
echo "$*" >>"@FOLDER@/npm.log"
for argument in "$@"; do
  [ "\${before:-}" != --prefix ] || prefix=$argument
  before=$argument
done
package=\${argument%@*}
mkdir -p "$prefix/node_modules/$package"
cp "@FOLDER@/deno-of-npm" "$prefix/node_modules/$package/deno"
`;

Deno.test({
  name:
    "scripts/deno: without a Deno on PATH the pinned one is installed once, by first runs at the same time too",
  ignore: !["x86_64", "aarch64"].includes(Deno.build.arch),
  fn: async () => {
    await using sandbox = await Sandbox.make();
    await sandbox.tellingDeno("deno-of-npm", "2.9.6");
    await sandbox.program(
      "bin/npm",
      NPM.replaceAll("@FOLDER@", sandbox.folder),
    );
    const runs = await Promise.all(
      [1, 2, 3].map(() => sandbox.deno(["lint"], {})),
    );
    for (const { code, stdout, stderr } of runs) {
      assertEquals([code, stdout.split("\n")[0]], [0, "deno 2.9.6"], stderr);
    }
    const log = () => Deno.readTextFile(sandbox.path("npm.log"));
    const asked = await log();
    assertMatch(
      asked,
      /--ignore-scripts .*@deno\/(linux|darwin)-(x64|arm64)(-glibc)?@2\.9\.6\n/,
    );
    const { stdout, stderr } = await sandbox.deno(["lint"], {});
    assertEquals([stdout.split("\n")[0], stderr], ["deno 2.9.6", ""]);
    assertEquals(await log(), asked);
    assertEquals(
      [...Deno.readDirSync(sandbox.path("home/.cache/sparkts"))]
        .map(({ name }) => name),
      ["deno-2.9.6"],
    );
  },
});

Deno.test("scripts/deno: what cannot be had is said in one line", async () => {
  await using sandbox = await Sandbox.make();
  const missing = await sandbox.deno(["lint"], { SPARKTS_DENO: "/nowhere" });
  assertEquals(missing, {
    code: 1,
    stdout: "",
    stderr: "sparkts: SPARKTS_DENO names /nowhere, which cannot be run\n",
  });

  const neither = await sandbox.deno(["lint"], {});
  assertEquals(neither.code, 1);
  assertMatch(neither.stderr, /^sparkts: needs Deno [^\n]* or npm [^\n]*\n$/);

  await sandbox.program("bin/npm", "#!/bin/sh\nexit 1\n");
  const failing = await sandbox.deno(["lint"], {});
  assertEquals(failing.code, 1);
  assertMatch(failing.stderr, /\nsparkts: npm could not install [^\n]*\n$/);
  assertEquals(
    [...Deno.readDirSync(sandbox.path("home/.cache/sparkts"))],
    [],
  );
});

Deno.test("scripts/sparkts: works through links from any folder, and passes arguments on whole", async () => {
  await using sandbox = await Sandbox.make();
  const app = sandbox.path("app");
  await Deno.symlink("../app/scripts/sparkts", sandbox.path("home/one"));
  await Deno.symlink("one", sandbox.path("home/two"));
  const { stdout } = await sandbox.run(
    sandbox.path("home/two"),
    ["submit", "my app.ts", "", "*"],
    {
      SPARKTS_DENO: await sandbox.tellingDeno("deno", "2.9.6"),
      SPARKTS_IMPORTS: "jsr",
    },
  );
  assertEquals(
    stdout,
    told(
      app,
      "jsr",
      ..."run -A --quiet".split(" "),
      `${app}/main.ts`,
      ...["submit", "my app.ts", "", "*"],
    ),
  );
  assert(stdout.includes("<my app.ts>\n<>\n<*>"));
});
