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
  readJavaStream,
  writeJavaStream,
} from "../../../lib/jvm/stream/mod.ts";
import { ByteReader, ByteWriter } from "../../../lib/rpc/bytes.ts";
import { canRun } from "../../process/harness.ts";
import { buildGraphs } from "./built_graphs.ts";

/** `java` compiles the program by itself, where there is a compiler. */
const NO_JAVA = canRun("javac", "-version")
  ? ""
  : " (skipped: there is no javac)";

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

/** What a JVM wrote, by the names of the shapes, and the classes in it. */
interface Written {
  readonly streams: Map<string, Content[]>;
  readonly descriptors: Map<string, ClassDescriptor>;
}

/** Reads all that a JVM writes, and tries that it is written back. */
async function readShapes(file: string): Promise<Written> {
  await shapes("write", file);
  const reader = new ByteReader(await Deno.readFile(file));
  const streams = new Map<string, Content[]>();
  const descriptors = new Map<string, ClassDescriptor>();
  while (reader.remaining > 0) {
    const name = reader.utf();
    const bytes = reader.bytes(reader.i32());
    const contents = readJavaStream(bytes, {
      onDescriptor: (each) => descriptors.set(each.name, each),
    });
    assertEquals(written(contents), bytes, name);
    streams.set(name, contents);
  }
  return { streams, descriptors };
}

Deno.test({
  name:
    `java stream: what a JVM writes is read and written back, and it reads what is built here${NO_JAVA}`,
  ignore: NO_JAVA !== "",
  fn: () =>
    withFile(async (file) => {
      const { streams, descriptors } = await readShapes(file);
      checkValues(streams);
      const built = buildGraphs(descriptors, streams.get("proxy")![0]);
      const all = new ByteWriter();
      for (const { contents } of built) {
        const bytes = written(contents);
        all.i32(bytes.length);
        all.bytes(bytes);
      }
      await Deno.writeFile(file, all.written());
      const lines = (await shapes("read", file)).trim().split("\n");
      assertEquals(lines, built.map(({ shown }) => shown));
    }),
});

/** That the bytes come back says little of what was read from them. */
function checkValues(streams: ReadonlyMap<string, Content[]>): void {
  assertEquals(streams.size, 44);
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
  assertEquals(fields("other NaNs").slice(2, 4), [NaN, NaN]);
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
  assertEquals(fields("named"), [3, javaString("named")]);
  const own = (name: string) =>
    first(name).data.map(({ descriptor }) => descriptor.name);
  assertEquals(own("further"), ["Shapes$Further"]);
  assertEquals(own("overriding"), ["Shapes$Overriding"]);
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
