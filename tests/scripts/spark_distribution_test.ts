import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Outcome, Sandbox } from "./sandbox.ts";

/**
 * A python3 whose pip knows two versions of pyspark, of which 9.0.0 has no jars, and notes
 * what it was asked. Where a file `together` holds a number it installs only once so many
 * installs have begun.
 */
const PYTHON = `#!/bin/sh
cd "@FOLDER@" || exit 1
case $* in
  -V) echo "Python 3.99.0"; exit ;;
  "-m pip --version") echo "pip 99.0"; exit ;;
esac
echo "$*" >>asked
for argument in "$@"; do
  [ "\${before:-}" != --target ] || folder=$argument
  before=$argument
done
case $argument in
  pyspark==3.5.9 | pyspark==9.0.0) ;;
  pyspark==6.6.6)
    echo "ERROR: the disk is full" >&2
    exit 1
    ;;
  *)
    echo "ERROR: Could not find a version (from versions: \${VERSIONS-3.5.9, 9.0.0})" >&2
    echo "ERROR: No matching distribution found for $argument" >&2
    exit 1
    ;;
esac
mkdir -p "$folder/pyspark/bin" "$folder/pyspark/jars" "$folder/bin"
while [ -f together ] && [ "$(wc -l <asked)" -lt "$(cat together)" ]; do :; done
echo submit >"$folder/pyspark/bin/spark-submit"
case $argument in *3.5.9) echo >"$folder/pyspark/jars/spark-core_2.12-3.5.9.jar" ;; esac
`;

async function sandboxWithPip(): Promise<Sandbox> {
  const sandbox = await Sandbox.make();
  const name = "scripts/spark-distribution";
  await Deno.copyFile(
    new URL(`../../${name}`, import.meta.url),
    sandbox.path(`app/${name}`),
  );
  await sandbox.program(
    "bin/python3",
    PYTHON.replaceAll("@FOLDER@", sandbox.folder),
  );
  return sandbox;
}

function fetchSpark(
  sandbox: Sandbox,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  return sandbox.run(sandbox.path("app/scripts/spark-distribution"), args, env);
}

/** What is in the cache, and no more: nothing half-done, either. */
function cached(sandbox: Sandbox, cache = "home/.cache"): string[] {
  return [...Deno.readDirSync(sandbox.path(`${cache}/sparkts`))]
    .map(({ name }) => name);
}

Deno.test("scripts/spark-distribution: a release is fetched once, and its folder printed each time", async () => {
  await using sandbox = await sandboxWithPip();
  const home = sandbox.path("home/.cache/sparkts/spark-3.5.9");
  const first = await fetchSpark(sandbox, ["3.5.9"]);
  assertEquals([first.code, first.stdout], [0, `${home}\n`]);
  assertMatch(
    first.stderr,
    /^spark-distribution: fetching Spark 3\.5\.9 .*\n$/,
  );
  assertEquals(await Deno.readTextFile(`${home}/bin/spark-submit`), "submit\n");
  assertEquals(cached(sandbox), ["spark-3.5.9"]);
  const asked = await Deno.readTextFile(sandbox.path("asked"));
  assertMatch(asked, /^-m pip install .*--no-deps.* pyspark==3\.5\.9\n$/);

  const second = await fetchSpark(sandbox, ["3.5.9"]);
  assertEquals(second, { code: 0, stdout: `${home}\n`, stderr: "" });
  assertEquals(await Deno.readTextFile(sandbox.path("asked")), asked);
});

Deno.test("scripts/spark-distribution: first runs at the same time all end with the one folder", async () => {
  await using sandbox = await sandboxWithPip();
  await Deno.writeTextFile(sandbox.path("together"), "4");
  const env = { XDG_CACHE_HOME: sandbox.path("home/other") };
  const home = sandbox.path("home/other/sparkts/spark-3.5.9");
  const runs = await Promise.all(
    [1, 2, 3, 4].map(() => fetchSpark(sandbox, ["3.5.9"], env)),
  );
  for (const { code, stdout, stderr } of runs) {
    assertEquals([code, stdout], [0, `${home}\n`], stderr);
  }
  assertEquals(cached(sandbox, "home/other"), ["spark-3.5.9"]);
  assertEquals(
    [...Deno.readDirSync(home)].map(({ name }) => name).sort(),
    ["bin", "jars"],
  );
});

