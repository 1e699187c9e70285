import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { BlockCache } from "../../lib/executor/block_cache.ts";
import { executorConf } from "../../lib/executor/bootstrap.ts";
import { threadHeap } from "../../lib/executor/executor.ts";
import {
  executorAttributes,
  executorLogUrls,
} from "../../lib/executor/log_urls.ts";
import {
  removeShuffleFiles,
  shuffleFileName,
  shuffleStreamId,
  shuffleStreams,
} from "../../lib/executor/shuffle_files.ts";

Deno.test("executor settings: the driver's win, but those needed to start only fill what is missing", () => {
  const given = new SparkConf();
  given.set("spark.rpc.askTimeout", "1s");
  given.set("spark.task.cpus", "1");
  const conf = executorConf(
    [
      ["spark.rpc.askTimeout", "2s"],
      ["spark.network.timeout", "3s"],
      ["spark.task.cpus", "4"],
      ["spark.app.id", "wrong"],
    ],
    "app-1",
    "7",
    given,
  );
  const settings = new Map(conf.entries());
  assertEquals(settings.get("spark.rpc.askTimeout"), "1s");
  assertEquals(settings.get("spark.network.timeout"), "3s");
  assertEquals(settings.get("spark.task.cpus"), "4");
  assertEquals(settings.get("spark.app.id"), "app-1");
  assertEquals(settings.get("spark.executor.id"), "7");
  assertEquals(new Map(given.entries()).has("spark.executor.id"), false);
});

Deno.test("executor: the threads share what cached partitions leave, and each has a least heap", () => {
  assertEquals(threadHeap(1024, 2, 0.5), 256);
  assertEquals(threadHeap(1000, 3, 0.25), 250);
  assertEquals(threadHeap(100, 4, 0.5), 64);
});

Deno.test("block cache: what was used longest ago goes first, and never the same data set's", () => {
  const cache = new BlockCache(10);
  const block = (size: number) => [new Uint8Array(size)];
  assertEquals(cache.put(1, 0, block(4)), true);
  assertEquals(cache.put(2, 0, block(4)), true);
  cache.get(1, 0);
  assertEquals(cache.put(3, 0, block(4)), true);
  assertEquals(cache.get(2, 0), undefined);
  assertEquals(cache.get(1, 0)?.[0].length, 4);
  assertEquals(cache.put(3, 1, block(4)), true);
  assertEquals(cache.get(1, 0), undefined);
  assertEquals(cache.put(3, 2, block(4)), false);
  assertEquals(cache.size, 8);
});

Deno.test("block cache: nothing goes for a block that would not fit even then", () => {
  const cache = new BlockCache(10);
  cache.put(1, 0, [new Uint8Array(5)]);
  assertEquals(cache.put(2, 0, [new Uint8Array(11)]), false);
  assertEquals(cache.get(1, 0)?.length, 1);
  assertEquals(cache.size, 5);
});

Deno.test("block cache: its size is that of its blocks, and never above the limit", () => {
  fc.assert(fc.property(
    fc.array(fc.tuple(fc.nat(2), fc.nat(3), fc.nat(40)), { size: "large" }),
    (puts) => {
      const cache = new BlockCache(100);
      for (const [rdd, partition, size] of puts) {
        cache.put(rdd, partition, [new Uint8Array(size)]);
        let sum = 0;
        for (let r = 0; r < 3; r++) {
          for (let p = 0; p < 4; p++) {
            sum += cache.get(r, p)?.[0].length ?? 0;
          }
        }
        assertEquals(sum, cache.size);
        assertEquals(cache.size <= 100, true);
      }
    },
  ));
});

Deno.test("shuffle files: a segment of a file is served by the name that the path ends with", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const context = {
      stageId: 1,
      stageAttempt: 0,
      partition: 3,
      attempt: 0,
      taskId: 9,
    };
    const path = `${directory}/${shuffleFileName(2, context)}`;
    await Deno.writeFile(path, new Uint8Array([0, 1, 2, 3, 4, 5]));
    const serve = shuffleStreams(directory);
    const id = shuffleStreamId(path, { offset: 2, length: 3 });
    assertEquals(id, "/shuffle/shuffle_2_3_9.data/2/3");
    const source = serve(id)!;
    assertEquals(source.byteCount, 3);
    const bytes: number[] = [];
    for await (const chunk of source.read()) bytes.push(...chunk);
    assertEquals(bytes, [2, 3, 4]);
    assertEquals(
      serve(shuffleStreamId(path, { offset: 4, length: 3 })),
      undefined,
    );
    await removeShuffleFiles(directory, 22);
    assertEquals(serve(id)?.byteCount, 3);
    await removeShuffleFiles(directory, 2);
    assertEquals(serve(id), undefined);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("shuffle files: nothing outside of the directory and no other file is served", async () => {
  const root = await Deno.makeTempDir();
  try {
    const directory = `${root}/inside`;
    await Deno.mkdir(directory);
    await Deno.writeTextFile(`${root}/shuffle_0_0_0.data`, "secret");
    await Deno.writeTextFile(`${directory}/other.data`, "secret");
    const serve = shuffleStreams(directory);
    for (
      const id of [
        "/shuffle/../shuffle_0_0_0.data/0/1",
        "/shuffle/..%2fshuffle_0_0_0.data/0/1",
        "/shuffle/shuffle_0_0_0.data/0/1",
        "/shuffle/other.data/0/1",
        "/shuffle/shuffle_0_0_0.data/-1/1",
        "/shuffle/shuffle_0_0_0.data/0",
        "/shuffle/shuffle_0_0_0.data\0/0/1",
        "/shuffle//etc/passwd/0/1",
        "shuffle_0_0_0.data/0/1",
        "/other/shuffle_0_0_0.data/0/1",
      ]
    ) assertEquals(serve(id), undefined, id);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

// [main] SPARK_LOG_URL_X → log url "x", SPARK_EXECUTOR_ATTRIBUTE_X → attribute "X"
Deno.test("executor: log urls and attributes come from its environment", () => {
  const environment = {
    SPARK_LOG_URL_STDOUT: "http://out",
    SPARK_LOG_URL_STDERR: "http://err",
    SPARK_EXECUTOR_ATTRIBUTE_zone: "z",
    PATH: "/bin",
  };
  assertEquals(executorLogUrls(environment), {
    stdout: "http://out",
    stderr: "http://err",
  });
  assertEquals(executorAttributes(environment), { ZONE: "z" });
});
