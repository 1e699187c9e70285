import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ByteWriter, MalformedBytesError } from "../../lib/rpc/bytes.ts";
import { nativeFormat } from "../../lib/rpc/payload.ts";

const codec = nativeFormat.create();

function encoded(message: unknown): Uint8Array {
  const writer = new ByteWriter();
  codec.encode(message, writer);
  return writer.take();
}

Deno.test("payload: any JSON comes back", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const bytes = encoded(value);
    assert(nativeFormat.accepts(bytes));
    assertEquals(
      codec.decode(bytes),
      JSON.parse(JSON.stringify(value)),
    );
  }));
});

Deno.test("payload: bytes in the field data come back beside the other fields", () => {
  fc.assert(fc.property(
    fc.uint8Array({ maxLength: 100 }),
    fc.string({ unit: "grapheme" }),
    (data, text) => {
      const message = { type: "T", text, data, nested: { list: [1, null] } };
      assertEquals(codec.decode(encoded(message)), message);
    },
  ));
});

Deno.test("payload: data that was read outlives the buffer it was read from", () => {
  const bytes = encoded({ data: new Uint8Array([1, 2, 3]) });
  const message = codec.decode(bytes) as { data: Uint8Array };
  bytes.fill(0xaa);
  assertEquals(message.data, new Uint8Array([1, 2, 3]));
});

Deno.test("payload: an answer without a value is null", () => {
  assertEquals(codec.decode(encoded(undefined)), null);
});

Deno.test("payload: broken ones are errors", () => {
  const broken = [
    [1],
    [1, 0x7b],
    [1, 0x22, 0xff, 0x22],
    [2],
    [2, 0, 0, 0, 9, 0x7b, 0x7d],
    [2, 255, 255, 255, 255, 0x7b, 0x7d],
    [2, 0, 0, 0, 1, 0x37],
    [2, 0, 0, 0, 4, 0x6e, 0x75, 0x6c, 0x6c],
  ];
  for (const bytes of broken) {
    assertThrows(
      () => codec.decode(new Uint8Array(bytes)),
      MalformedBytesError,
    );
  }
});

Deno.test("payload: a length is not read from what lies behind the payload", () => {
  const buffer = new Uint8Array([2, 0, 0, 0, 2, 0x7b, 0x7d, 9]);
  assertThrows(
    () => codec.decode(buffer.subarray(0, 3)),
    MalformedBytesError,
  );
});

Deno.test("payload: a Java object stream is not taken for one of ours", () => {
  assertEquals(nativeFormat.accepts(new Uint8Array([0xac, 0xed, 0, 5])), false);
});
