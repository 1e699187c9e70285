import { assert, assertEquals } from "@std/assert";
import { basename, join } from "node:path";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { setLogSink } from "../../lib/log.ts";
import {
  createFileAppender,
  FileAppender,
  type FileAppenderOptions,
} from "../../lib/process/file_appender.ts";
import { listRolledFiles } from "../../lib/process/rolled_files.ts";
import {
  SizeBasedRollingPolicy,
  TimeBasedRollingPolicy,
} from "../../lib/process/rolling_policy.ts";
import { spawnProcess } from "../../lib/process/spawn.ts";
import { textOf, until, withTempDir } from "./harness.ts";

type Chunk = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** A stream that gives these texts one by one. */
function streamOf(...texts: string[]): ReadableStream<Chunk> {
  return ReadableStream.from(texts.map((text) => encoder.encode(text)));
}

/** A stream that a test feeds, with what became of it. */
function openStream() {
  const { readable, writable } = new TransformStream<Chunk, Chunk>();
  const writer = writable.getWriter();
  return { readable, writer };
}

async function capturingLog(
  body: (lines: string[]) => Promise<void>,
): Promise<void> {
  const lines: string[] = [];
  const restore = setLogSink((line) => lines.push(line));
  try {
    await body(lines);
  } finally {
    restore();
  }
}

/** All that was ever written for a path, oldest first. */
async function wholeText(path: string): Promise<string> {
  let text = "";
  for (const file of [...await listRolledFiles(path), path]) {
    const { readable } = await Deno.open(file);
    const plain = file.endsWith(".gz")
      ? readable.pipeThrough(new DecompressionStream("gzip"))
      : readable;
    text += await new Response(plain).text();
  }
  return text;
}

// FileAppenderSuite
Deno.test("file appender: what the file held before stays", async () => {
  await withTempDir(async (dir) => {
    const path = join(dir, "stdout");
    await Deno.writeTextFile(path, "Add header");
    const numbers = Array.from({ length: 1_000 }, (_, i) => `${i + 1}`);
    const text = numbers.join(", ");
    await new FileAppender(streamOf(text), path).done;
    assertEquals(await Deno.readTextFile(path), "Add header" + text);
  });
});

// FileAppenderSuite
Deno.test("file appender: the settings choose how it rolls", async () => {
  const prefix = "spark.executor.logs.rolling.";
  const cases: [Record<string, string>, string, number?][] = [
    [{}, "none"],
    [{ strategy: "time" }, "time", 86_400_000],
    [{ strategy: "time", "time.interval": "daily" }, "time", 86_400_000],
    [{ strategy: "time", "time.interval": "hourly" }, "time", 3_600_000],
    [{ strategy: "time", "time.interval": "minutely" }, "time", 60_000],
    [
      { strategy: "time", "time.interval": "123456789" },
      "time",
      123_456_789_000,
    ],
    [{ strategy: "time", "time.interval": "xyz" }, "none"],
    [{ strategy: "size" }, "size", 1_048_576],
    [{ strategy: "size", maxSize: "123456789" }, "size", 123_456_789],
    [{ strategy: "size", maxSize: "1m" }, "none"],
    [{ maxSize: "xyz" }, "none"],
    [{ strategy: "xyz" }, "none"],
  ];
  await capturingLog(async () => {
    for (const [settings, rolling, limit] of cases) {
      const conf = new SparkConf(
        Object.entries(settings).map((
          [key, value],
        ): [string, string] => [prefix + key, value]),
      );
      const { readable } = openStream();
      const appender = createFileAppender(readable, "/nowhere/file", conf);
      await appender.stop();
      const { policy } = appender;
      assertEquals(appender.rolling, rolling, JSON.stringify(settings));
      assertEquals(
        policy instanceof TimeBasedRollingPolicy
          ? policy.interval
          : policy instanceof SizeBasedRollingPolicy
          ? policy.maxSize
          : undefined,
        limit,
        JSON.stringify(settings),
      );
    }
  });
});

// FileAppenderSuite (SPARK-35027)
Deno.test("file appender: stopping it closes the stream, however it rolls", async () => {
  await withTempDir(async (dir) => {
    for (const strategy of ["", "time", "size"]) {
      const { readable, writer } = openStream();
      const conf = new SparkConf({
        "spark.executor.logs.rolling.strategy": strategy,
      });
      const path = join(dir, `log${strategy}`);
      const appender = createFileAppender(readable, path, conf);
      writer.write(encoder.encode("line\n")).catch(() => {});
      await until(
        "the line is there",
        async () => await textOf(path) === "line\n",
      );
      let closed = false;
      writer.closed.catch(() => closed = true);
      await appender.stop();
      await until("the writer is told", () => closed);
    }
  });
});

