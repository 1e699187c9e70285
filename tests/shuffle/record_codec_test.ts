import {
  assert,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  decodeRecords,
  decodeValue,
  encodeRecords,
  encodeValue,
  RecordCodecError,
  UnsendableValueError,
} from "../../lib/shuffle/record_codec.ts";

const JSON_TEXT = 1;
const STRUCTURED_CLONE = 2;
const PAIRS = 3;

/** Sends one value, checks which encoding it took, and gives what arrived. */
function send(value: unknown, encoding: number): unknown {
  const bytes = encodeValue(value);
  assertEquals(bytes[0], encoding);
  return decodeValue(bytes);
}

/** Whether two values are the same down to -0, holes, undefined properties and the order of properties. */
function assertSame(actual: unknown, expected: unknown): void {
  assertEquals(actual, expected);
  assertEquals(fc.stringify(actual), fc.stringify(expected));
}

// By way of JSON once, because it gives -0, which JSON does not keep.
const json = fc.jsonValue({ maxDepth: 4 })
  .map((value): unknown => JSON.parse(JSON.stringify(value)));

/** Strings of any code units, lone surrogates too. */
const text = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff })
    .map((code) => String.fromCharCode(code)),
});
const anything = fc.anything({
  key: text,
  values: [
    text,
    fc.boolean(),
    fc.integer(),
    fc.double(),
    fc.constantFrom(null, undefined, NaN, -0),
  ],
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
  withBoxedValues: true,
  maxDepth: 3,
});

Deno.test("record codec: what JSON can hold travels as JSON, unchanged", () => {
  fc.assert(fc.property(json, (value) => {
    assertSame(send(value, JSON_TEXT), value);
  }));
  for (const value of [0, "", null, true, [], {}, [[]], 5e-324, "\ufeff\0"]) {
    assertSame(send(value, JSON_TEXT), value);
  }
});

