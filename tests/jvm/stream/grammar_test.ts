/**
 * Each thing that a stream can hold, as section 6.4 of the Java Object
 * Serialization Specification spells it, byte by byte.
 */
import { assertEquals, assertStrictEquals } from "@std/assert";
import { ByteWriter } from "../../../lib/rpc/bytes.ts";
import {
  type ClassDescriptor,
  type Content,
  type JavaArray,
  type JavaObject,
  type JavaReference,
  javaString,
  type JavaValue,
  readJavaStream,
  type TypeCode,
  writeJavaStream,
} from "../../../lib/jvm/stream/mod.ts";

type Bytes = number | string | Bytes[];

/** Numbers are bytes, and texts their letters. */
function flat(bytes: Bytes): number[] {
  if (typeof bytes === "number") return [bytes];
  if (typeof bytes !== "string") return bytes.flatMap(flat);
  return Array.from(bytes, (letter) => letter.charCodeAt(0));
}

/** A text of less than 256 letters, with its length. */
function utf(text: string): Bytes {
  return [0, text.length, text];
}

/** What is read of a stream, which must be written as it came. */
function readBack(...bytes: Bytes[]): Content[] {
  const stream = Uint8Array.from(flat([0xac, 0xed, 0, 5, bytes]));
  const contents = readJavaStream(stream);
  const writer = new ByteWriter();
  writeJavaStream(contents, writer);
  assertEquals(writer.written(), stream);
  return contents;
}

const UID = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe];
/** Nothing annotates the class, and it extends none. */
const NO_MORE = [0x78, 0x70];

function described(
  name: string,
  flags: number,
  more: Partial<ClassDescriptor> = {},
): ClassDescriptor {
  return {
    kind: "descriptor",
    name,
    serialVersionUID: -2n,
    flags,
    fields: [],
    annotation: [],
    superclass: null,
    proxyInterfaces: null,
    ...more,
  };
}

/** The bytes of a class without fields. */
function classBytes(name: string, flags: number): Bytes {
  return [0x72, utf(name), UID, flags, 0, 0, NO_MORE];
}

/** A reference to what got the nth handle, counted from 0. */
function handle(nth: number): Bytes {
  return [0x71, 0, 0x7e, 0, nth];
}

Deno.test("java stream: nothing at all, null and a string", () => {
  assertEquals(readBack(), []);
  assertEquals(readBack(0x70, 0x74, utf("hi")), [null, javaString("hi")]);
});

Deno.test("java stream: a text keeps its NUL and its lone surrogates", () => {
  const lone = [0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80, 0xed, 0xa0, 0x80];
  assertEquals(readBack(0x74, 0, 11, 0xc0, 0x80, lone), [
    javaString("\0\ud800\udc00\ud800"),
  ]);
});

Deno.test("java stream: a text of more than 65,535 bytes is a long string", () => {
  assertEquals(
    readBack(0x7c, 0, 0, 0, 0, 0, 1, 0, 0, "x".repeat(65_536)),
    [javaString("x".repeat(65_536))],
  );
  assertEquals(
    readBack(0x74, 0xff, 0xff, "x".repeat(65_535)),
    [javaString("x".repeat(65_535))],
  );
});

Deno.test("java stream: a reference is the object that has the handle", () => {
  const [first, second, again] = readBack(
    [0x74, utf("a"), 0x74, utf("a")],
    handle(0),
  );
  assertStrictEquals(again, first);
  assertEquals(second === first, false);
});

Deno.test("java stream: blocks come as they were, short and long", () => {
  assertEquals(readBack(0x77, 3, 1, 2, 3, 0x77, 0), [
    { kind: "block", bytes: new Uint8Array([1, 2, 3]) },
    { kind: "block", bytes: new Uint8Array() },
  ]);
  assertEquals(readBack(0x7a, 0, 0, 1, 0, Array(256).fill(7)), [
    { kind: "block", bytes: new Uint8Array(256).fill(7) },
  ]);
});

