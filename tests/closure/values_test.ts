import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { roundTrip } from "./round_trip.ts";
import { travel } from "../../lib/closure/mod.ts";

Deno.test("closure: primitives travel exactly", async () => {
  const values = [
    undefined,
    null,
    true,
    NaN,
    -0,
    Infinity,
    12345678901234567890n,
    "\ud800 lone",
    "\u0000",
    Symbol.iterator,
    Symbol.for("sparkts.test"),
  ];
  const restored = (await roundTrip(() => values))();
  assertEquals(restored.length, values.length);
  for (const [index, value] of values.entries()) {
    assert(Object.is(restored[index], value), `value ${index}`);
  }
});

Deno.test("closure: arrays keep holes, length and extra properties", async () => {
  // deno-lint-ignore no-sparse-arrays -- holes are the subject of this test
  const array = [1, , 3] as number[] & { extra?: string };
  array.extra = "yes";
  array.length = 5;
  const restored = await roundTrip(array);
  assertEquals([0 in restored, 1 in restored, 2 in restored, 4 in restored], [
    true,
    false,
    true,
    false,
  ]);
  assertEquals([restored.length, restored.extra], [5, "yes"]);
  assert(Array.isArray(restored));
});

Deno.test("closure: objects keep prototype, symbols, accessors, flags and integrity", async () => {
  const bare = Object.assign(Object.create(null), { a: 1 });
  const flagged = Object.defineProperty({}, "hidden", {
    value: 7,
    enumerable: false,
    writable: false,
  });
  let reads = 0;
  const accessor = {
    get danger() {
      reads++;
      return reads;
    },
  };
  const restored = await roundTrip({
    bare,
    flagged,
    accessor,
    frozen: Object.freeze({ f: [1] }),
    sealed: Object.seal({ s: 1 }),
    fixed: Object.preventExtensions({ p: 1 }),
    [Symbol.for("k")]: "symbol key",
    ["__proto__"]: "own",
  });
  assertEquals(reads, 0, "capture runs no getter");
  assertStrictEquals(Object.getPrototypeOf(restored.bare), null);
  assertEquals(Object.getOwnPropertyDescriptor(restored.flagged, "hidden"), {
    value: 7,
    enumerable: false,
    writable: false,
    configurable: false,
  });
  assertEquals(restored.accessor.danger, 1);
  assert(
    Object.isFrozen(restored.frozen) && Object.isSealed(restored.sealed) &&
      !Object.isExtensible(restored.fixed),
  );
  assert(!Object.isFrozen(restored.sealed));
  assertEquals(restored[Symbol.for("k")], "symbol key");
  assertEquals(
    Object.getOwnPropertyDescriptor(restored, "__proto__")?.value,
    "own",
  );
  assertStrictEquals(Object.getPrototypeOf(restored), Object.prototype);
});

Deno.test("closure: collections, dates, expressions, errors, URLs", async () => {
  class AppError extends TypeError {
    code = 5;
  }
  const values = {
    map: new Map<unknown, unknown>([["a", 1], [NaN, new Map([[{}, 2]])]]),
    set: new Set([1, "x", -0]),
    date: new Date(1_700_000_000_123),
    invalid: new Date(NaN),
    expression: /a(?<n>b)+/giu,
    error: new RangeError("bad", { cause: new Error("inner") }),
    own: new AppError("mine"),
    url: new URL("https://user@example.org:8080/a?b=c#d"),
    boxed: Object("str"),
    headers: new Headers({ a: "b" }),
  };
  values.expression.lastIndex = 2;
  const restored = await roundTrip({ ...values, AppError });
  assertEquals(restored.map.get("a"), 1);
  assertEquals([...(restored.map.get(NaN) as Map<unknown, unknown>)], [[
    {},
    2,
  ]]);
  assertEquals([...restored.set], [1, "x", 0]);
  assertEquals(restored.date.getTime(), 1_700_000_000_123);
  assert(Number.isNaN(restored.invalid.getTime()));
  assertEquals([
    restored.expression.source,
    restored.expression.flags,
    restored.expression.lastIndex,
  ], [
    "a(?<n>b)+",
    "giu",
    2,
  ]);
  assert(restored.error instanceof RangeError);
  assertEquals([
    restored.error.message,
    (restored.error.cause as Error).message,
  ], ["bad", "inner"]);
  assertStrictEquals(restored.error.stack, values.error.stack);
  assert(
    restored.own instanceof restored.AppError &&
      restored.own instanceof TypeError,
  );
  assertEquals([restored.own.message, restored.own.code], ["mine", 5]);
  assertEquals(restored.url.href, values.url.href);
  assert(restored.url instanceof URL);
  assertEquals(String(restored.boxed), "str");
  assertEquals(restored.headers.get("a"), "b");
});

