/** Graphs that are built by hand: by `newObject`, and wrongly. */
import { assertEquals, assertThrows } from "@std/assert";
import { ByteWriter } from "../../../lib/rpc/bytes.ts";
import {
  type ClassDescriptor,
  type Content,
  fieldOf,
  type JavaObject,
  javaObjectBytes,
  javaString,
  type JavaValue,
  newObject,
  readJavaObject,
  type TypeCode,
  writeJavaStream,
} from "../../../lib/jvm/stream/mod.ts";

function described(
  name: string,
  flags: number,
  fields: Readonly<Record<string, TypeCode>> = {},
  superclass: ClassDescriptor | null = null,
): ClassDescriptor {
  return {
    kind: "descriptor",
    name,
    serialVersionUID: 1n,
    flags,
    fields: Object.entries(fields).map(([name, type]) => ({
      type,
      name,
      className: type === "L" || type === "[" ? javaString("LA;") : null,
    })),
    annotation: [],
    superclass,
    proxyInterfaces: null,
  };
}

const BLOCK: Content = { kind: "block", bytes: new Uint8Array([1]) };

Deno.test("java stream: a new object's fields go to the classes that declare them", () => {
  const top = described("Top", 3, { a: "I", same: "J" });
  const sub = described("Sub", 3, { b: "L", same: "J" }, top);
  const object = newObject(sub, { a: 1, b: null, same: 2n }, [BLOCK]);
  assertEquals(object.data, [
    { descriptor: top, values: [1, 0n], annotation: [] },
    { descriptor: sub, values: [null, 2n], annotation: [BLOCK] },
  ]);
  assertEquals(fieldOf(object, "same"), 2n);
  assertEquals(fieldOf(object, "a"), 1);
  assertEquals(fieldOf(object, "none"), undefined);
  assertEquals(readJavaObject(javaObjectBytes(object)), object);
});

Deno.test("java stream: a field that isn't given is 0, false or null", () => {
  const kinds: TypeCode[] = ["B", "C", "D", "F", "I", "J", "S", "Z", "[", "L"];
  const descriptor = described(
    "A",
    2,
    Object.fromEntries(kinds.map((kind) => [`f${kind}`, kind])),
  );
  assertEquals(newObject(descriptor, {}).data[0].values, [
    ...[0, 0, 0, 0, 0, 0n, 0, false, null, null],
  ]);
});

Deno.test("java stream: a new externalizable has its annotation alone", () => {
  const top = described("Top", 2, { a: "I" });
  const object = newObject(described("Sub", 12, {}, top), {}, [BLOCK]);
  assertEquals(object.data.length, 1);
  assertEquals(readJavaObject(javaObjectBytes(object)), object);
  assertThrows(
    () => newObject(object.descriptor, { a: 1 }),
    TypeError,
    "Sub has no field a.",
  );
});

Deno.test("java stream: a new object takes no field or annotation that its class lacks", () => {
  const descriptor = described("A", 2, { a: "I" });
  assertThrows(
    () => newObject(descriptor, { a: 1, b: 2, toString: 3 }),
    TypeError,
    "A has no field b, toString.",
  );
  assertThrows(
    () => newObject(descriptor, {}, [BLOCK]),
    TypeError,
    "A writes nothing beside its fields.",
  );
});

/** A type, and what is no value of it. */
const MISFITS: readonly (readonly [TypeCode, JavaValue])[] = [
  ["B", 128],
  ["B", 1.5],
  ["C", -1],
  ["D", 1n],
  ["F", null],
  ["I", 1n],
  ["I", 2 ** 31],
  ["I", NaN],
  ["J", 1],
  ["J", 2n ** 63n],
  ["S", 32_768],
  ["Z", 1],
  ["L", 1],
  ["[", false],
];

