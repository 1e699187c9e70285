import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  Accumulator,
  ACCUMULATOR_KIND,
  isZero,
} from "../../lib/rdd/accumulator.ts";
import { Broadcast, BroadcastError } from "../../lib/rdd/broadcast.ts";
import { UnexpectedPromiseError } from "../../lib/rdd/fuse.ts";
import type { Op, PartitionSpec, Plan } from "../../lib/rdd/plan.ts";
import { ENOUGH, runPlan } from "../../lib/rdd/run_plan.ts";
import { runTask } from "../../lib/rdd/run_task.ts";
import {
  type TaskEnvironment,
  TaskKilledError,
} from "../../lib/rdd/task_environment.ts";
import { travel } from "../../lib/closure/travel.ts";
import {
  decodeRecords,
  encodeRecords,
} from "../../lib/shuffle/record_codec.ts";

class MemoryEnvironment implements TaskEnvironment {
  readonly context = {
    stageId: 0,
    stageAttempt: 0,
    partition: 0,
    attempt: 0,
    taskId: 0,
  };
  readonly kept = new Map<string, Uint8Array[]>();
  readonly blocks = {
    get: (rddId: number, partition: number) =>
      Promise.resolve(this.kept.get(`${rddId}/${partition}`)),
    put: (rddId: number, partition: number, chunks: Uint8Array[]) =>
      void this.kept.set(`${rddId}/${partition}`, chunks),
  };
  readShuffle = () => [[["a", 1], ["b", 2]], [["a", 3]]];
  killed = false;

  isKilled(): boolean {
    return this.killed;
  }

  newShuffleFile(): string {
    throw new Error("No shuffle is written here.");
  }
}

function valuesOf(records: readonly unknown[]): PartitionSpec {
  return { type: "values", records: encodeRecords(records) };
}

function planWith(...ops: Op[]): Plan {
  return ops.reduce<Plan>((parent, op) => ({ type: "op", parent, op }), {
    type: "values",
  });
}

async function run(
  plan: Plan,
  spec: PartitionSpec,
  environment = new MemoryEnvironment(),
): Promise<unknown[]> {
  const records: unknown[] = [];
  await runPlan(plan, spec, environment, (record) => void records.push(record));
  return records;
}

Deno.test("plan: at most 64 calls of an async function are under way, and their order is kept", async () => {
  let running = 0;
  let most = 0;
  const f = async (x: number) => {
    most = Math.max(most, ++running);
    // Later records are done sooner.
    for (let i = 0; i < 10 - x % 10; i++) await Promise.resolve();
    running--;
    return x * 2;
  };
  const numbers = Array.from({ length: 300 }, (_, i) => i);
  const plan = planWith({ type: "map", f, async: true });
  assertEquals(await run(plan, valuesOf(numbers)), numbers.map((x) => x * 2));
  assertEquals(most, 64);
  assertEquals(running, 0);
});

Deno.test("plan: synchronous and async operators may follow one another in any order", async () => {
  const plan = planWith(
    { type: "map", f: (x) => x + 1, async: false },
    { type: "filter", f: (x) => Promise.resolve(x % 2 === 0), async: true },
    { type: "flatMap", f: (x) => [x, x], async: false },
    { type: "keyBy", f: (x) => Promise.resolve(`k${x}`), async: true },
    { type: "mapValues", f: (x) => Promise.resolve(-x), async: true },
    { type: "mapPartitions", f: (all) => [...all].reverse(), async: false },
    { type: "keys" },
  );
  assertEquals(await run(plan, valuesOf([1, 2, 3])), ["k4", "k4", "k2", "k2"]);
});

Deno.test("plan: a sink that has enough closes the generators of the application", async () => {
  const closed: string[] = [];
  const plan = planWith(
    {
      type: "flatMap",
      f: function* () {
        try {
          for (let i = 0;; i++) yield i;
        } finally {
          closed.push("flatMap");
        }
      },
      async: false,
    },
  );
  const partitions = planWith({
    type: "mapPartitions",
    f: function* (all: Iterable<number>) {
      try {
        for (const each of all) yield each;
      } finally {
        closed.push("mapPartitions");
      }
    },
    async: false,
  });
  for (const each of [plan, partitions]) {
    const seen: unknown[] = [];
    await runPlan(
      each,
      valuesOf([7, 8, 9]),
      new MemoryEnvironment(),
      (record) => {
        seen.push(record);
        if (seen.length === 2) throw ENOUGH;
      },
    );
    assertEquals(seen.length, 2);
  }
  assertEquals(closed, ["flatMap", "mapPartitions"]);
});

