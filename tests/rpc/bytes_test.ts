import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  ByteReader,
  ByteWriter,
  MalformedBytesError,
} from "../../lib/rpc/bytes.ts";

const unicode = fc.string({ unit: "binary" });

function written(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter(1);
  write(writer);
  return writer.written();
}

Deno.test("bytes: integers of all sizes come back, and nothing is left over", () => {
  fc.assert(fc.property(
    fc.nat(255),
    fc.nat(65_535),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    (u8, u16, i32, i64, any) => {
      const reader = new ByteReader(written((writer) => {
        writer.u8(u8);
        writer.u16(u16);
        writer.i32(i32);
        writer.i64(i64);
        writer.i64(any);
      }));
      assertEquals(reader.u8(), u8);
      assertEquals(reader.u16(), u16);
      assertEquals(reader.i32(), i32);
      assertEquals(reader.i64(), i64);
      assertEquals(BigInt(reader.anyI64()), any);
      assertEquals(reader.remaining, 0);
    },
  ));
});

Deno.test("bytes: integers are big-endian", () => {
  assertEquals(
    [...written((writer) => {
      writer.u16(0x0102);
      writer.i32(-2);
      writer.i64(2 ** 40 + 3);
    })],
    [1, 2, 255, 255, 255, 254, 0, 0, 1, 0, 0, 0, 0, 3],
  );
});

// EncodersSuite
Deno.test("bytes: texts of any content come back in both encodings", () => {
  fc.assert(fc.property(unicode, fc.string({ unit: "grapheme" }), (a, b) => {
    const reader = new ByteReader(written((writer) => {
      writer.utf(a);
      writer.string(b);
    }));
    assertEquals(reader.utf(), a);
    assertEquals(reader.string(), b);
    assertEquals(reader.remaining, 0);
  }));
});

Deno.test("bytes: a text that begins with a byte order mark keeps it", () => {
  const text = "\ufeffspark";
  assertEquals(
    new ByteReader(written((writer) => writer.string(text))).string(),
    text,
  );
});

Deno.test("bytes: modified UTF-8 is that of Java's writeUTF", () => {
  // NUL takes two bytes, and a character beyond U+FFFF its two surrogates of three.
  const bytes = [...written((writer) => writer.utf("a\0é€😀"))];
  assertEquals(bytes, [
    ...[0, 14],
    0x61,
    ...[0xc0, 0x80],
    ...[0xc3, 0xa9],
    ...[0xe2, 0x82, 0xac],
    ...[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
  ]);
});

Deno.test("bytes: modified UTF-8 takes 65,535 bytes and no more", () => {
  const longest = "é".repeat(32_767) + "a";
  const reader = new ByteReader(written((writer) => writer.utf(longest)));
  assertEquals(reader.utf(), longest);
  assertThrows(
    () => written((writer) => writer.utf(longest + "a")),
    RangeError,
    "65536",
  );
});

Deno.test("bytes: broken modified UTF-8 is an error", () => {
  const broken = [[0x80], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98, 0x80]];
  for (const text of broken) {
    const bytes = new Uint8Array([0, text.length, ...text]);
    assertThrows(() => new ByteReader(bytes).utf(), MalformedBytesError);
  }
});

// EncodersSuite
Deno.test("bytes: a length prefix without the bytes behind it is an error", () => {
  for (const length of [-1, 2 ** 31 - 1, 5]) {
    const bytes = written((writer) => {
      writer.i32(length);
      writer.text("four");
    });
    assertThrows(() => new ByteReader(bytes).string(), MalformedBytesError);
  }
});

Deno.test("bytes: reading past the end is an error for each kind", () => {
  const reads: ((reader: ByteReader) => unknown)[] = [
    (reader) => reader.u8(),
    (reader) => reader.u16(),
    (reader) => reader.i32(),
    (reader) => reader.i64(),
    (reader) => reader.utf(),
    (reader) => reader.string(),
    (reader) => reader.bytes(1),
  ];
  for (const read of reads) {
    assertThrows(
      () => read(new ByteReader(new Uint8Array([7]), 1)),
      MalformedBytesError,
    );
  }
});

Deno.test("bytes: what a writer handed out is not changed by what follows", () => {
  const writer = new ByteWriter(8);
  writer.text("first");
  const taken = writer.take();
  writer.text("SECOND");
  assertEquals(new TextDecoder().decode(taken), "first");
  assertEquals(new TextDecoder().decode(writer.written()), "SECOND");
});

Deno.test("bytes: what was written after a position can be taken back", () => {
  const writer = new ByteWriter(2);
  writer.text("keep");
  const length = writer.length;
  writer.text("drop, and grow the buffer");
  writer.truncate(length);
  writer.text("!");
  assertEquals(new TextDecoder().decode(writer.written()), "keep!");
});