for (const [type, value] of MISFITS) {
  Deno.test(`java stream: ${value} (${typeof value}) is not written as ${type}`, () => {
    const descriptor = described("a.B", 2, { f: type });
    assertThrows(
      () => javaObjectBytes(newObject(descriptor, { f: value })),
      TypeError,
      `The field f of a.B is of type ${type}, and cannot be ${value}`,
    );
    const array = described(`[${type}`, 2);
    assertThrows(
      () =>
        javaObjectBytes({ kind: "array", descriptor: array, values: [value] }),
      TypeError,
      `An array of [${type} cannot hold ${value}`,
    );
  });
}

Deno.test("java stream: a graph that contradicts itself is not written", () => {
  const top = described("Top", 2);
  const descriptor = described("A", 3, { f: "I" }, top);
  const { data } = newObject(descriptor, { f: 1 });
  const part = (more: object): JavaObject => ({
    kind: "object",
    descriptor,
    data: [data[0], { ...data[1], ...more }],
  });
  const refused = (object: Parameters<typeof javaObjectBytes>[0]) =>
    assertThrows(() => javaObjectBytes(object), TypeError).message;
  assertEquals(
    [
      refused(part({ values: [] })),
      refused(part({ values: [1, 2] })),
      refused(part({ annotation: null })),
      refused({ kind: "object", descriptor, data: data.slice(1) }),
      refused({ kind: "object", descriptor, data: [...data, data[1]] }),
      refused({ kind: "object", descriptor, data: data.toReversed() }),
      refused(part({ annotation: [{ kind: "reset" }] })),
      refused({ kind: "array", descriptor: top, values: [] }),
      refused({
        kind: "array",
        descriptor: described("[I", 2),
        values: new Uint8Array(1),
      }),
      refused({
        ...top,
        fields: [{ type: "L", name: "f", className: null }],
      }),
    ],
    [
      "An object's part of A doesn't fit its descriptor.",
      "An object's part of A doesn't fit its descriptor.",
      "An object's part of A doesn't fit its descriptor.",
      "An object of A lacks what Top holds.",
      "An object of A holds what its classes don't have.",
      "An object of A holds what its classes don't have.",
      "Handles cannot be reset within an object.",
      "An array is of Top, which is no array class.",
      "An array of [I is made of bytes.",
      "The field f of Top has a wrong type.",
    ],
  );
});

Deno.test("java stream: an object in the description of its own class is not written", () => {
  const annotation: Content[] = [];
  const descriptor = { ...described("A", 2), annotation };
  const object = newObject(descriptor, {});
  annotation.push(object);
  assertThrows(() => javaObjectBytes(object), TypeError, "holds that object");
});

Deno.test("java stream: whichever NaN a number is, a JVM's is written", () => {
  const values = [NaN, -NaN, Number("0") / Number("0"), Math.sqrt(-1)];
  for (const [letter, bits] of [["D", "7ff8000000000000"], ["F", "7fc00000"]]) {
    const bytes = javaObjectBytes({
      kind: "array",
      descriptor: described(`[${letter}`, 2),
      values,
    });
    assertEquals(
      bytes.subarray(-bits.length * 2).toHex(),
      bits.repeat(4),
    );
  }
});

Deno.test("java stream: texts take the form that their bytes ask for", () => {
  const tags = [21_845, 21_846, 65_535, 65_536].flatMap((length) =>
    ["x", "é", "€"].map((letter) => {
      const bytes = javaObjectBytes(javaString(letter.repeat(length)));
      assertEquals(readJavaObject(bytes), javaString(letter.repeat(length)));
      return bytes[4] === 0x7c ? "long" : "short";
    })
  );
  assertEquals(tags, [
    ...["short", "short", "short"],
    ...["short", "short", "long"],
    ...["short", "long", "long"],
    ...["long", "long", "long"],
  ]);
});

Deno.test("java stream: a stream is written after what the writer already holds", () => {
  const writer = new ByteWriter(1);
  writer.u8(9);
  writeJavaStream([javaString("é".repeat(30_000)), null], writer);
  const bytes = writer.written();
  assertEquals(bytes[0], 9);
  assertEquals(bytes.length, 1 + 4 + 3 + 60_000 + 1);
});