Deno.test("plan: what a task throws closes the generators too, and comes out as it is", async () => {
  let closed = false;
  const plan = planWith({
    type: "mapPartitions",
    f: function* (all: Iterable<number>) {
      try {
        yield* all;
      } finally {
        closed = true;
      }
    },
    async: false,
  }, {
    type: "map",
    f: () => {
      throw new RangeError("mine");
    },
    async: false,
  });
  await assertRejects(() => run(plan, valuesOf([1])), RangeError, "mine");
  assert(closed);
});

Deno.test("plan: a promise where none is awaited is refused, and its failure is nobody's", async () => {
  const rejected = () => Promise.reject(new Error("unseen"));
  for (const type of ["map", "filter", "flatMap", "keyBy"] as const) {
    await assertRejects(
      () => run(planWith({ type, f: rejected, async: false }), valuesOf([1])),
      UnexpectedPromiseError,
      `The function of ${type} returned a promise`,
    );
  }
});

Deno.test("plan: a cached partition is kept when it was read to its end, and then used", async () => {
  let calls = 0;
  const f = (x: number) => (calls++, { x });
  for (const async of [false, true]) {
    calls = 0;
    const environment = new MemoryEnvironment();
    const plan: Plan = {
      type: "cached",
      rddId: 5,
      parent: planWith({
        type: "map",
        f: async ? (x: number) => Promise.resolve(f(x)) : f,
        async,
      }),
    };
    const spec: PartitionSpec = {
      type: "cached",
      partition: 2,
      spec: valuesOf([1, 2]),
    };
    await runPlan(plan, spec, environment, () => {
      throw ENOUGH;
    });
    assertEquals(environment.kept.size, 0);
    calls = 0;
    const expected = [{ x: 1 }, { x: 2 }];
    assertEquals(await run(plan, spec, environment), expected);
    assertEquals(await run(plan, spec, environment), expected);
    assertEquals(calls, 2);
    assertEquals([...environment.kept.keys()], ["5/2"]);
  }
});

Deno.test("plan: a shuffle is read plain, reduced, grouped, made distinct or sorted", async () => {
  const spec: PartitionSpec = { type: "shuffle", blocks: [] };
  const read = (read: Extract<Plan, { type: "shuffle" }>["read"]) =>
    run({ type: "shuffle", read }, spec);
  assertEquals(await read({ type: "plain" }), [["a", 1], ["b", 2], ["a", 3]]);
  assertEquals(await read({ type: "reduce", f: (a, b) => a + b }), [
    ["a", 4],
    ["b", 2],
  ]);
  assertEquals(await read({ type: "group" }), [["a", [1, 3]], ["b", [2]]]);
  assertEquals(await read({ type: "distinct" }), [["a", 1], ["b", 2]]);
  const keys = async (ascending: boolean) =>
    (await read({ type: "sort", ascending })).map((pair) =>
      (pair as [string, number])[0]
    );
  assertEquals(await keys(true), ["a", "a", "b"]);
  assertEquals(await keys(false), ["b", "a", "a"]);
});

Deno.test("plan: a cogroup puts each side's values in its place, and a join combines them", async () => {
  const spec: PartitionSpec = { type: "cogroup", sides: [[], []] };
  const cogroup: Plan = { type: "cogroup", sides: 2 };
  assertEquals(await run(cogroup, spec), [
    ["a", [[1, 3], [1, 3]]],
    ["b", [[2], [2]]],
  ]);
  const join: Plan = {
    type: "op",
    parent: cogroup,
    op: { type: "joinGroups" },
  };
  assertEquals((await run(join, spec)).length, 5);
});

