/** Streams of a JVM read here, and ours read by a JVM. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  annotationOf,
  type ClassDescriptor,
  type Content,
  fieldOf,
  type JavaObject,
  type JavaString,
  javaString,
  newObject,
  readJavaStream,
  writeJavaStream,
} from "../../../lib/jvm/stream/mod.ts";
import { ByteReader, ByteWriter } from "../../../lib/rpc/bytes.ts";

const NO_JAVA = hasJava() ? "" : " (skipped: there is no java)";

function hasJava(): boolean {
  try {
    const { success } = new Deno.Command("java", {
      args: ["-version"],
      stdout: "null",
      stderr: "null",
    }).outputSync();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function shapes(mode: "read" | "write", file: string): Promise<string> {
  const program = fileURLToPath(new URL("java/Shapes.java", import.meta.url));
  const { success, stdout, stderr } = await new Deno.Command("java", {
    args: [program, mode, file],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

async function withFile(
  run: (path: string) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "sparkts-test-" });
  try {
    await run(join(dir, "streams"));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

function written(contents: readonly Content[]): Uint8Array {
  const writer = new ByteWriter();
  writeJavaStream(contents, writer);
  return writer.written().slice();
}

Deno.test({
  name: `java stream: what a JVM writes is read, and written back${NO_JAVA}`,
  ignore: NO_JAVA !== "",
  fn: () =>
    withFile(async (file) => {
      await shapes("write", file);
      const reader = new ByteReader(await Deno.readFile(file));
      const streams = new Map<string, Content[]>();
      while (reader.remaining > 0) {
        const name = reader.utf();
        const bytes = reader.bytes(reader.i32());
        const contents = readJavaStream(bytes);
        assertEquals(written(contents), bytes, name);
        streams.set(name, contents);
      }
      assertEquals(streams.size, 39);
      checkValues(streams);
    }),
});

/** That the bytes come back says little of what was read from them. */
function checkValues(streams: ReadonlyMap<string, Content[]>): void {
  const first = (name: string) => streams.get(name)![0] as JavaObject;
  const fields = (name: string) => first(name).data[0].values;
  assertEquals(first("null"), null as unknown as JavaObject);
  assertEquals(fields("least"), [
    -128,
    0,
    -Number.MAX_VALUE,
    -3.4028234663852886e38,
    -(2 ** 31),
    -(2n ** 63n),
    -32_768,
    false,
  ]);
  assertEquals(fields("most"), [
    127,
    0xffff,
    Number.MAX_VALUE,
    3.4028234663852886e38,
    2 ** 31 - 1,
    2n ** 63n - 1n,
    32_767,
    true,
  ]);
  assertEquals(fields("odd"), [-1, 120, NaN, NaN, -1, -1n, -1, true]);
  assertEquals(fields("zero"), [0, 120, -0, -0, 0, 0n, 0, false]);
  const text = (name: string) =>
    (streams.get(name)![0] as unknown as JavaString).value;
  assertEquals(
    text("odd text"),
    "nul \0 lone \ud800 pair \ud83d\ude00 \u00e9 \u20ac \u07ff\u0800\uffff",
  );
  assertEquals(text("longest short text").length, 65_535);
  assertEquals(text("long text"), "\u20ac".repeat(30_000));
  const inherited = first("inherited");
  assertEquals(inherited.data.length, 2);
  assertEquals(fieldOf(inherited, "kept"), javaString("child"));
  assertEquals(fieldOf(inherited, "lost"), undefined);
  assertEquals(
    annotationOf(first("several blocks")).map((content) =>
      content?.kind === "block" ? content.bytes.length : content?.kind
    ),
    [1024, 1024, 1024, 1024, 908, "string", 7],
  );
  const cycle = first("cycle");
  assertEquals(fieldOf(cycle, "next") === cycle, true);
  assertEquals(
    streams.get("several")!.map((content) => content?.kind),
    [
      ...["string", "block", "string", "reset", "string", "string"] as const,
      ...["block", "block", "block"] as const,
    ],
  );
}

const INTEGER: ClassDescriptor = {
  kind: "descriptor",
  name: "java.lang.Integer",
  serialVersionUID: 1360826667806852920n,
  flags: 2,
  fields: [{ type: "I", name: "value", className: null }],
  annotation: [],
  superclass: {
    kind: "descriptor",
    name: "java.lang.Number",
    serialVersionUID: -8742448824652078965n,
    flags: 2,
    fields: [],
    annotation: [],
    superclass: null,
    proxyInterfaces: null,
  },
  proxyInterfaces: null,
};

const ARRAY_LIST: ClassDescriptor = {
  kind: "descriptor",
  name: "java.util.ArrayList",
  serialVersionUID: 8683452581122892189n,
  flags: 3,
  fields: [{ type: "I", name: "size", className: null }],
  annotation: [],
  superclass: null,
  proxyInterfaces: null,
};

const OBJECTS: ClassDescriptor = {
  kind: "descriptor",
  name: "[Ljava.lang.Object;",
  serialVersionUID: -8012369246846506644n,
  flags: 2,
  fields: [],
  annotation: [],
  superclass: null,
  proxyInterfaces: null,
};

Deno.test({
  name: `java stream: a JVM reads what is built here${NO_JAVA}`,
  ignore: NO_JAVA !== "",
  fn: () =>
    withFile(async (file) => {
      const seven = newObject(INTEGER, { value: 7 });
      const shared = javaString("shared");
      const list = newObject(ARRAY_LIST, { size: 3 }, [
        { kind: "block", bytes: new Uint8Array([0, 0, 0, 3]) },
        seven,
        shared,
        shared,
      ]);
      const graphs: Content[] = [
        seven,
        list,
        { kind: "array", descriptor: OBJECTS, values: [list, list, null] },
        javaString("é€😀"),
        javaString("€".repeat(30_000)),
        javaString("x".repeat(40_000)),
      ];
      const all = new ByteWriter();
      for (const graph of graphs) {
        const bytes = written([graph]);
        all.i32(bytes.length);
        all.bytes(bytes);
      }
      await Deno.writeFile(file, all.written());
      const lines = (await shapes("read", file)).trim().split("\n");
      assertEquals(lines, [
        "7",
        "[7, shared, shared]",
        "[[7, shared, shared], [7, shared, shared], null]",
        "é€😀",
        "€".repeat(30_000),
        "x".repeat(40_000),
      ]);
    }),
});
