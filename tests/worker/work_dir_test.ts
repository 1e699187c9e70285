import { assert, assertEquals, assertRejects } from "@std/assert";
import { dirname, join } from "node:path";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { LocalDirsError } from "../../lib/process/local_dirs.ts";
import { setLogSink } from "../../lib/log.ts";
import { AppLocalDirs } from "../../lib/worker/app_local_dirs.ts";
import {
  cleanWorkDir,
  createExecutorDir,
  WorkDirError,
} from "../../lib/worker/work_dir.ts";
import { withTempDir } from "../process/harness.ts";

const NOW = Date.UTC(2026, 10, 30);
const TTL = 60_000;

async function namesIn(dir: string): Promise<string[]> {
  const names = [];
  for await (const { name } of Deno.readDir(dir)) names.push(name);
  return names.sort();
}

/** Makes a file, or a directory when it ends with a slash, of a given age. */
async function make(path: string, age: number): Promise<void> {
  await Deno.mkdir(path.endsWith("/") ? path : dirname(path), {
    recursive: true,
  });
  if (!path.endsWith("/")) await Deno.writeTextFile(path, "");
  const time = new Date(NOW - age);
  await Deno.utime(path, time, time);
}

Deno.test("work dir: an executor gets a directory that nobody had", async () => {
  await withTempDir(async (work) => {
    const path = await createExecutorDir(work, "app-1", 0);
    assertEquals(path, join(work, "app-1", "0"));
    assert((await Deno.stat(path)).isDirectory);
    await createExecutorDir(work, "app-1", 1);
    await assertRejects(
      () => createExecutorDir(work, "app-1", 0),
      WorkDirError,
      `Failed to create directory ${path}`,
    );
  });
});

Deno.test("work dir: an application's id can't lead out of it", async () => {
  await withTempDir(async (work) => {
    for (const id of ["..", ".", "", "a/b", "../x", "a\0b"]) {
      await assertRejects(() => createExecutorDir(work, id, 0), WorkDirError);
    }
    assertEquals(await namesIn(work), []);
  });
});

// WorkerSuite
Deno.test("work dir: old directories of applications that don't run go, and no others", async () => {
  await withTempDir(async (work) => {
    await make(join(work, "old/0/stdout"), 120_000);
    await make(join(work, "old/0/"), 120_000);
    await make(join(work, "running/0/stdout"), 120_000);
    await make(join(work, "running/0/"), 120_000);
    await make(join(work, "young/0/deep/down/stdout"), 1_000);
    for (const dir of ["0/deep/down/", "0/deep/", "0/"]) {
      await make(join(work, "young", dir), 120_000);
    }
    await make(join(work, "empty/"), 1_000);
    await make(join(work, "file"), 120_000);
    await cleanWorkDir(work, {
      isRunning: (app) => app === "running",
      ttl: TTL,
      now: NOW,
    });
    assertEquals(await namesIn(work), ["file", "running", "young"]);
  });
});

Deno.test("work dir: an application that starts during the clean-up keeps its directory", async () => {
  await withTempDir(async (work) => {
    await make(join(work, "app/"), 120_000);
    let asked = 0;
    await cleanWorkDir(work, {
      isRunning: () => asked++ > 0,
      ttl: TTL,
      now: NOW,
    });
    assertEquals(await namesIn(work), ["app"]);
  });
});

Deno.test("work dir: what is linked to isn't followed", async () => {
  await withTempDir(async (dir) => {
    const work = join(dir, "work");
    await make(join(dir, "precious", "file"), 120_000);
    await make(join(work, "app/0/stdout"), 120_000);
    await Deno.symlink(join(dir, "precious"), join(work, "app/0/link"));
    await make(join(work, "app/0/"), 120_000);
    await cleanWorkDir(work, {
      isRunning: () => false,
      ttl: TTL,
      now: Date.now() + 120_000, // the link itself was made just now
    });
    assertEquals(await namesIn(work), []);
    assertEquals(await namesIn(join(dir, "precious")), ["file"]);
  });
});

Deno.test("local dirs: an application's are made once, below each root, and go with it", async () => {
  await withTempDir(async (dir) => {
    const roots = [join(dir, "a"), join(dir, "b")];
    const conf = new SparkConf({ "spark.local.dir": roots.join(",") });
    const dirs = new AppLocalDirs(conf);
    const [first, again] = await Promise.all([
      dirs.get("app-1"),
      dirs.get("app-1"),
    ]);
    assertEquals(first, again);
    assertEquals(first.map((path) => dirname(dirname(path))), roots);
    const other = await dirs.get("app-2");
    assertEquals(other.map(dirname), first.map(dirname));
    await Deno.writeTextFile(join(first[0], "shuffle_0_0_0.data"), "");
    await dirs.remove("app-1");
    assertEquals(await namesIn(dirname(first[0])), [
      other[0].slice(dirname(other[0]).length + 1),
    ]);
    await dirs.close();
    assertEquals(await namesIn(roots[0]), []);
  });
});

Deno.test("local dirs: roots that can't be made are tried again by the next executor", async () => {
  await withTempDir(async (dir) => {
    const root = join(dir, "root");
    await Deno.writeTextFile(root, "");
    const restore = setLogSink(() => {});
    try {
      const dirs = new AppLocalDirs(new SparkConf({ "spark.local.dir": root }));
      await assertRejects(() => dirs.get("app-1"), LocalDirsError);
      await Deno.remove(root);
      assertEquals((await dirs.get("app-1")).length, 1);
      await dirs.close();
    } finally {
      restore();
    }
  });
});