Deno.test("plan: a partition of another kind than its plan's is an error", async () => {
  await assertRejects(
    () => run({ type: "range" }, valuesOf([])),
    Error,
    "A range plan was given a values partition.",
  );
});

Deno.test("task: an async foreach is awaited, and its failure is the task's", async () => {
  const seen: number[] = [];
  const task = (f: (x: number) => Promise<void>) =>
    runTask(
      {
        plan: { type: "values" },
        sink: { type: "action", action: { type: "foreach", f, async: true } },
      },
      valuesOf([1, 2, 3]),
      new MemoryEnvironment(),
    );
  await task(async (x) => {
    await Promise.resolve();
    seen.push(x);
  });
  assertEquals(seen.toSorted(), [1, 2, 3]);
  await assertRejects(() => task(() => Promise.reject(new Error("no"))));
});

Deno.test("task: an action's result is of its partition alone", async () => {
  const result = async (
    action: Parameters<typeof runTask>[0]["sink"] & { type: "action" },
  ) => {
    const output = await runTask(
      { plan: { type: "values" }, sink: action },
      valuesOf([3, 1, 2]),
      new MemoryEnvironment(),
    );
    if (output.type !== "action") throw new Error(output.type);
    return decodeRecords(output.result);
  };
  const action = <A>(action: A) => ({ type: "action" as const, action });
  assertEquals(await result(action({ type: "collect" })), [3, 1, 2]);
  assertEquals(await result(action({ type: "take", limit: 2 })), [3, 1]);
  assertEquals(
    await result(action({ type: "reduce", f: (a, b) => a + b })),
    [6],
  );
});

Deno.test("accumulator: parts are taken and merged; a zero need not travel", () => {
  const sum = new Accumulator<number>(1, "sum", 10);
  assertEquals(sum[travel](), {
    kind: ACCUMULATOR_KIND,
    data: { id: 1, mode: "sum", zero: 0 },
  });
  const part = new Accumulator<number>(1, "sum", 0);
  part.add(2);
  part.add(3);
  sum.merge(part.takePartial());
  assertEquals([sum.value, part.value], [15, 0]);
  const big = new Accumulator<bigint>(2, "sum", 0n);
  big.add(2n ** 70n);
  assertEquals(big.takePartial(), 2n ** 70n);
  assertEquals(big.value, 0n);
  assertThrows(() => big.add(1 as unknown as bigint), TypeError);
  const list = new Accumulator<string, string[]>(3, "list", []);
  list.add("a");
  list.merge(["b"]);
  assertEquals(list.takePartial(), ["a", "b"]);
  assert([0, 0n, []].every(isZero));
  assert(![1, -1n, [0]].some(isZero));
});

Deno.test("broadcast: it has no value before it came, after it was destroyed, or when it can't travel", () => {
  const awaiting = Broadcast.awaiting<number>(1);
  assertThrows(() => awaiting.value, BroadcastError, "not arrived");
  awaiting.fill(5);
  assertEquals(awaiting.value, 5);
  let destroyed = 0;
  const broadcast = Broadcast.of(2, "x", () => destroyed++);
  assertEquals(broadcast[travel](), { kind: "broadcast", data: 2 });
  broadcast.destroy();
  broadcast.destroy();
  assertEquals(destroyed, 1);
  assertThrows(() => broadcast.value, BroadcastError, "it was destroyed");
  const broken = Broadcast.of(3, "x");
  broken.refuse("it holds a socket");
  assertEquals(broken[travel](), {
    refuse: "the broadcast 3: it holds a socket",
  });
});

Deno.test("run plan: a task that is killed ends before its next record", async () => {
  const environment = new MemoryEnvironment();
  const seen: unknown[] = [];
  const plan: Plan = {
    type: "op",
    parent: { type: "range" },
    op: {
      type: "map",
      async: false,
      f: (record: number) => {
        if (record === 2) environment.killed = true;
        return record;
      },
    },
  };
  await assertRejects(
    () =>
      runPlan(
        plan,
        { type: "range", start: 0, step: 1, count: 10 },
        environment,
        (record) => void seen.push(record),
      ),
    TaskKilledError,
  );
  assertEquals(seen, [0, 1, 2]);
});
