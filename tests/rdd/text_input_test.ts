import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { gzipSync } from "node:zlib";
import {
  LineTooLongError,
  openTextSplit,
  TextInputError,
  type TextInputOptions,
} from "../../lib/rdd/text_input.ts";
import type { TextSplit } from "../../lib/rdd/text_splits.ts";

/** The lines of a whole file, told another way than the code under test does. */
function referenceLines(bytes: Uint8Array): string[] {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (text === "") return [];
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  if (/[\r\n]$/.test(text)) lines.pop();
  return lines;
}

/** Runs `body` with a path to write to, and removes what is there afterwards. */
async function withFile(
  body: (path: string, write: (content: Uint8Array) => void) => unknown,
): Promise<void> {
  const path = Deno.makeTempFileSync();
  try {
    await body(path, (content) => Deno.writeFileSync(path, content));
  } finally {
    Deno.removeSync(path);
  }
}

/** Cuts a file at the points given. */
function cutAt(path: string, size: number, points: number[]): TextSplit[] {
  const cuts = [...new Set(points.map((point) => point % (size + 1)))]
    .filter((cut) => cut > 0 && cut < size).sort((a, b) => a - b);
  const starts = [0, ...cuts];
  return starts.map((start, i) => ({
    path,
    start,
    length: (starts[i + 1] ?? size) - start,
    compressed: false,
  }));
}

function linesOf(split: TextSplit, options?: TextInputOptions): string[] {
  const chunks = openTextSplit(split, options) as Iterable<string[]>;
  return [...chunks].flat();
}

async function unzippedLinesOf(
  path: string,
  options?: TextInputOptions,
): Promise<string[]> {
  const length = Deno.statSync(path).size;
  const split = { path, start: 0, length, compressed: true };
  const lines: string[] = [];
  for await (const chunk of openTextSplit(split, options)) lines.push(...chunk);
  return lines;
}

const pieces = fc.constantFrom(
  ..."\n,\r,\r\n,\n\n,\r\r\n,a,word ,é,😀,\ufeff,漢字".split(","),
).map((text) => new TextEncoder().encode(text));
const garbage = fc.constantFrom(
  [0xff],
  [0xe6, 0xbc],
  [0xf0, 0x9f],
  [0x80],
  [0xef, 0xbb, 0xbf],
).map((bytes) => Uint8Array.from(bytes));
const contents = fc.array(
  fc.oneof({ weight: 8, arbitrary: pieces }, { weight: 1, arbitrary: garbage }),
  { maxLength: 60 },
).map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])));

Deno.test("text input: every line is read exactly once, in order, for any content, cuts and buffer size", async () => {
  await withFile((path, write) => {
    fc.assert(
      fc.property(
        contents,
        fc.array(fc.nat(200), { maxLength: 12 }),
        fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(1 << 16)),
        (bytes, points, bufferSize) => {
          write(bytes);
          const read = cutAt(path, bytes.length, points)
            .flatMap((split) => linesOf(split, { bufferSize }));
          assertEquals(read, referenceLines(bytes));
        },
      ),
      { numRuns: 1500 },
    );
  });
});

Deno.test("text input: a cut at every single byte gives every line once", async () => {
  await withFile((path, write) => {
    const bytes = new TextEncoder().encode(
      "\ufeffone\r\ntwo\n\nthrée\r\r\n😀\rlast",
    );
    write(bytes);
    const points = [...bytes.keys()];
    for (const bufferSize of [1, 2, 3, 1024]) {
      const read = cutAt(path, bytes.length, points)
        .flatMap((split) => linesOf(split, { bufferSize }));
      assertEquals(read, ["one", "two", "", "thrée", "", "😀", "last"]);
    }
  });
});

Deno.test("text input: a line belongs to the split in which it begins", async () => {
  await withFile((path, write) => {
    write(new TextEncoder().encode("aa\nbb\r\ncc"));
    const at = (start: number, length: number) =>
      linesOf({ path, start, length, compressed: false });
    assertEquals(at(0, 3), ["aa"]);
    assertEquals(at(0, 4), ["aa", "bb"]);
    assertEquals(at(3, 3), ["bb"]);
    // Between the CR and the LF: one end, and "cc" begins at 7.
    assertEquals(at(0, 6), ["aa", "bb"]);
    assertEquals(at(6, 1), []);
    assertEquals(at(6, 3), ["cc"]);
    assertEquals(at(8, 1), []);
  });
});

Deno.test("text input: a line end far behind the split's end is found", async () => {
  await withFile((path, write) => {
    const long = "x".repeat(4095);
    for (const end of ["\n", "\r", "\r\n"]) {
      for (const extra of ["", "x", "xx", "x".repeat(10_000)]) {
        write(new TextEncoder().encode(long + extra + end + "next" + end));
        const size = Deno.statSync(path).size;
        for (const points of [[1], [2], [1, 2, 4096, size - 1], [4096]]) {
          const read = cutAt(path, size, points)
            .flatMap((split) => linesOf(split));
          assertEquals(read, [long + extra, "next"]);
        }
      }
    }
  });
});

