import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { roundTrip } from "./round_trip.ts";

const moduleConstant = 10;
function moduleHelper(x: number): number {
  return x + moduleConstant;
}
function isEven(n: number): boolean {
  return n === 0 || isOdd(n - 1);
}
function isOdd(n: number): boolean {
  return n !== 0 && isEven(n - 1);
}
const factorial = (n: number): number => n < 2 ? 1 : n * factorial(n - 1);
enum Colour {
  Red = "red",
  Green = "green",
}
enum Level {
  Low,
  High = 5,
}

Deno.test("closure: an arrow function keeps the variables it captured", async () => {
  const factor = 3;
  const nested = { list: [1, 2, 3] };
  const restored = await roundTrip((x: number) => x * factor + nested.list[1]!);
  assertEquals(restored(5), 17);
  nested.list[1] = 100;
  assertEquals(restored(5), 17, "the captured value is a copy");
});

Deno.test("closure: module constants and functions that call functions", async () => {
  const restored = await roundTrip((x: number) => moduleHelper(x) * 2);
  assertEquals(restored(1), 22);
});

Deno.test("closure: function declarations, expressions and their names", async () => {
  function declared(a: number, b = a + moduleConstant) {
    return a + b;
  }
  const expression = function named(n: number): number {
    return n === 0 ? 0 : 1 + named(n - 1);
  };
  const anonymous = (() => function () {})();
  const restored = await roundTrip({
    declared,
    expression,
    anonymous,
    arrow: () => 1,
  });
  assertEquals(restored.declared(1), 12);
  assertEquals(restored.declared.name, "declared");
  assertEquals(restored.declared.length, 1);
  assertEquals(restored.expression(4), 4);
  assertEquals(restored.expression.name, "named");
  assertEquals(restored.anonymous.name, "");
  assertEquals(restored.arrow.name, "arrow");
});

Deno.test("closure: self-recursion and mutual recursion", async () => {
  assertEquals((await roundTrip(factorial))(10), 3628800);
  const even = await roundTrip(isEven);
  assertEquals([even(10), even(7)], [true, false]);
});

Deno.test("closure: async functions, generators and async generators", async () => {
  const step = 2;
  const restored = await roundTrip({
    later: async (x: number) => (await Promise.resolve(x)) + step,
    *count(n: number) {
      for (let i = 0; i < n; i++) yield i * step;
    },
    async *stream(n: number) {
      for (let i = 0; i < n; i++) yield await Promise.resolve(i + step);
    },
    plain: function* () {
      const got: number = yield step;
      return got * step;
    },
  });
  assertEquals(await restored.later(1), 3);
  assertEquals([...restored.count(3)], [0, 2, 4]);
  assertEquals(await Array.fromAsync(restored.stream(3)), [2, 3, 4]);
  const running = restored.plain();
  running.next();
  assertEquals(running.next(4).value, 8);
});

Deno.test("closure: object methods, accessors and computed names", async () => {
  const key = "computed";
  const unit = 3;
  const object = {
    base: 4,
    method(x: number) {
      return this.base * x * unit;
    },
    get total() {
      return this.base + unit;
    },
    set total(value: number) {
      this.base = value - unit;
    },
    [key]() {
      return unit;
    },
    [Symbol.iterator]: function* () {
      yield unit;
    },
    async later() {
      return await Promise.resolve(unit);
    },
  };
  const restored = await roundTrip(object);
  assertEquals(restored.method(2), 24);
  assertEquals(restored.total, 7);
  restored.total = 10;
  assertEquals(restored.base, 7);
  assertEquals(restored.computed(), 3);
  assertEquals(restored.computed.name, "computed");
  assertEquals([...restored], [3]);
  assertEquals(await restored.later(), 3);
});

Deno.test("closure: a method that uses super finds the prototype of its object", async () => {
  const parent = {
    greet() {
      return "parent";
    },
  };
  const child = {
    __proto__: parent,
    greet(): string {
      return "child of " + super.greet();
    },
  } as unknown as { greet(): string };
  assertEquals((await roundTrip(child)).greet(), "child of parent");
});

Deno.test("closure: each turn of a loop captures its own value", async () => {
  const functions: (() => number)[] = [];
  for (const i of [1, 2, 3]) functions.push(() => i * 10);
  for (let i = 7; i < 9; i++) functions.push(() => i);
  assertEquals((await roundTrip(functions)).map((call) => call()), [
    10,
    20,
    30,
    7,
    8,
  ]);
});

Deno.test("closure: closures made by closures", async () => {
  const add = (a: number) => (b: number) => (c: number) =>
    a + b + c + moduleConstant;
  const restored = await roundTrip({
    one: add(1),
    two: add(1)(2),
    compose: compose(add(1)(1), add(2)(2)),
  });
  assertEquals(restored.one(2)(3), 16);
  assertEquals(restored.two(3), 16);
  assertEquals(restored.compose(0), 26);
});

