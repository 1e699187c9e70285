import { assert, assertEquals, assertRejects } from "@std/assert";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { setLogSink } from "../../lib/log.ts";
import {
  configuredLocalDirs,
  createDirectory,
  createLocalDirectory,
  getOrCreateLocalRootDirs,
  LocalDirsError,
} from "../../lib/process/local_dirs.ts";
import { withTempDir } from "./harness.ts";

const environment = (values: Record<string, string>) => (name: string) =>
  values[name];

Deno.test("local dirs: SPARK_EXECUTOR_DIRS, SPARK_LOCAL_DIRS, spark.local.dir, the temporary directory", () => {
  const conf = new SparkConf({ "spark.local.dir": "/c, /d" });
  const both = { SPARK_EXECUTOR_DIRS: "/x:/y", SPARK_LOCAL_DIRS: "/a,/b" };
  assertEquals(configuredLocalDirs(conf, environment(both)), ["/x", "/y"]);
  assertEquals(
    configuredLocalDirs(conf, environment({ SPARK_LOCAL_DIRS: "/a,/b" })),
    ["/a", "/b"],
  );
  assertEquals(configuredLocalDirs(conf, environment({})), ["/c", "/d"]);
  assertEquals(configuredLocalDirs(new SparkConf(), environment({})), [
    tmpdir(),
  ]);
});

Deno.test("local dirs: a directory is made that is the owner's alone", async () => {
  await withTempDir(async (dir) => {
    const root = join(dir, "missing", "too");
    const made = await createDirectory(root, "executor");
    assertEquals(dirname(made), root);
    assert(basename(made).startsWith("executor-"));
    assertEquals((await Deno.stat(made)).mode! & 0o777, 0o700);
    assert(await createDirectory(root, "executor") !== made);
  });
});

Deno.test("local dirs: a root that can't be used is skipped with a warning", async () => {
  await withTempDir(async (dir) => {
    const file = join(dir, "file");
    await Deno.writeTextFile(file, "");
    const lines: string[] = [];
    const restore = setLogSink((line) => lines.push(line));
    try {
      const dirs = await getOrCreateLocalRootDirs(new SparkConf(), {
        env: environment({ SPARK_LOCAL_DIRS: `${file},${dir}/good` }),
      });
      assertEquals(dirs.map(dirname), [`${dir}/good`]);
      assertEquals(lines.length, 1);
      assert(
        lines[0].includes(`WARN Utils: Ignoring the local directory ${file}`),
      );
    } finally {
      restore();
    }
  });
});

Deno.test("local dirs: no usable root at all is an error", async () => {
  await withTempDir(async (dir) => {
    const file = join(dir, "file");
    await Deno.writeTextFile(file, "");
    const restore = setLogSink(() => {});
    try {
      await assertRejects(
        () =>
          getOrCreateLocalRootDirs(new SparkConf(), {
            env: environment({ SPARK_LOCAL_DIRS: `${file},${file}/below` }),
          }),
        LocalDirsError,
        `No subfolder can be created in ${file},${file}/below`,
      );
    } finally {
      restore();
    }
  });
});

Deno.test("local dirs: one directory is made in the first root that can be used", async () => {
  await withTempDir(async (dir) => {
    const file = join(dir, "file");
    await Deno.writeTextFile(file, "");
    const lines: string[] = [];
    const restore = setLogSink((line) => lines.push(line));
    try {
      const made = await createLocalDirectory(new SparkConf(), "blockmgr", {
        env: environment({ SPARK_LOCAL_DIRS: `${file},${dir}/a,${dir}/b` }),
      });
      assertEquals(dirname(made), join(dir, "a"));
      assertEquals([...Deno.readDirSync(dir)].length, 2);
      assertEquals(lines.length, 1);
      await assertRejects(
        () =>
          createLocalDirectory(new SparkConf(), "blockmgr", {
            env: environment({ SPARK_LOCAL_DIRS: file }),
          }),
        LocalDirsError,
      );
    } finally {
      restore();
    }
  });
});