Deno.test("text input: a chunk holds no more than what one buffer held", async () => {
  await withFile((path, write) => {
    write(new TextEncoder().encode("ab\n".repeat(10_000)));
    const split = { path, start: 0, length: 30_000, compressed: false };
    const chunks = [
      ...openTextSplit(split, { bufferSize: 300 }) as Iterable<string[]>,
    ];
    assert(chunks.length >= 100);
    assert(chunks.every((chunk) => chunk.length > 0 && chunk.length <= 100));
  });
});

Deno.test("text input: a line longer than the limit is refused, a shorter one is not", async () => {
  await withFile(async (path, write) => {
    const options = { bufferSize: 16, maxLineLength: 1000 };
    write(new TextEncoder().encode(`short\n${"x".repeat(1000)}\r\nend`));
    const whole = (length: number) => ({
      path,
      start: 0,
      length,
      compressed: false,
    });
    assertEquals(
      linesOf(whole(1011), options).map((line) => line.length),
      [5, 1000, 3],
    );
    const long = new TextEncoder().encode(`short\n${"x".repeat(6000)}\nend`);
    write(long);
    assertThrows(
      () => linesOf(whole(long.length), options),
      LineTooLongError,
      "longer than 1000 bytes",
    );
    assertThrows(
      () =>
        linesOf({ path, start: 100, length: 100, compressed: false }, options),
      LineTooLongError,
    );
    write(gzipSync(long));
    await assertRejects(() => unzippedLinesOf(path, options), LineTooLongError);
  });
});

Deno.test("text input: a file that has become shorter is refused, one that has grown is read up to the line's end", async () => {
  await withFile((path, write) => {
    write(new TextEncoder().encode("one\ntwo"));
    const split = { path, start: 0, length: 7, compressed: false };
    assertThrows(
      () => linesOf({ ...split, length: 8 }),
      TextInputError,
      "shorter",
    );
    write(new TextEncoder().encode("one\ntwo and more\nthree\n"));
    assertEquals(linesOf(split), ["one", "two and more"]);
  });
});

Deno.test("text input: a loop that stops early leaves no file open", async () => {
  await withFile(async (path, write) => {
    write(new TextEncoder().encode("a\nb\nc\n"));
    const split = { path, start: 0, length: 6, compressed: false };
    for (
      const chunk of openTextSplit(split, { bufferSize: 2 }) as Iterable<
        string[]
      >
    ) {
      assertEquals(chunk, ["a"]);
      break;
    }
    write(gzipSync("a\n".repeat(1_000_000)));
    const length = Deno.statSync(path).size;
    for await (
      const chunk of openTextSplit({ ...split, length, compressed: true })
    ) {
      assertEquals(chunk[0], "a");
      break;
    }
  });
});

Deno.test("text input: gzip gives the same lines as the plain file, for any content", async () => {
  await withFile(async (path, write) => {
    await fc.assert(
      fc.asyncProperty(
        contents,
        fc.integer({ min: 1, max: 20 }),
        async (bytes, bufferSize) => {
          write(gzipSync(bytes));
          assertEquals(
            await unzippedLinesOf(path, { bufferSize }),
            referenceLines(bytes),
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});

Deno.test("text input: a gzip file of several members is read to its end", async () => {
  await withFile(async (path, write) => {
    const members = ["one\ntw", "o\n", "", "three"].map((text) =>
      gzipSync(text)
    );
    write(Uint8Array.from(members.flatMap((member) => [...member])));
    assertEquals(await unzippedLinesOf(path), ["one", "two", "three"]);
  });
});

Deno.test("text input: a gzip file that is cut off or is none at all is refused with its name", async () => {
  await withFile(async (path, write) => {
    const zipped = gzipSync("some text\n".repeat(1000));
    for (
      const broken of [
        zipped.subarray(0, zipped.length - 9),
        new TextEncoder().encode("plain text\n"),
      ]
    ) {
      write(broken);
      const error = await assertRejects(
        () => unzippedLinesOf(path),
        TextInputError,
      );
      assert(error.message.includes(path), error.message);
    }
  });
});

Deno.test("text input: a file that is gone fails the read, plain and gzip", async () => {
  const path = Deno.makeTempFileSync();
  Deno.removeSync(path);
  const split = { path, start: 0, length: 5, compressed: false };
  assertThrows(() => linesOf(split), Deno.errors.NotFound);
  await assertRejects(async () => {
    const lines = openTextSplit({ ...split, compressed: true });
    for await (const chunk of lines) assertEquals(chunk, []);
  });
});