for (const compress of [false, true]) {
  const how = compress ? "compressed" : "plain";

  // FileAppenderSuite
  Deno.test(`file appender: time rolling, ${how}, loses nothing`, async () => {
    await withTempDir(async (dir) => {
      const path = join(dir, "stdout");
      let now = Date.UTC(2026, 10, 30);
      const { readable, writer } = openStream();
      const options: FileAppenderOptions = {
        policy: new TimeBasedRollingPolicy(100, "second", now, {
          enforceMinimum: false,
        }),
        compress,
        clock: () => now,
      };
      const appender = new FileAppender(readable, path, options);
      let expected = "";
      for (let i = 0; i < 10; i++) {
        expected += `${i},`;
        await writer.write(encoder.encode(`${i},`));
        await until(
          `write ${i} is there`,
          async () => (await textOf(path)).endsWith(`${i},`),
        );
        now += 150;
      }
      await writer.close();
      await appender.done;
      const rolled = (await listRolledFiles(path)).map((f) => basename(f));
      assertEquals(rolled.length, 9);
      assertEquals(
        rolled.filter((name) => name.endsWith(".gz")).length,
        compress ? 9 : 0,
      );
      // Several within one second: the first has the plain name.
      assert(rolled.some((name) => /--\d\d-\d\d-\d\d--0(\.gz)?$/.test(name)));
      const whole = await wholeText(path);
      assertEquals(whole, expected);
    });
  });

  // FileAppenderSuite
  Deno.test(`file appender: size rolling, ${how}, keeps every file small`, async () => {
    await withTempDir(async (dir) => {
      const path = join(dir, "stdout");
      let now = Date.UTC(2026, 10, 30);
      const texts = ["a", "b", "c"].map((letter) => letter.repeat(1_000));
      const appender = new FileAppender(streamOf(...texts), path, {
        policy: new SizeBasedRollingPolicy(1_000, 0, { enforceMinimum: false }),
        bufferSize: 99,
        compress,
        clock: () => now++,
      });
      await appender.done;
      const files = await listRolledFiles(path);
      assertEquals(files.length, 2);
      for (const file of [...files, path]) {
        assert((await Deno.stat(file)).size <= 1_000);
      }
      assertEquals(await wholeText(path), texts.join(""));
    });
  });
}

// FileAppenderSuite
Deno.test("file appender: only the newest rolled files are kept", async () => {
  await withTempDir(async (dir) => {
    const path = join(dir, "stderr");
    await Deno.writeTextFile(join(dir, "stdout"), "not ours");
    let now = Date.UTC(2026, 10, 30);
    const texts = ["1", "2", "3", "4", "5", "6"].map((t) => t.repeat(10));
    await new FileAppender(streamOf(...texts), path, {
      policy: new SizeBasedRollingPolicy(10, 0, { enforceMinimum: false }),
      maxRetainedFiles: 2,
      clock: () => now++,
    }).done;
    assertEquals((await listRolledFiles(path)).length, 2);
    assertEquals(await wholeText(path), texts.slice(3).join(""));
    assertEquals(await textOf(join(dir, "stdout")), "not ours");
  });
});

// FileAppenderSuite
Deno.test("file appender: a stream that breaks is logged, unless it was stopped", async () => {
  await withTempDir(async (dir) => {
    await capturingLog(async (lines) => {
      const broken = new ReadableStream<Chunk>({
        pull: () => Promise.reject(new Error("Stream closed")),
      });
      await new FileAppender(broken, join(dir, "a")).done;
      assertEquals(lines.length, 1);
      assert(lines[0].includes("Stream closed"), lines[0]);

      const { promise, reject } = Promise.withResolvers<void>();
      let reading = false;
      const late = new ReadableStream<Chunk>({
        pull() {
          reading = true;
          return promise;
        },
      });
      const appender = new FileAppender(late, join(dir, "b"));
      await until("the stream is read", () => reading);
      const stopped = appender.stop();
      reject(new Error("Stream closed"));
      await stopped;
      assertEquals(lines.length, 1);
    });
  });
});

Deno.test("file appender: output that can't be written is dropped, counted, and doesn't stop the child", async () => {
  await withTempDir(async (dir) => {
    const folder = join(dir, "later");
    const path = join(folder, "stdout");
    await capturingLog(async (lines) => {
      const { readable, writer } = openStream();
      const appender = new FileAppender(readable, path);
      await writer.write(encoder.encode("lost, "));
      await writer.write(encoder.encode("lost, "));
      await until("the loss is logged", () => lines.length === 1);
      await Deno.mkdir(folder);
      await writer.write(encoder.encode("kept"));
      await writer.close();
      await appender.done;
      assertEquals(await textOf(path), "kept");
      assertEquals(lines.length, 2);
      assert(lines[1].includes("12 bytes of output"), lines[1]);
    });
  });
});

Deno.test("file appender: a child that floods its output is slowed to the pace of the file", async () => {
  await withTempDir(async (dir) => {
    // A FIFO takes no more than its buffer until somebody reads it: it stands
    // for a disk that is slow to take what it is given.
    const slow = join(dir, "slow");
    await new Deno.Command("mkfifo", { args: [slow] }).output();
    const note = join(dir, "note");
    const size = 32 * 2 ** 20;
    const child = spawnProcess({
      command: "sh",
      args: ["-c", `head -c ${size} /dev/zero; echo finished > ${note}`],
      stdout: "piped",
    });
    const appender = new FileAppender(child.stdout!, slow);
    const reader = await Deno.open(slow);
    const before = Deno.memoryUsage();
    await reader.read(new Uint8Array(1_024));
    // Were it buffered here, the child could write 32 MiB in this time.
    const start = performance.now();
    await until(
      "half a second has passed",
      () => performance.now() - start > 500,
    );
    const { external, heapUsed } = Deno.memoryUsage();
    assertEquals(await textOf(note), "");
    const grown = external + heapUsed - before.external - before.heapUsed;
    assert(grown < 8 * 2 ** 20, `${grown} bytes more are held`);
    let rest = 0;
    for await (const chunk of reader.readable) rest += chunk.length;
    await appender.done;
    assertEquals(rest, size - 1_024);
    await child.status;
    assertEquals(await textOf(note), "finished\n");
  });
});
