import { assertEquals, assertThrows } from "@std/assert";
import { PeerDescriptors } from "../../../lib/jvm/descriptors/mod.ts";
import {
  boxBoolean,
  boxInteger,
  moduleObject,
  moduleOf,
  readEnumeration,
  readMap,
  readOption,
  readSequence,
  unboxNumber,
  UnexpectedValueError,
  writeEnumeration,
  writeOption,
} from "../../../lib/jvm/scala/mod.ts";
import {
  type ClassDescriptor,
  type Content,
  type FieldDescriptor,
  fieldOf,
  type JavaArray,
  type JavaObject,
  javaString,
  type JavaValue,
  newObject,
} from "../../../lib/jvm/stream/mod.ts";
import { capturedDescriptors } from "../captured.ts";

/** The classes of a peer with one Scala or the other. */
const PEERS = [
  ["2.12", peer("3.5.9")],
  ["2.13", peer("4.3.0")],
] as const;

function peer(release: string): PeerDescriptors {
  const descriptors = new PeerDescriptors();
  for (const each of capturedDescriptors(release, "RegisterApplication")) {
    descriptors.see(each);
  }
  return descriptors;
}

/** An object of a class that no table needs to have. */
function made(
  name: string,
  fields: Record<string, JavaValue>,
  annotation?: readonly Content[],
): JavaObject {
  const descriptor: ClassDescriptor = {
    kind: "descriptor",
    name,
    serialVersionUID: 1n,
    flags: annotation === undefined ? 2 : 3,
    fields: Object.entries(fields).map(([name, value]): FieldDescriptor =>
      typeof value === "number"
        ? { type: "I", name, className: null }
        : { type: "L", name, className: javaString("Ljava/lang/Object;") }
    ),
    annotation: [],
    superclass: null,
    proxyInterfaces: null,
  };
  return newObject(descriptor, fields, annotation);
}

function array(...values: JavaValue[]): JavaArray {
  const { descriptor } = made("[Ljava.lang.Object;", {});
  return { kind: "array", descriptor, values };
}

function block(...ints: number[]): Content {
  const bytes = new Uint8Array(ints.length * 4);
  ints.forEach((int, i) => new DataView(bytes.buffer).setInt32(i * 4, int));
  return { kind: "block", bytes };
}

const A = javaString("a");
const B = javaString("b");

for (const [scala, descriptors] of PEERS) {
  Deno.test(`scala ${scala}: what is written is read`, () => {
    assertEquals(descriptors.scala, scala);
    assertEquals(readOption(writeOption(undefined, descriptors)), undefined);
    assertEquals(readOption(writeOption(A, descriptors)), A);
    assertEquals(readOption(writeOption(null, descriptors)), null);
    assertEquals(unboxNumber(boxInteger(-7, descriptors)), -7);
    assertEquals(fieldOf(boxBoolean(true, descriptors), "value"), true);
    const enumeration = "org.apache.spark.deploy.ExecutorState$";
    const value = writeEnumeration(enumeration, 5, descriptors);
    assertEquals(readEnumeration(value), 5);
    assertEquals(moduleOf(fieldOf(value, "$outer") ?? null), enumeration);
  });

  Deno.test(`scala ${scala}: a module is one object, in the form of that Scala`, () => {
    const none = moduleObject("scala.None$", descriptors);
    assertEquals(moduleObject("scala.None$", descriptors) === none, true);
    assertEquals(moduleOf(none), "scala.None$");
    assertEquals(
      none.descriptor.name,
      scala === "2.12"
        ? "scala.None$"
        : "scala.runtime.ModuleSerializationProxy",
    );
  });
}

const [[, old], [, recent]] = PEERS;

Deno.test("scala: sequences of every class are read", () => {
  const end = (name: string, of: PeerDescriptors) =>
    moduleObject(`scala.collection.${name}`, of);
  const proxy = "scala.collection.generic.DefaultSerializationProxy";
  const sequences: [string, JavaValue, JavaValue[]][] = [
    ["2.12's Nil", end("immutable.Nil$", old), []],
    ["2.13's Nil", end("immutable.Nil$", recent), []],
    [
      "2.12's List",
      made("scala.collection.immutable.List$SerializationProxy", {}, [
        A,
        B,
        end("immutable.ListSerializeEnd$", old),
      ]),
      [A, B],
    ],
    ["2.13's counted", made(proxy, {}, [block(2), A, B]), [A, B]],
    ["2.13's empty", made(proxy, {}, [block(0)]), []],
    [
      "2.13's uncounted",
      made(proxy, {}, [block(-1), A, end("generic.SerializeEnd$", recent)]),
      [A],
    ],
    [
      "2.12's ArraySeq",
      made("scala.collection.mutable.ArraySeq", {
        length: 2,
        array: array(A, null, B),
      }),
      [A, null],
    ],
    [
      "2.12's ArrayBuffer",
      made("scala.collection.mutable.ArrayBuffer", {
        size0: 1,
        array: array(A, null),
      }),
      [A],
    ],
    [
      "2.12's WrappedArray",
      made("scala.collection.mutable.WrappedArray$ofRef", { array: array(A) }),
      [A],
    ],
    [
      "2.13's immutable ArraySeq",
      made("scala.collection.immutable.ArraySeq$ofRef", {
        unsafeArray: array(A, B),
      }),
      [A, B],
    ],
    [
      "2.13's mutable ArraySeq",
      made("scala.collection.mutable.ArraySeq$ofRef", { array: array(B) }),
      [B],
    ],
  ];
  for (const [name, value, elements] of sequences) {
    assertEquals(readSequence(value), elements, name);
  }
});