Deno.test("closure: buffers and the views over them stay shared", async () => {
  const buffer = new ArrayBuffer(16);
  const bytes = new Uint8Array(buffer, 4, 8);
  const view = new DataView(buffer, 2);
  bytes[0] = 200;
  const restored = await roundTrip({
    buffer,
    bytes,
    view,
    doubles: new Float64Array([NaN, -0]),
    node: Buffer.from("hé"),
  });
  assertStrictEquals(restored.bytes.buffer, restored.buffer);
  assertStrictEquals(restored.view.buffer, restored.buffer);
  assertEquals([
    restored.bytes.byteOffset,
    restored.bytes.length,
    restored.bytes[0],
  ], [4, 8, 200]);
  assertEquals([
    restored.view.byteOffset,
    restored.view.byteLength,
    restored.view.getUint8(2),
  ], [2, 14, 200]);
  assert(Object.is(restored.doubles[1], -0));
  assert(Buffer.isBuffer(restored.node));
  assertEquals(restored.node.toString(), "hé");
});

Deno.test("closure: cycles and shared references stay what they are", async () => {
  interface Ring {
    self?: Ring;
    list: unknown[];
    get?: () => Ring;
  }
  const ring: Ring = { list: [] };
  ring.self = ring;
  ring.list.push(ring, ring.list);
  ring.get = () => ring;
  const shared = { n: 1 };
  const restored = await roundTrip({
    ring,
    a: shared,
    b: [shared],
    map: new Map([[shared, shared]]),
  });
  assertStrictEquals(restored.ring.self, restored.ring);
  assertStrictEquals(restored.ring.list[1], restored.ring.list);
  assertStrictEquals(restored.ring.get!(), restored.ring);
  assertStrictEquals(restored.a, restored.b[0]);
  assertStrictEquals(restored.map.get(restored.a), restored.a);
});

Deno.test("closure: a linked list of 100,000 objects", async () => {
  interface Link {
    next: Link | undefined;
    n: number;
  }
  let head: Link | undefined;
  for (let n = 0; n < 100_000; n++) head = { next: head, n };
  let length = 0;
  for (
    let link: Link | undefined = await roundTrip(head);
    link !== undefined;
    link = link.next
  ) length++;
  assertEquals(length, 100_000);
});

Deno.test("closure: a chain of 1,000 composed functions", async () => {
  let chain = (x: number) => x;
  for (let n = 0; n < 1_000; n++) chain = after(chain);
  assertEquals((await roundTrip(chain))(0), 1_000);
});
function after(inner: (x: number) => number): (x: number) => number {
  return (x) => inner(x + 1);
}

Deno.test("closure: an object with [travel] is revived by kind", async () => {
  class Broadcast {
    constructor(readonly id: number) {}
    [travel]() {
      return { kind: "broadcast", data: { id: this.id } };
    }
  }
  const broadcast = new Broadcast(7);
  const restored = await roundTrip(() => [broadcast, broadcast], {
    revive: { broadcast: (data) => ({ revived: data }) },
  });
  const [first, second] = restored() as unknown[];
  assertEquals(first, { revived: { id: 7 } });
  assertStrictEquals(first, second);
});

Deno.test("closure: instances of an old-style prototype object", async () => {
  const proto = {
    hello() {
      return `hello ${(this as unknown as { name: string }).name}`;
    },
  };
  const a = Object.assign(Object.create(proto), { name: "a" });
  const b = Object.assign(Object.create(proto), { name: "b" });
  const restored = await roundTrip([a, b]);
  assertEquals(restored.map((each) => each.hello()), ["hello a", "hello b"]);
  assertStrictEquals(
    Object.getPrototypeOf(restored[0]),
    Object.getPrototypeOf(restored[1]),
  );
});