Deno.test("record codec: any values, in batches of any kind, arrive as they left", () => {
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 12 }), (records) => {
      assertSame(decodeRecords(encodeRecords(records)), records);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("record codec: lone surrogates survive in every encoding", () => {
  const text = "a\ud800b\udfff\udc00\ud83d";
  assertStrictEquals(send(text, JSON_TEXT), text);
  assertStrictEquals(
    send([text, 1n], STRUCTURED_CLONE) instanceof
      Array,
    true,
  );
  assertSame(send([text, 1n], STRUCTURED_CLONE), [text, 1n]);
  const pairs = Array.from({ length: 20 }, () => [text, 1]);
  const bytes = encodeRecords(pairs);
  assertEquals(bytes[0], JSON_TEXT);
  assertSame(decodeRecords(bytes), pairs);
  // The halves of one character at the end of a string and the start of the next.
  const halves = Array.from(
    { length: 20 },
    (_, i) => [i % 2 === 0 ? "x\ud83d" : "\ude00x", i],
  );
  const joined = encodeRecords(halves);
  assertEquals(joined[0], PAIRS);
  assertSame(decodeRecords(joined), halves);
});

Deno.test("record codec: what JSON would lose goes as structured clone", () => {
  const values: unknown[] = [
    undefined,
    NaN,
    -0,
    Infinity,
    10n,
    [undefined],
    // deno-lint-ignore no-sparse-arrays -- a hole is what is tested
    [1, , 3],
    { a: undefined },
    { deep: [{ x: -0 }] },
    new Date(5),
    new Date(NaN),
    new Map<unknown, unknown>([[{ a: 1 }, new Set([1n])]]),
    new Set([NaN, -0 + 0, undefined]),
    /a+/giu,
    Uint8Array.of(1, 2),
    new Float64Array([1.5, NaN]),
    BigInt64Array.of(-1n),
    new ArrayBuffer(3),
    Object(5),
    Object.assign([1n], { extra: 1 }),
  ];
  for (const value of values) {
    assertSame(send(value, STRUCTURED_CLONE), value);
  }
  const view = new Uint8Array(1000).fill(7).subarray(10, 13);
  const bytes = encodeValue(view);
  assert(bytes.length < 100, "a view must not carry its whole buffer");
  assertSame(decodeValue(bytes), Uint8Array.of(7, 7, 7));
});

Deno.test("record codec: an array's own properties are kept, as on a regular expression's match", () => {
  const match = "key=value".match(/(?<name>\w+)=/)!;
  const sent = send(match, STRUCTURED_CLONE) as RegExpMatchArray;
  assertEquals([...sent], ["key=", "key"]);
  assertEquals(sent.index, 0);
  assertEquals(sent.input, "key=value");
  assertEquals(sent.groups?.name, "key");
  const pairs = Array.from(
    { length: 20 },
    () => Object.assign(["a", 1], { extra: true }),
  );
  const [first] = decodeRecords(encodeRecords(pairs));
  assertEquals((first as { extra?: boolean }).extra, true);
});

Deno.test("record codec: odd property names and missing prototypes do no harm", () => {
  const value = JSON.parse('{"__proto__":{"x":1},"toJSON":1,"constructor":2}');
  const sent = send(value, JSON_TEXT) as object;
  assertEquals(Object.keys(sent), ["__proto__", "toJSON", "constructor"]);
  assertStrictEquals(Object.getPrototypeOf(sent), Object.prototype);
  assertEquals(send({ __proto__: null, a: 1 }, JSON_TEXT), { a: 1 });
  const cloned = send({ ...value, n: 1n }, STRUCTURED_CLONE) as object;
  assertEquals(Object.keys(cloned), [
    "__proto__",
    "toJSON",
    "constructor",
    "n",
  ]);
});

Deno.test("record codec: cycles and deep values arrive, and end", () => {
  interface Node {
    name: string;
    parent?: Node;
    children: Node[];
  }
  const root: Node = { name: "root", children: [] };
  for (let i = 0; i < 50; i++) {
    root.children.push({ name: `${i}`, parent: root, children: [] });
  }
  const sent = send(root, STRUCTURED_CLONE) as Node;
  assertEquals(sent.children.length, 50);
  assertStrictEquals(sent.children[49].parent, sent);
  const nest = (depth: number) => {
    let value: unknown = "core";
    for (let i = 0; i < depth; i++) value = [value];
    return value;
  };
  assertEquals(encodeValue(nest(64))[0], JSON_TEXT);
  assertEquals(encodeValue(nest(65))[0], STRUCTURED_CLONE);
  assertEquals(JSON.stringify(send(nest(1000), STRUCTURED_CLONE)).length, 2006);
  assertThrows(
    () => encodeValue(nest(1_000_000)),
    UnsendableValueError,
    "structured clone refuses",
  );
});

Deno.test("record codec: errors keep class, message, stack and cause", () => {
  const error = new RangeError("too far", { cause: new Error("why") });
  const sent = send(error, STRUCTURED_CLONE) as RangeError;
  assert(sent instanceof RangeError);
  assertEquals(sent.message, "too far");
  assertEquals(sent.stack, error.stack);
  assertEquals((sent.cause as Error).message, "why");
});

Deno.test("record codec: what would be damaged is refused, with its place and kind", () => {
  class Person {
    name = "Ada";
  }
  class Stack extends Array<number> {}
  const hidden = Object.defineProperty({}, "x", { value: 1 });
  const cases: [unknown, string, string, string][] = [
    [() => 1, "", "a function", "it is a function"],
    [{ a: [1, { f() {} }] }, ".a[1].f", "a function", ".a[1].f is"],
    [Symbol("s"), "", "a symbol", ""],
    [
      { user: new Person() },
      ".user",
      "an instance of class Person",
      "plain object",
    ],
    [Stack.of(1), "", "an instance of class Stack", ""],
    [Object.create({ a: 1 }), "", "an object with a prototype of its own", ""],
    [Promise.resolve(1), "", "a Promise", "make the function async"],
    [[1].values(), "", "an iterator", "make it an array"],
    [(function* () {})(), "", "an iterator", ""],
    [new WeakMap(), "", "a WeakMap", ""],
    [new WeakRef({}), "", "a WeakRef", ""],
    [new URL("http://a/"), "", "an instance of class URL", ""],
    [
      { "odd name": { [Symbol("s")]: 1 } },
      '["odd name"][Symbol(s)]',
      "a property named by a symbol",
      "",
    ],
    [hidden, ".x", "a hidden (non-enumerable) property", ""],
    [
      new Map([["k", new Person()]]),
      '.get("k")',
      "an instance of class Person",
      "",
    ],
    [new Map([[new Person(), 1]]), "key …", "an instance of class Person", ""],
    [new Set([[() => 1]]), "member[0]", "a function", ""],
    [
      new Error("x", { cause: new Person() }),
      ".cause",
      "an instance of class Person",
      "",
    ],
    [
      new (class AppError extends Error {})(),
      "",
      "an instance of class AppError",
      "",
    ],
    [new AggregateError([]), "", "an instance of class AggregateError", ""],
    // deno-lint-ignore no-sparse-arrays -- a hole is what is tested
    [[, , new Person()], "[2]", "an instance of class Person", ""],
    [Object.assign([1], { extra: Symbol() }), ".extra", "a symbol", ""],
  ];
  for (const [value, path, kind, words] of cases) {
    const error = assertThrows(
      () => encodeValue(value),
      UnsendableValueError,
      words,
    );
    assertEquals([error.path, error.kind], [path, kind]);
  }
  const coded = Object.assign(new Error("x"), { code: 5 });
  const error = assertThrows(() => encodeValue(coded), UnsendableValueError);
  assertEquals(error.path, ".code");
  const proxy = assertThrows(
    () => encodeValue([1n, new Proxy({}, {})]),
    UnsendableValueError,
  );
  assert(proxy.cause instanceof Error);
});

Deno.test("record codec: the path of a refused record begins with its index", () => {
  const records = Array.from(
    { length: 20 },
    (_, i) => i === 7 ? ["k", { go: () => 1 }] : ["k", 1],
  );
  const error = assertThrows(
    () => encodeRecords(records),
    UnsendableValueError,
  );
  assertEquals(error.path, "[7][1].go");
  assertEquals(
    error.message,
    "Cannot send a value to another process: [7][1].go is a function",
  );
});

Deno.test("record codec: pairs of a string and any number travel as pairs, unchanged", () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("", "\ufeff", "x".repeat(300), "\0", "漢字".repeat(200)),
  );
  const number = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.constantFrom(NaN, -0, 2 ** 31, -(2 ** 31), Infinity),
  );
  for (const numbers of [number, fc.integer(), fc.constantFrom(-0, 1)]) {
    const pairs = fc.array(fc.tuple(text, numbers), {
      minLength: 8,
      maxLength: 40,
    });
    fc.assert(fc.property(pairs, (records) => {
      const bytes = encodeRecords(records);
      assertEquals(bytes[0], PAIRS);
      // At an odd offset of a larger buffer, as where it came in a frame.
      const shifted = new Uint8Array(bytes.length + 3);
      shifted.set(bytes, 3);
      assertSame(decodeRecords(shifted.subarray(3)), records);
    }));
  }
});

