import type { SparkContext } from "../../../lib/mod.ts";

/** Values that JSON would lose, each with a test that it still is itself. */
function samples(): [name: string, value: unknown][] {
  return [
    ["map", new Map<unknown, unknown>([["a", 1], [{ b: 2 }, new Set([3])]])],
    ["set", new Set(["x", undefined, NaN])],
    ["date", new Date(86_400_000)],
    ["bigint", 2n ** 70n],
    ["negative bigint", -5n],
    ["bytes", new Uint8Array([0, 255, 7])],
    ["floats", new Float64Array([0.5, -0, NaN])],
    ["undefined", undefined],
    ["null", null],
    ["NaN", NaN],
    ["-0", -0],
    ["infinity", -Infinity],
    ["lone surrogate", "a\ud800b"],
    ["nested", [{ at: new Date(1), of: [undefined, -0, new Map([[1n, 2n]])] }]],
  ];
}

/** What a value is, so that two that print alike and differ print differently. */
function describe(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value);
  }
  if (Object.is(value, -0)) return "-0";
  if (value instanceof Map || value instanceof Set) {
    const items = [...value].map(describe);
    return `${value.constructor.name}(${items})`;
  }
  if (Array.isArray(value)) return `[${value.map(describe)}]`;
  if (ArrayBuffer.isView(value)) {
    const items = [...value as unknown as Iterable<unknown>].map(describe);
    return `${value.constructor.name}(${items})`;
  }
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "object" && value !== null) {
    const items = Object.entries(value).map(([k, v]) => `${k}:${describe(v)}`);
    return `{${items}}`;
  }
  return String(value);
}

/**
 * Prints a line for each way of a value: as it is here, as tasks see it, as
 * it comes back, and after it was the value or the key of a shuffle.
 */
export default async function main(sc: SparkContext) {
  const all = samples();
  const rdd = sc.parallelize(all, 3);
  const report = (way: string, pairs: [string, unknown][]) => {
    const order = all.map(([name]) => name);
    pairs.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
    console.log(
      `${way} ${pairs.map(([name, v]) => `${name}=${v}`).join("; ")}`,
    );
  };
  const described = (pairs: [string, unknown][]) =>
    pairs.map(([name, value]): [string, string] => [name, describe(value)]);
  report("here", described(all));
  report(
    "task",
    await rdd.map(([name, value]): [string, string] => [name, describe(value)])
      .collect(),
  );
  report("collect", described(await rdd.collect()));
  report(
    "captured",
    await sc.parallelize([0], 1).flatMap(() => described(all)).collect(),
  );
  const broadcast = sc.broadcast(all);
  report(
    "broadcast",
    await sc.parallelize([0], 1).flatMap(() =>
      broadcast.value.map(([name, value]): [string, string] => [
        name,
        describe(value),
      ])
    ).collect(),
  );
  const grouped = await rdd.groupByKey(2).collect();
  report("value", described(grouped.map(([name, [value]]) => [name, value])));
  // Maps and Sets are no keys.
  const byValue = await rdd
    .filter(([name]) => !["map", "set", "nested"].includes(name))
    .map(([name, value]): [unknown, string] => [value, name])
    .groupByKey(2).collect();
  report("key", described(byValue.map(([value, [name]]) => [name, value])));
}