Deno.test("scripts/spark-distribution: a version that pip doesn't find is said in one line", async () => {
  await using sandbox = await sandboxWithPip();
  const { code, stdout, stderr } = await fetchSpark(sandbox, ["4.9.9"]);
  assertEquals([code, stdout], [1, ""]);
  assertEquals(stderr.split("\n").slice(1), [
    "spark-distribution: pip finds no pyspark 4.9.9 for this python3 (Python 3.99.0)",
    "",
  ]);
  assertEquals(cached(sandbox), []);
});

Deno.test("scripts/spark-distribution: what else pip has to say is shown", async () => {
  await using sandbox = await sandboxWithPip();
  const full = await fetchSpark(sandbox, ["6.6.6"]);
  assertEquals(full.code, 1);
  assertStringIncludes(
    full.stderr,
    "ERROR: the disk is full\nspark-distribution: pip could not fetch pyspark 6.6.6",
  );
  // No index was reached: that isn't for want of this version.
  const alone = await fetchSpark(sandbox, ["4.9.9"], { VERSIONS: "none" });
  assertEquals(alone.code, 1);
  assertStringIncludes(alone.stderr, "(from versions: none)\n");
  assertStringIncludes(alone.stderr, "pip could not fetch pyspark 4.9.9");
  const jarless = await fetchSpark(sandbox, ["9.0.0"]);
  assertEquals(jarless.code, 1);
  assertStringIncludes(
    jarless.stderr,
    "the package pyspark 9.0.0 has no jars of Spark in it\n",
  );
  assertEquals(cached(sandbox), []);
});

Deno.test("scripts/spark-distribution: without python3 or without pip it says what it needs", async () => {
  await using sandbox = await sandboxWithPip();
  const line =
    /^spark-distribution: needs python3 with pip to fetch Spark: [^\n]*\n$/;
  await sandbox.program("bin/python3", "#!/bin/sh\nexit 1\n");
  const noPip = await fetchSpark(sandbox, ["3.5.9"]);
  assertEquals([noPip.code, noPip.stdout], [1, ""]);
  assertMatch(noPip.stderr, line);
  await Deno.remove(sandbox.path("bin/python3"));
  assertEquals(await fetchSpark(sandbox, ["3.5.9"]), noPip);

  // What is there needs neither.
  const home = sandbox.path("home/.cache/sparkts/spark-3.5.9");
  await Deno.mkdir(`${home}/bin`, { recursive: true });
  const unfinished = await fetchSpark(sandbox, ["3.5.9"]);
  assertEquals(unfinished.code, 1);
  assertStringIncludes(unfinished.stderr, `${home} is no Spark: remove it`);
  await Deno.writeTextFile(`${home}/bin/spark-submit`, "");
  assertEquals(await fetchSpark(sandbox, ["3.5.9"]), {
    code: 0,
    stdout: `${home}\n`,
    stderr: "",
  });
});

Deno.test("scripts/spark-distribution: without a version, or with what is none, it tells its usage", async () => {
  await using sandbox = await sandboxWithPip();
  for (const args of [[], [""], [".."], ["4.3.0/x"], ["-v"], ["4.3.0", "x"]]) {
    assertEquals([args, await fetchSpark(sandbox, args)], [args, {
      code: 2,
      stdout: "",
      stderr: "usage: scripts/spark-distribution VERSION\n",
    }]);
  }
  const help = await fetchSpark(sandbox, ["--help"]);
  assertEquals([help.code, help.stderr], [0, ""]);
  assertStringIncludes(help.stdout, "scripts/spark-distribution VERSION");
  assertEquals((await fetchSpark(sandbox, ["4.3.0"], { HOME: "" })).code, 1);
});