Deno.test("java stream: handles start anew after a reset", () => {
  const contents = readBack(
    [0x74, utf("a"), handle(0), 0x79, 0x74, utf("b")],
    handle(0),
  );
  assertEquals(contents.slice(2), [
    { kind: "reset" },
    javaString("b"),
    javaString("b"),
  ]);
  assertStrictEquals(contents[4], contents[3]);
});

Deno.test("java stream: a class descriptor has its fields, annotation and superclass", () => {
  const [sub] = readBack(
    [0x72, utf("Sub"), UID, 3, 0, 3],
    ["J", utf("n")],
    ["L", utf("s"), 0x74, utf("Ljava/lang/String;")],
    ["[", utf("t"), handle(1)],
    [0x77, 1, 9, 0x74, utf("http://a"), 0x78],
    classBytes("Super", 2),
  ) as ClassDescriptor[];
  const text = javaString("Ljava/lang/String;");
  assertEquals(
    sub,
    described("Sub", 3, {
      fields: [
        { type: "J", name: "n", className: null },
        { type: "L", name: "s", className: text },
        { type: "[", name: "t", className: text },
      ],
      annotation: [
        { kind: "block", bytes: new Uint8Array([9]) },
        javaString("http://a"),
      ],
      superclass: described("Super", 2),
    }),
  );
  assertStrictEquals(sub.fields[1].className, sub.fields[2].className);
});

Deno.test("java stream: a class is the one described", () => {
  const [type, again] = readBack(0x76, classBytes("A", 2), handle(1));
  assertEquals(type, { kind: "class", descriptor: described("A", 2) });
  assertStrictEquals(again, type);
});

Deno.test("java stream: a proxy class has interfaces", () => {
  const [object] = readBack(
    [0x73, 0x7d, 0, 0, 0, 2, utf("a.B"), utf("a.C"), 0x78],
    [0x72, utf("P"), UID, 2, 0, 1, "I", utf("h"), NO_MORE],
    [0, 0, 0, 7],
  ) as JavaObject[];
  const superclass = described("P", 2, {
    fields: [{ type: "I", name: "h", className: null }],
  });
  const descriptor = described("", 2, {
    serialVersionUID: 0n,
    superclass,
    proxyInterfaces: ["a.B", "a.C"],
  });
  assertEquals(object, {
    kind: "object",
    descriptor,
    data: [
      { descriptor: superclass, values: [7], annotation: null },
      { descriptor, values: [], annotation: null },
    ],
  });
});

/** A type, the bytes of a value, and the value. */
const PRIMITIVES: readonly (readonly [TypeCode, number[], JavaValue])[] = [
  ["B", [0x80], -128],
  ["C", [0xff, 0xfe], 0xfffe],
  ["D", [0xc0, 0x04, 0, 0, 0, 0, 0, 0], -2.5],
  ["D", [0x80, 0, 0, 0, 0, 0, 0, 0], -0],
  ["D", [0x7f, 0xf8, 0, 0, 0, 0, 0, 0], NaN],
  ["F", [0x3f, 0xc0, 0, 0], 1.5],
  ["F", [0x7f, 0xc0, 0, 0], NaN],
  ["F", [0xff, 0x80, 0, 0], -Infinity],
  ["I", [0x80, 0, 0, 1], -2147483647],
  ["J", [0x80, 0, 0, 0, 0, 0, 0, 1], -(2n ** 63n) + 1n],
  ["J", [0, 0, 0, 0, 0, 0, 0, 1], 1n],
  ["S", [0x80, 1], -32767],
  ["Z", [1], true],
];

for (const [type, bytes, value] of PRIMITIVES) {
  Deno.test(`java stream: ${value} is a value of ${type}, in a field and in an array`, () => {
    const [object] = readBack(
      [0x73, 0x72, utf("A"), UID, 2, 0, 1, type, utf("f"), NO_MORE, bytes],
    ) as JavaObject[];
    assertEquals(object.data[0].values, [value]);
    const [array] = readBack(
      [0x75, classBytes(`[${type}`, 2), 0, 0, 0, 2, bytes, bytes],
    ) as JavaArray[];
    const values = type === "B" ? new Uint8Array([0x80, 0x80]) : [value, value];
    assertEquals(array.values, values as JavaArray["values"]);
  });
}

