import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { gzipSync } from "node:zlib";
import {
  JobCancelledError,
  JobFailedError,
} from "../../lib/driver/job_errors.ts";
import { localContext } from "./local_context.ts";

/** Values that JSON would lose or change, and how to tell that they are whole. */
const VALUES: readonly unknown[] = [
  undefined,
  null,
  NaN,
  -0,
  Infinity,
  12345678901234567890n,
  "lone \ud800 surrogate",
  "",
  new Date(0),
  new Map([["a", new Set([1, undefined])]]),
  new Uint8Array([1, 2, 255]),
  new Float64Array([NaN, -0]),
  /x/gi,
  { a: undefined, b: [NaN, { c: -0 }] },
  [],
];

Deno.test("rdd: values of all kinds survive collect, shuffle, cache, broadcast and capture", async () => {
  await using context = await localContext();
  const { sc } = context;
  const values = VALUES;
  const rdd = sc.parallelize(values, 4);
  assertEquals(await rdd.collect(), values);
  assert(Object.is((await rdd.collect())[3], -0));
  assertEquals(await rdd.map((value) => value).collect(), values);
  const numbered = sc.range(0, values.length, { numPartitions: 3 })
    .map((i): [number, unknown] => [i, values[i]]);
  assertEquals(
    await numbered.sortBy(([i]) => i).values().collect(),
    values,
  );
  const grouped = await numbered.groupByKey(2).collect();
  assertEquals(
    grouped.sort(([a], [b]) => a - b).map(([, [value]]) => value),
    values,
  );
  const cached = rdd.map((value) => value).cache();
  assertEquals(await cached.collect(), values);
  assertEquals(await cached.collect(), values);
  const broadcast = sc.broadcast(values);
  const back = await sc.range(0, values.length, { numPartitions: 2 })
    .map((i) => broadcast.value[i]).collect();
  assertEquals(back, values);
});

Deno.test("rdd: a cached data set is computed once, also when take read a part of it before", async () => {
  await using context = await localContext();
  const { sc } = context;
  const computed = sc.accumulator(0);
  const rdd = sc.range(0, 5000, { numPartitions: 2 }).map((x) => {
    computed.add(1);
    return x;
  }).cache();
  assertEquals(await rdd.take(2), [0, 1]);
  const partly = computed.value;
  assert(partly > 0 && partly < 5000, `${partly}`);
  for (let i = 0; i < 3; i++) assertEquals(await rdd.count(), 5000);
  assertEquals(computed.value, partly + 5000);
  assertEquals(await rdd.map((x) => x * 2).take(1), [0]);
  assertEquals(computed.value, partly + 5000);
});

Deno.test("rdd: accumulators count once for each partition, also when a task is retried", async () => {
  await using context = await localContext();
  const { sc, directory } = context;
  const sum = sc.accumulator(0);
  const big = sc.accumulator(0n);
  const list = sc.collectionAccumulator<string>();
  const marker = `${directory}/failed`;
  await sc.range(0, 4, { numPartitions: 2 }).foreach((x) => {
    sum.add(x);
    big.add(BigInt(x));
    list.add(`${x}`);
    if (x === 3 && !exists(marker)) {
      Deno.writeTextFileSync(marker, "");
      throw new Error("the first try fails");
    }
  });
  assertEquals([sum.value, big.value], [6, 6n]);
  assertEquals(list.value.toSorted(), ["0", "1", "2", "3"]);
  // A shuffle that is written once counts once, however often it is read.
  const pairs = sc.range(3).map((x): [number, number] => {
    sum.add(100);
    return [x, x];
  }).reduceByKey((a, b) => a + b);
  await pairs.count();
  await pairs.collect();
  assertEquals(sum.value, 306);
});

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

Deno.test("rdd: a task that throws fails the job with its message and the line of the application", async () => {
  await using context = await localContext();
  const { sc } = context;
  const error = await assertRejects(
    () =>
      sc.range(4).map((x) => {
        if (x === 2) throw new RangeError("two is too much");
        return x;
      }).collect(),
    JobFailedError,
  );
  assert(error.message.includes("failed 4 times, most recent failure"));
  assert(error.message.includes("RangeError: two is too much"), error.message);
  const here = import.meta.url.slice(import.meta.url.lastIndexOf("/") + 1);
  const line = Deno.readTextFileSync(new URL(import.meta.url))
    .split("\n").findIndex((text) => text.includes("x === 2) throw")) + 1;
  assert(error.message.includes(`${here}:${line}`), error.message);
  // What is thrown need be no error.
  const text = await assertRejects(
    () =>
      sc.range(1).foreach(() => {
        throw "just text";
      }),
    JobFailedError,
  );
  assert(text.message.includes("just text"), text.message);
  assertEquals(await sc.range(3).count(), 3);
});