Deno.test("record codec: a batch that is not all pairs travels another way", () => {
  const pair = (i: number): unknown => ["k", i];
  for (
    const odd of [["k"], ["k", 1, 2], [1, "k"], ["k", "v"], "kv", { 0: "k" }]
  ) {
    const records = [...Array.from({ length: 20 }, (_, i) => pair(i)), odd];
    const bytes = encodeRecords(records);
    assertEquals(bytes[0], JSON_TEXT);
    assertSame(decodeRecords(bytes), records);
  }
  assertSame(decodeRecords(encodeRecords([])), []);
});

Deno.test("record codec: bytes that are no encoded records are refused", () => {
  const pairs = encodeRecords(Array.from({ length: 9 }, (_, i) => ["añ", i]));
  const broken: Uint8Array[] = [
    new Uint8Array(0),
    Uint8Array.of(0),
    Uint8Array.of(9, 1, 2),
    Uint8Array.of(JSON_TEXT),
    Uint8Array.of(JSON_TEXT, 0x5b),
    Uint8Array.of(JSON_TEXT, 0xff),
    Uint8Array.of(STRUCTURED_CLONE, 1, 2, 3),
    encodeValue("one value"),
  ];
  for (let length = 1; length < pairs.length; length++) {
    broken.push(pairs.subarray(0, length));
  }
  const wrongLength = pairs.slice();
  // Behind the tag, the header of 16 bytes and nine numbers of 4.
  wrongLength[1 + 16 + 36]++;
  const wrongSize = pairs.slice();
  wrongSize[1 + 4] = 2;
  for (const bytes of [...broken, wrongLength, wrongSize]) {
    assertThrows(() => decodeRecords(bytes), RecordCodecError, "Cannot decode");
  }
});