Deno.test("java stream: bytes of an array and of a block are copies", () => {
  const stream = Uint8Array.from(
    flat([
      [0xac, 0xed, 0, 5, 0x75, classBytes("[B", 2), 0, 0, 0, 1, 5],
      [0x77, 1, 6],
    ]),
  );
  const [array, block] = readJavaStream(stream);
  stream.fill(0);
  assertEquals((array as JavaArray).values, new Uint8Array([5]));
  assertEquals(block, { kind: "block", bytes: new Uint8Array([6]) });
});

Deno.test("java stream: an object has the data of each class, the topmost first", () => {
  const [object] = readBack(
    [0x73, 0x72, utf("Sub"), UID, 3, 0, 1, "I", utf("f"), 0x78],
    [0x72, utf("Top"), UID, 2, 0, 1, "S", utf("f"), NO_MORE],
    [0, 1, 0, 0, 0, 2, 0x77, 1, 3, 0x70, 0x78],
  ) as JavaObject[];
  assertEquals(
    object.data.map(({ descriptor, values, annotation }) => [
      descriptor.name,
      values,
      annotation,
    ]),
    [
      ["Top", [1], null],
      ["Sub", [2], [
        { kind: "block", bytes: new Uint8Array([3]) },
        null,
      ]],
    ],
  );
});

Deno.test("java stream: an externalizable has but what it wrote, whatever it extends", () => {
  const [object] = readBack(
    [0x73, 0x72, utf("Sub"), UID, 12, 0, 0, 0x78],
    [0x72, utf("Top"), UID, 2, 0, 1, "S", utf("f"), NO_MORE],
    [0x77, 1, 3, 0x74, utf("x"), 0x78],
  ) as JavaObject[];
  assertEquals(object.data, [{
    descriptor: object.descriptor,
    values: [],
    annotation: [
      { kind: "block", bytes: new Uint8Array([3]) },
      javaString("x"),
    ],
  }]);
  assertEquals(object.descriptor.superclass?.name, "Top");
});

Deno.test("java stream: an enum's constant has the name, which can be shared", () => {
  const [one, name, again] = readBack(
    [0x7e, classBytes("E", 0x12), 0x74, utf("ONE")],
    [handle(2), handle(1)],
  );
  assertEquals(one, {
    kind: "enum",
    descriptor: described("E", 0x12),
    constant: javaString("ONE"),
  });
  assertStrictEquals(again, one);
  assertEquals(name, javaString("ONE"));
});

Deno.test("java stream: an object and an array can hold themselves", () => {
  const [object] = readBack(
    [0x73, 0x72, utf("A"), UID, 2, 0, 1, "L", utf("f"), 0x74, utf("LA;")],
    [NO_MORE, handle(2)],
  ) as JavaObject[];
  assertStrictEquals(object.data[0].values[0], object);
  const [array] = readBack(
    [0x75, classBytes("[[L", 2), 0, 0, 0, 2, 0x70, handle(1)],
  ) as JavaArray[];
  const [none, itself] = array.values as readonly JavaReference[];
  assertStrictEquals(none, null);
  assertStrictEquals(itself, array);
});

Deno.test("java stream: nothing that a stream names touches our own objects", () => {
  const [object] = readBack(
    [0x73, 0x72, utf("__proto__"), UID, 2, 0, 2],
    ["I", utf("__proto__"), "I", utf("constructor")],
    [NO_MORE, 0, 0, 0, 1, 0, 0, 0, 2],
  ) as JavaObject[];
  assertEquals(object.data[0].values, [1, 2]);
  assertStrictEquals(Object.getPrototypeOf(object), Object.prototype);
});
