import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { MalformedBytesError } from "../../lib/rpc/bytes.ts";
import { encodeEnvelope, EnvelopeReader } from "../../lib/rpc/envelope.ts";

const address = fc.option(fc.record({
  host: fc.string({ maxLength: 30 }),
  port: fc.integer(),
}));
const anyEnvelope = fc.record({
  sender: address,
  receiver: address,
  receiverName: fc.string({ unit: "binary", maxLength: 30 }),
});

// NettyRpcEnvSuite
Deno.test("envelope: sender, receiver and name come back, also null ones", () => {
  fc.assert(fc.property(
    fc.array(anyEnvelope, { minLength: 1, maxLength: 5 }),
    fc.uint8Array({ maxLength: 20 }),
    (envelopes, payload) => {
      const reader = new EnvelopeReader();
      for (const envelope of envelopes) {
        const encoded = encodeEnvelope(envelope);
        const body = new Uint8Array([...encoded, ...payload]);
        assertEquals(reader.read(body), { envelope, length: encoded.length });
      }
    },
  ));
});

Deno.test("envelope: bytes are those of Spark's RequestMessage", () => {
  const bytes = encodeEnvelope({
    sender: { host: "ab", port: 258 },
    receiver: null,
    receiverName: "M",
  });
  assertEquals([...bytes], [1, 0, 2, 97, 98, 0, 0, 1, 2, 0, 0, 1, 77]);
});

Deno.test("envelope: the same bytes give the same object, and other ones do not", () => {
  const one = { sender: null, receiver: null, receiverName: "One" };
  const two = { sender: null, receiver: null, receiverName: "Two" };
  const reader = new EnvelopeReader();
  const first = reader.read(encodeEnvelope(one)).envelope;
  assertStrictEquals(reader.read(encodeEnvelope(one)).envelope, first);
  assertEquals(reader.read(encodeEnvelope(two)).envelope, two);
  assertEquals(reader.read(encodeEnvelope(one)).envelope, one);
});

Deno.test("envelope: a remembered one does not change with the buffer it was read from", () => {
  const one = { sender: null, receiver: null, receiverName: "One" };
  const two = { sender: null, receiver: null, receiverName: "Two" };
  const reader = new EnvelopeReader();
  const buffer = encodeEnvelope(one);
  reader.read(buffer);
  buffer.set(encodeEnvelope(two));
  assertEquals(reader.read(buffer).envelope, two);
});

Deno.test("envelope: a body that ends within it is an error", () => {
  const whole = encodeEnvelope({
    sender: { host: "host", port: 1 },
    receiver: { host: "host", port: 2 },
    receiverName: "Name",
  });
  for (let length = 0; length < whole.length; length++) {
    assertThrows(
      () => new EnvelopeReader().read(whole.subarray(0, length)),
      MalformedBytesError,
    );
  }
});