function compose<A, B, C>(f: (a: A) => B, g: (b: B) => C): (a: A) => C {
  return (a) => g(f(a));
}

Deno.test("closure: an inner variable hides an outer one of the same name", async () => {
  const value = "outer";
  const functions = [() => value];
  {
    const value = "inner";
    functions.push(() => value);
  }
  assertEquals((await roundTrip(functions)).map((call) => call()), [
    "outer",
    "inner",
  ]);
});

Deno.test("closure: bound functions keep target, this and arguments", async () => {
  function scale(this: { by: number }, a: number, b: number) {
    return this.by * a + b;
  }
  const restored = await roundTrip(scale.bind({ by: 3 }, 4)) as unknown as (
    b: number,
  ) => number;
  assertEquals(restored(5), 17);
  assertEquals(restored.name, "bound scale");
});

Deno.test("closure: own properties of functions travel", async () => {
  const tagged = Object.assign((x: number) => x + tagged.offset, {
    offset: 5,
    tags: ["a"],
  });
  const restored = await roundTrip(tagged);
  assertEquals(restored(1), 6);
  assertEquals(restored.tags, ["a"]);
  restored.offset = 7;
  assertEquals(restored(1), 8, "its own name is the restored function");
});

Deno.test("closure: TypeScript enums", async () => {
  const restored = await roundTrip(() => [Colour.Green, Level.High, Level[5]]);
  assertEquals(restored(), ["green", 5, "High"]);
});

Deno.test("closure: arguments of a function around it", async () => {
  function outer(..._: unknown[]) {
    // An arrow function has no arguments of its own.
    return () => Array.from(arguments);
  }
  assertEquals((await roundTrip(outer(1, "two")))(), [1, "two"]);
});

Deno.test("closure: this that an arrow function took from the function around it", async () => {
  class Job {
    constructor(readonly factor: number) {}
    mapper() {
      return (x: number) => x * this.factor;
    }
    field = (x: number) => x + this.factor;
    both() {
      return { self: this, inner: () => () => this };
    }
  }
  const job = new Job(4);
  const restored = await roundTrip({
    mapper: job.mapper(),
    field: job.field,
    both: job.both(),
  });
  assertEquals(restored.mapper(5), 20);
  assertEquals(restored.field(5), 9);
  assertStrictEquals(restored.both.inner()(), restored.both.self);
});

Deno.test("closure: this at the top of a module is undefined", async () => {
  assertEquals((await roundTrip(topLevelThis))(), undefined);
});
const topLevelThis = () => (this as unknown);

Deno.test("closure: restored code is strict", async () => {
  const restored = await roundTrip(function (this: unknown) {
    return this;
  });
  assertStrictEquals(Reflect.apply(restored, undefined, []), undefined);
  const frozen = Object.freeze({ a: 1 });
  const write = await roundTrip((target: { a: number }) => {
    target.a = 2;
  });
  assertThrows(() => write(frozen), TypeError);
});

Deno.test("closure: constructor functions with methods on their prototype", async () => {
  // deno-lint-ignore no-explicit-any -- constructor functions have no type of their own
  const Point: any = function (this: { x: number }, x: number) {
    this.x = x;
  };
  Point.prototype.double = function (this: { x: number }) {
    return this.x * 2;
  };
  const restored = await roundTrip({ Point, point: new Point(4) });
  assertEquals(restored.point.double(), 8);
  assert(restored.point instanceof restored.Point);
  assertEquals(new restored.Point(1).double(), 2);
  assertNotStrictEquals(restored.Point, Point);
});

Deno.test("closure: a function made by new Function", async () => {
  const made = new Function("a", "b = 2", "return a * b;") as (
    a: number,
  ) => number;
  assertEquals((await roundTrip(made))(4), 8);
});

Deno.test("closure: globals are found by name, functions of the runtime by path", async () => {
  const max = Math.max;
  const { log } = console;
  const slice = Array.prototype.slice;
  const restored = await roundTrip(() => [
    max(1, 2),
    log === console.log,
    slice.call([1, 2, 3], 1),
    typeof Deno.version.deno,
    typeof crypto.randomUUID(),
    structuredClone(new Map([[1, 2]])).get(1),
    typeof fetch,
    typeof notDefinedAnywhere,
  ]);
  assertEquals(restored(), [
    2,
    true,
    [2, 3],
    "string",
    "string",
    2,
    "function",
    "undefined",
  ]);
});
declare const notDefinedAnywhere: unknown;

Deno.test("closure: what the application itself put on the global object travels by value", async () => {
  const holder = globalThis as unknown as { sparktsTestGlobal?: number };
  holder.sparktsTestGlobal = 41;
  try {
    const restored = await roundTrip(() => sparktsTestGlobal + 1);
    delete holder.sparktsTestGlobal;
    assertEquals(restored(), 42);
  } finally {
    delete holder.sparktsTestGlobal;
  }
});
declare const sparktsTestGlobal: number;