Deno.test("scala: maps of every class are read", () => {
  const prefix = "scala$collection$immutable$Map$Map2$$";
  const pair = (key: JavaValue, value: JavaValue) =>
    made("scala.Tuple2", { _1: key, _2: value });
  const empty = (of: PeerDescriptors) =>
    moduleObject("scala.collection.immutable.Map$EmptyMap$", of);
  const one = made("scala.collection.immutable.Map$Map1", {
    key1: A,
    value1: B,
  });
  const maps: [string, JavaValue, [JavaValue, JavaValue][]][] = [
    ["2.12's empty", empty(old), []],
    ["2.13's empty", empty(recent), []],
    ["of one", one, [[A, B]]],
    [
      "2.12's of two, one value null",
      made("scala.collection.immutable.Map$Map2", {
        ...{ key1: A, value1: null, key2: B, value2: A },
      }),
      [[A, null], [B, A]],
    ],
    [
      "2.13's of two",
      made("scala.collection.immutable.Map$Map2", {
        [`${prefix}key1`]: A,
        [`${prefix}value1`]: B,
        [`${prefix}key2`]: B,
        [`${prefix}value2`]: A,
      }),
      [[A, B], [B, A]],
    ],
    [
      "2.12's mutable HashMap",
      made("scala.collection.mutable.HashMap", {}, [block(750, 1, 4), A, B]),
      [[A, B]],
    ],
    [
      "2.12's immutable HashMap",
      made("scala.collection.immutable.HashMap$SerializationProxy", {}, [
        block(2),
        ...[A, B, B, A],
      ]),
      [[A, B], [B, A]],
    ],
    [
      "2.13's others",
      made("scala.collection.generic.DefaultSerializationProxy", {}, [
        block(1),
        pair(A, B),
      ]),
      [[A, B]],
    ],
    [
      "one with a default",
      made("scala.collection.immutable.Map$WithDefault", {
        defaultValue: null,
        underlying: one,
      }),
      [[A, B]],
    ],
  ];
  for (const [name, value, entries] of maps) {
    assertEquals(readMap(value), entries, name);
  }
});

Deno.test("scala: what is no such value is told from it", () => {
  const ring = made("scala.collection.immutable.Map$WithDefault", {
    underlying: null,
  });
  (ring.data[0].values as JavaValue[])[0] = ring;
  const proxy = "scala.collection.generic.DefaultSerializationProxy";
  const attempts: [string, () => unknown][] = [
    ["a string as an option", () => readOption(A)],
    ["null as an option", () => readOption(null)],
    ["a number as a sequence", () => readSequence(7)],
    ["an unknown class as a sequence", () => readSequence(made("X", {}))],
    [
      "a count that is a lie",
      () => readSequence(made(proxy, {}, [block(5), A])),
    ],
    ["no count", () => readSequence(made(proxy, {}, [A]))],
    ["a count of two bytes", () =>
      readSequence(
        made(proxy, {}, [{ kind: "block", bytes: new Uint8Array(2) }]),
      )],
    ["a list without an end", () =>
      readSequence(
        made("scala.collection.immutable.List$SerializationProxy", {}, [A]),
      )],
    ["an unknown class as a map", () => readMap(made("X", {}))],
    ["a map within itself", () => readMap(ring)],
    [
      "a key without a value",
      () => readMap(made("scala.collection.mutable.HashMap", {}, [A])),
    ],
    ["what is no pair", () => readMap(made(proxy, {}, [block(1), A]))],
    ["a string as a state", () => readEnumeration(A)],
    ["a string as a number", () => unboxNumber(A)],
  ];
  for (const [name, attempt] of attempts) {
    assertThrows(attempt, UnexpectedValueError, "instead of", name);
  }
});
