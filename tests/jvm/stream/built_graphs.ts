/** Graphs of a JVM's classes, but built here. */
import { ByteWriter } from "../../../lib/rpc/bytes.ts";
import {
  type BlockData,
  type ClassDescriptor,
  type Content,
  type JavaArray,
  type JavaEnum,
  type JavaObject,
  javaString,
  type JavaValue,
  newObject,
} from "../../../lib/jvm/stream/mod.ts";

/** What a stream holds, and how a JVM that has read it shows that. */
export interface BuiltGraph {
  readonly contents: readonly Content[];
  readonly shown: string;
}

/** Of classes by their names; and a proxy, whose class has none. */
export function buildGraphs(
  descriptors: ReadonlyMap<string, ClassDescriptor>,
  proxy: Content,
): BuiltGraph[] {
  const type = (name: string): ClassDescriptor => {
    const descriptor = descriptors.get(name);
    if (descriptor === undefined) throw new Error(`There is no ${name}.`);
    return descriptor;
  };
  const create = (
    name: string,
    fields: Readonly<Record<string, JavaValue>>,
    annotation?: readonly Content[],
  ) => newObject(type(name), fields, annotation);
  const array = (name: string, values: JavaArray["values"]): JavaArray => ({
    kind: "array",
    descriptor: type(name),
    values,
  });
  const objects = (...values: JavaValue[]) =>
    array("[Ljava.lang.Object;", values);
  const constant = (name: string, value: string): JavaEnum => ({
    kind: "enum",
    descriptor: type(name),
    constant: javaString(value),
  });
  const classOf = (name: string): Content => ({
    kind: "class",
    descriptor: type(name),
  });
  const built = (shown: string, ...contents: Content[]): BuiltGraph => ({
    contents,
    shown,
  });

  const seven = create("java.lang.Integer", { value: 7 });
  const shared = javaString("shared");
  const list = create("java.util.ArrayList", { size: 3 }, [
    block((writer) => writer.i32(3)),
    seven,
    shared,
    shared,
  ]);
  return [
    built("7", seven),
    built("[7, shared, shared]", list),
    built(
      "[[7, shared, shared], [7, shared, shared], null]",
      objects(list, list, null),
    ),
    built("é€😀", javaString("é€😀")),
    built("€".repeat(30_000), javaString("€".repeat(30_000))),
    built("x".repeat(40_000), javaString("x".repeat(40_000))),
    built(
      "-128 65535 4.9E-324 -0.0 2147483647 -9223372036854775808 -1 true",
      create("Shapes$Primitives", {
        b: -128,
        c: 0xffff,
        d: Number.MIN_VALUE,
        f: -0,
        i: 2 ** 31 - 1,
        j: -(2n ** 63n),
        s: -1,
        z: true,
      }),
    ),
    built(
      "0 0 NaN NaN 0 0 0 false",
      create("Shapes$Primitives", { d: NaN, f: NaN }),
    ),
    // A superclass's constructor sets what is not serializable, and nothing
    // sets what is transient.
    built("5 null shared null", create("Shapes$Child", { kept: shared })),
    built(
      "300 7 300 amid \u00e9\u20ac",
      create("Shapes$Custom", { blocks: 300, inner: seven }, [
        block((writer) => {
          writer.i32(300);
          writer.bytes(new Uint8Array(300));
        }),
        javaString("amid"),
        block((writer) => writer.utf("\u00e9\u20ac")),
      ]),
    ),
    built("5 shared", create("Shapes$Named", { count: 5, text: shared })),
    built("one", create("Shapes$Single", { name: shared })),
    ...["Shapes$External", "Shapes$Further"].map((name) =>
      built(
        "8 [7, shared, shared]",
        create(name, {}, [block((writer) => writer.i32(8)), list]),
      )
    ),
    built(
      "own",
      create("Shapes$Overriding", {}, [block((writer) => writer.utf("own"))]),
    ),
    built("true true true", cycle(type("Shapes$Node"), objects)),
    built(
      "TWO; FIRST; SECONDS",
      constant("Shapes$Plain", "TWO"),
      constant("Shapes$Bodied", "FIRST"),
      constant("java.util.concurrent.TimeUnit", "SECONDS"),
    ),
    built(
      "class java.lang.String; int; interface java.lang.Runnable",
      classOf("java.lang.String"),
      classOf("int"),
      classOf("java.lang.Runnable"),
    ),
    built(
      "[interface java.lang.Runnable, interface java.lang.Comparable]",
      proxy,
    ),
    built(
      "[[1, -1], [1, -1], [1, -1], [1.5, NaN], [true, false], [[], null]]",
      objects(
        array("[B", new Uint8Array([1, 255])),
        array("[I", [1, -1]),
        array("[J", [1n, -1n]),
        array("[D", [1.5, NaN]),
        array("[Z", [true, false]),
        array("[[I", [array("[I", []), null]),
      ),
    ),
    // The same again by a reference, and after a reset once more.
    built(
      "shared; shared; shared; [7, shared, shared]; [7, shared, shared]",
      ...[shared, shared, RESET, shared, list, RESET, list],
    ),
  ];
}

const RESET: Content = { kind: "reset" };

function block(fill: (writer: ByteWriter) => void): BlockData {
  const writer = new ByteWriter();
  fill(writer);
  return { kind: "block", bytes: writer.written().slice() };
}

/** A node that is its own next, and in its array, which is in itself. */
function cycle(
  descriptor: ClassDescriptor,
  objects: (...values: JavaValue[]) => JavaArray,
): JavaObject {
  const values: JavaValue[] = [];
  const node: JavaObject = {
    kind: "object",
    descriptor,
    data: [{ descriptor, values, annotation: null }],
  };
  const elements: JavaValue[] = [node];
  const all: JavaArray = { ...objects(), values: elements };
  elements.push(all);
  for (const { name } of descriptor.fields) {
    values.push(name === "next" ? node : all);
  }
  return node;
}