Deno.test("rdd: jobs of one context run at the same time and do not mix", async () => {
  await using context = await localContext();
  const { sc } = context;
  const shared = sc.range(0, 100, { numPartitions: 4 })
    .map((x): [number, number] => [x % 5, x]).reduceByKey((a, b) => a + b, 3);
  const results = await Promise.all([
    ...Array.from(
      { length: 8 },
      (_, i) => sc.range(50).map((x) => x + i).reduce((a, b) => a + b),
    ),
    shared.values().reduce((a, b) => a + b),
    shared.count(),
    assertRejects(() =>
      sc.range(2).foreach(() => {
        throw new Error("only this one");
      })
    ).then(() => -1),
  ]);
  assertEquals(results, [
    ...Array.from({ length: 8 }, (_, i) => 1225 + 50 * i),
    4950,
    5,
    -1,
  ]);
});

Deno.test("rdd: 100,000 records come back in order", async () => {
  await using context = await localContext();
  const { sc } = context;
  const all = await sc.range(100_000).map((x) => ({ x, text: `t${x}` }))
    .collect();
  assertEquals(all.length, 100_000);
  assert(all.every(({ x, text }, i) => x === i && text === `t${i}`));
});

Deno.test("rdd: results above spark.driver.maxResultSize fail the job and not the context", async () => {
  await using context = await localContext({
    "spark.driver.maxResultSize": "10k",
  });
  const { sc } = context;
  await assertRejects(
    () => sc.range(10_000).collect(),
    JobFailedError,
    "is bigger than spark.driver.maxResultSize (10240 bytes)",
  );
  assertEquals(await sc.range(10_000).count(), 10_000);
});

Deno.test("rdd: a task that runs out of memory fails, and the context goes on", async () => {
  await using context = await localContext({
    "spark.executor.memory": "128m",
    "spark.task.maxFailures": "1",
  });
  const { sc } = context;
  const error = await assertRejects(
    () =>
      sc.range(0, 1, { numPartitions: 1 }).map(() => {
        // Bounded, in case the limit does not hold.
        const all: string[][] = [];
        for (let i = 0; i < 5_000_000; i++) all.push([`text ${i}`, `x ${i}`]);
        return all.length;
      }).count(),
    JobFailedError,
  );
  assert(error.message.includes("ran out of memory"), error.message);
  assertEquals(await sc.range(10).count(), 10);
});

Deno.test("rdd: a task that ends its thread fails like any other", async () => {
  await using context = await localContext({ "spark.task.maxFailures": "2" });
  const { sc } = context;
  const error = await assertRejects(
    () => sc.range(1).foreach(() => Deno.exit(3)),
    JobFailedError,
  );
  assert(error.message.includes("failed 2 times"), error.message);
  assertEquals(await sc.range(10).count(), 10);
});

Deno.test("rdd: stop ends a task that would never end, and its job", async () => {
  await using context = await localContext();
  const { sc, directory } = context;
  const marker = `${directory}/runs`;
  const job = sc.range(2).foreach(() => {
    Deno.writeTextFileSync(marker, "");
    for (;;);
  });
  job.catch(() => {});
  while (!exists(marker)) await new Promise((next) => setTimeout(next, 5));
  await sc.stop();
  const error = await assertRejects(() => job, JobCancelledError);
  assertEquals(error.message, "SparkContext was shut down");
  await assertRejects(() => sc.range(2).count(), JobCancelledError);
});

