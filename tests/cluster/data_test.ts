import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { Cluster, lines } from "./harness.ts";

Deno.test("cluster: values keep their types through tasks, collect, broadcast and shuffles", async () => {
  await using cluster = await Cluster.start();
  const { code, stdout, stderr } = await cluster.submit([], "types.ts")
    .finished();
  assertEquals(code, 0, stderr);
  const ways = new Map(
    lines(stdout).map((line): [string, string[]] => {
      const [way] = line.split(" ", 1);
      return [way, line.slice(way.length + 1).split("; ")];
    }),
  );
  const expected = [
    'map=Map(["a",1],[{b:2},Set(3)])',
    'set=Set("x",undefined,NaN)',
    "date=Date(86400000)",
    "bigint=1180591620717411303424n",
    "negative bigint=-5n",
    "bytes=Uint8Array(0,255,7)",
    "floats=Float64Array(0.5,-0,NaN)",
    "undefined=undefined",
    "null=null",
    "NaN=NaN",
    "-0=-0",
    "infinity=-Infinity",
    'lone surrogate="a\\ud800b"',
    "nested=[{at:Date(1),of:[undefined,-0,Map([1n,2n])]}]",
  ];
  const all = ["here", "task", "collect", "captured", "broadcast", "value"];
  for (const way of all) assertEquals(ways.get(way), expected, way);
  // Maps and Sets are no keys, and of equal keys, such as 0 and -0, one stays.
  const keys = expected.filter((each) => !/^(map|set|nested)=/.test(each))
    .map((each) => each.replace("-0=-0", "-0=0"));
  assertEquals(ways.get("key"), keys);
});

Deno.test("cluster: accumulators and broadcasts work over processes", async () => {
  await using cluster = await Cluster.start();
  const { code, stdout, stderr } = await cluster.submit([], "shared.ts")
    .finished();
  assertEquals(code, 0, stderr);
  assertEquals(JSON.parse(stdout), {
    counts: [["even", 500], ["odd", 500]],
    seen: 499_500,
    big: "499500",
    tasks: 8,
    executors: 2,
  });
});

Deno.test("cluster: joins, sorts and caches give the right result over processes", async () => {
  await using cluster = await Cluster.start();
  const { code, stdout, stderr } = await cluster.submit([], "operators.ts")
    .finished();
  assertEquals(code, 0, stderr);
  const [sums, rest] = lines(stdout).map((line) => JSON.parse(line));
  assertEquals(
    sums,
    Array.from({ length: 10 }, (_, i) => [`t${9 - i}`, 45 + 100 * (9 - i)]),
  );
  const [distinct, count, runs] = rest;
  assertEquals([distinct, count], [[0, 1, 2, 3, 4, 5, 6], 100]);
  // A task doesn't wait for the executor that has its records, so that some
  // are made twice, but never all.
  assert(runs >= 100 && runs < 200, `${runs} records were made`);
});

Deno.test("cluster: saveAsTextFile writes a directory with _SUCCESS, and refuses one that exists", async () => {
  await using cluster = await Cluster.start();
  const out = join(cluster.dir, "out");
  const first = await cluster.submit([], "save.ts", out).finished();
  assertEquals([first.code, first.stdout], [0, "saved\n"], first.stderr);
  const parts = ["part-00000", "part-00001", "part-00002"];
  const names = () => [...Deno.readDirSync(out)].map(({ name }) => name).sort();
  assertEquals(names(), ["_SUCCESS", ...parts]);
  const text = () =>
    parts.map((name) => Deno.readTextFileSync(join(out, name))).join("");
  const expected = Array.from({ length: 10 }, (_, i) => `line ${i}\n`).join("");
  assertEquals(text(), expected);
  const again = await cluster.submit([], "save.ts", out).finished();
  assertEquals([again.code, again.stdout], [1, ""]);
  assertEquals(lines(again.stderr).length, 1, again.stderr);
  assertMatch(again.stderr, /^sparkts: .*out\b.*exist/);
  assertEquals(text(), expected);
});