Deno.test("rdd: closures take along what they refer to, and what can't travel is refused by name", async () => {
  await using context = await localContext();
  const { sc } = context;
  const factor = 3;
  const helper = (x: number) => x * factor;
  const lookup = new Map([[3, "three"]]);
  const texts = await sc.range(3).map((x) => lookup.get(helper(x)) ?? "?")
    .collect();
  assertEquals(texts, ["?", "three", "?"]);
  const rdd = sc.range(2);
  const token = Symbol("token");
  for (
    const [job, what] of [
      [() => sc.range(1).map(() => sc.appName).count(), "SparkContext"],
      [() => sc.range(1).map(() => rdd.id).count(), "a data set"],
      [() => sc.range(1).map(() => String(token)).count(), "token"],
    ] as const
  ) {
    const error = await assertRejects(job, Error);
    assertEquals(error.name, "ClosureCaptureError");
    assert(error.message.includes(what), error.message);
  }
  assertEquals(await rdd.count(), 2);
});

Deno.test("rdd: a broadcast is as it was, can be destroyed, and one that can't travel fails only its jobs", async () => {
  await using context = await localContext();
  const { sc } = context;
  const value = { list: [1, 2, 3], double: (x: number) => 2 * x };
  const broadcast = sc.broadcast(value);
  const sum = sc.range(3).map((i) =>
    broadcast.value.double(broadcast.value.list[i])
  );
  assertEquals(await sum.collect(), [2, 4, 6]);
  const broken = sc.broadcast({ timer: Symbol("no") });
  assertEquals(await sc.range(3).count(), 3);
  assertEquals(await sum.collect(), [2, 4, 6]);
  const refused = await assertRejects(
    () => sc.range(1).map(() => broken.value.timer.description).count(),
    Error,
  );
  assertEquals(refused.name, "ClosureCaptureError");
  assertEquals(await sc.range(3).count(), 3);
  broadcast.destroy();
  const error = await assertRejects(() => sum.collect(), Error);
  assert(error.message.includes("it was destroyed"), error.message);
  assertThrows(() => broadcast.value, Error, "it was destroyed");
});

Deno.test("rdd: text is read from files, directories, globs and gzip, and written as lines", async () => {
  await using context = await localContext();
  const { sc, directory } = context;
  Deno.mkdirSync(`${directory}/in`);
  Deno.writeTextFileSync(`${directory}/in/a.txt`, "a1\na2\r\na3");
  Deno.writeTextFileSync(`${directory}/in/b.log`, "b1\n\nb3\n");
  Deno.writeFileSync(`${directory}/in/c.gz`, gzipSync("c1\nc2\n"));
  const lines = async (path: string) => (await sc.textFile(path).collect());
  assertEquals(await lines(`${directory}/in/a.txt`), ["a1", "a2", "a3"]);
  assertEquals(await lines(`${directory}/in/*.log`), ["b1", "", "b3"]);
  assertEquals(await lines(`${directory}/in/c.gz`), ["c1", "c2"]);
  assertEquals((await lines(`${directory}/in`)).toSorted(), [
    "",
    "a1",
    "a2",
    "a3",
    "b1",
    "b3",
    "c1",
    "c2",
  ]);
  const words = sc.textFile(`${directory}/in`).filter((line) => line !== "")
    .map((line): [string, number] => [line[0], 1])
    .reduceByKey((a, b) => a + b).sortBy(([key]) => key, { numPartitions: 2 })
    .map(([key, count]) => `${key} ${count}`);
  await words.saveAsTextFile(`${directory}/out`);
  assertEquals(await lines(`${directory}/out`), ["a 3", "b 2", "c 2"]);
  assert(exists(`${directory}/out/_SUCCESS`));
  const error = await assertRejects(
    () => words.saveAsTextFile(`${directory}/out`),
    Error,
  );
  assertEquals(error.name, "OutputExistsError");
  assertThrows(() => sc.textFile(`${directory}/none`), Error, "none");
});

Deno.test("rdd: a job that failed half way leaves no output", async () => {
  await using context = await localContext({ "spark.task.maxFailures": "1" });
  const { sc, directory } = context;
  const failing = sc.range(0, 4, { numPartitions: 4 }).map((x) => {
    if (x === 3) throw new Error("no");
    return x;
  });
  await assertRejects(() => failing.saveAsTextFile(`${directory}/out`));
  assert(!exists(`${directory}/out/_SUCCESS`));
  await sc.range(3).saveAsTextFile(`${directory}/out2`);
  assertEquals(await sc.textFile(`${directory}/out2`).count(), 3);
});
