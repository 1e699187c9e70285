import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type Frame, FrameError, FrameType } from "../../lib/rpc/frame.ts";
import { FrameParser } from "../../lib/rpc/frame_parser.ts";
import { encodeFrame, frame, joined } from "./frames.ts";

const MAX = 64 * 1024;

/** A parser and copies of all that it gave. */
function recorder(maxFrameSize = MAX) {
  const frames: Frame[] = [];
  const streamed: number[] = [];
  let ends = 0;
  const parser = new FrameParser({
    frame: (frame) =>
      frames.push(
        "body" in frame ? { ...frame, body: frame.body.slice() } : frame,
      ),
    streamBytes: (bytes, last) => {
      streamed.push(...bytes);
      if (last) ends++;
    },
  }, { maxFrameSize });
  return { parser, frames, streamed, ends: () => ends };
}

/** Pushes from a buffer that is overwritten after each call, as a socket's is. */
function pushInPieces(
  parser: FrameParser,
  bytes: Uint8Array,
  sizes: readonly number[],
): void {
  const buffer = new Uint8Array(Math.max(1, ...sizes));
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const piece = bytes.subarray(at, at + sizes[turn % sizes.length]);
    buffer.set(piece);
    parser.push(buffer.subarray(0, piece.length));
    buffer.fill(0xaa);
    at += piece.length;
  }
}

const requestId = fc.oneof(
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
);
const bytes = fc.uint8Array({ maxLength: 200 });
const text = fc.string({ unit: "grapheme" });

const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({
    type: fc.constantFrom(FrameType.RpcRequest, FrameType.RpcResponse),
    requestId,
    body: bytes,
  }),
  fc.record({
    type: fc.constant(FrameType.RpcFailure),
    requestId,
    error: text,
  }),
  fc.record({ type: fc.constant(FrameType.OneWayMessage), body: bytes }),
  fc.record({ type: fc.constant(FrameType.StreamRequest), streamId: text }),
  fc.record({
    type: fc.constant(FrameType.StreamFailure),
    streamId: text,
    error: text,
  }),
  fc.record({
    type: fc.constant(FrameType.ChunkFetchRequest),
    streamId: requestId,
    chunkIndex: fc.integer(),
  }),
);

// ProtocolSuite, TransportFrameDecoderSuite
Deno.test("frame parser: any frames in any pieces come out equal and in order", () => {
  fc.assert(fc.property(
    fc.array(anyFrame, { maxLength: 12 }),
    fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 8 }),
    (frames, sizes) => {
      const read = recorder();
      pushInPieces(read.parser, joined(frames.map(encodeFrame)), sizes);
      assertEquals(read.frames, frames);
      assert(read.parser.atBoundary);
    },
  ));
});

// ProtocolSuite
Deno.test("frame parser: bodies of 0, 10 and 100 bytes and an empty error text", () => {
  const frames: Frame[] = [0, 10, 100].map((size) => ({
    type: FrameType.RpcRequest,
    requestId: size,
    body: new Uint8Array(size).fill(size),
  }));
  frames.push({ type: FrameType.RpcFailure, requestId: -1, error: "" });
  const read = recorder();
  read.parser.push(joined(frames.map(encodeFrame)));
  assertEquals(read.frames, frames);
});

// TransportFrameDecoderSuite
Deno.test("frame parser: 100 frames of 1 to 31 KiB in random pieces", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 31 }), {
        minLength: 100,
        maxLength: 100,
      }),
      fc.array(fc.integer({ min: 256, max: 4351 }), { minLength: 20 }),
      (kibibytes, sizes) => {
        const all = kibibytes.map((size) =>
          encodeFrame({
            type: FrameType.OneWayMessage,
            body: new Uint8Array(size * 1024).fill(size),
          })
        );
        const read = recorder();
        pushInPieces(read.parser, joined(all), sizes);
        assertEquals(read.frames.length, 100);
        for (const [i, got] of read.frames.entries()) {
          const body = got.type === FrameType.OneWayMessage ? got.body : [];
          assertEquals(body.length, kibibytes[i] * 1024);
          assert(body.every((byte) => byte === kibibytes[i]));
        }
        assert(read.parser.atBoundary);
      },
    ),
    { numRuns: 3 },
  );
});

// TransportFrameDecoderSuite
Deno.test("frame parser: the length may come in two pieces, cut anywhere", () => {
  const wanted: Frame = { type: FrameType.StreamRequest, streamId: "s" };
  const whole = encodeFrame(wanted);
  for (let cut = 0; cut <= 8; cut++) {
    const read = recorder();
    read.parser.push(whole.subarray(0, cut));
    assertEquals(read.frames, []);
    assertEquals(read.parser.atBoundary, cut === 0);
    read.parser.push(whole.subarray(cut));
    assertEquals(read.frames, [wanted]);
  }
});

// TransportFrameDecoderSuite
Deno.test("frame parser: a length of -1, 0 or 8 is an error, in one piece or two", () => {
  for (const length of [-1n, 0n, 8n, -(2n ** 63n)]) {
    const header = new Uint8Array(8);
    new DataView(header.buffer).setBigInt64(0, length);
    for (const cut of [0, 3]) {
      const { parser } = recorder();
      assertThrows(
        () => {
          parser.push(header.subarray(0, cut));
          parser.push(header.subarray(cut));
        },
        FrameError,
        "gives its length as",
      );
    }
  }
});

Deno.test("frame parser: a frame of the longest length is read, one byte more is refused before it comes", () => {
  const longest = encodeFrame({
    type: FrameType.OneWayMessage,
    body: new Uint8Array(MAX - 5),
  });
  const read = recorder();
  read.parser.push(longest);
  assertEquals(read.frames.length, 1);

  const header = new Uint8Array(8);
  new DataView(header.buffer).setBigInt64(0, BigInt(MAX + 9));
  assertThrows(
    () => recorder().parser.push(header),
    FrameError,
    "spark.rpc.message.maxSize",
  );
});

Deno.test("frame parser: a truncated frame gives nothing and is known as such", () => {
  fc.assert(fc.property(anyFrame, fc.nat(), (value, seed) => {
    const whole = encodeFrame(value);
    const cut = 1 + seed % (whole.length - 1);
    const read = recorder();
    read.parser.push(whole.subarray(0, cut));
    assertEquals(read.frames, []);
    assert(!read.parser.atBoundary);
  }));
});

Deno.test("frame parser: a frame whose fields don't fill it, or don't fit, is an error", () => {
  fc.assert(fc.property(anyFrame, (value) => {
    const whole = encodeFrame(value);
    const longer = frame(value.type, (writer) => {
      writer.bytes(whole.subarray(9));
      writer.u8(0);
    });
    assertThrows(() => recorder().parser.push(longer), FrameError, "too many");
    const shorter = frame(
      value.type,
      (writer) => writer.bytes(whole.subarray(9, -1)),
    );
    assertThrows(
      () => recorder().parser.push(shorter),
      FrameError,
      "cut short",
    );
  }));
});

Deno.test("frame parser: unknown types are errors that name the type", () => {
  for (const type of [1, 2, 10, 11, 255]) {
    assertThrows(
      () => recorder().parser.push(frame(type, () => {})),
      FrameError,
      `${type}`,
    );
  }
});

Deno.test("frame parser: garbage gives a FrameError or waits, never another error", () => {
  fc.assert(fc.property(
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    fc.boolean(),
    (garbage, plausible) => {
      if (plausible) garbage.fill(0, 0, 7); // so that some lengths are good ones
      const { parser } = recorder();
      try {
        parser.push(garbage);
      } catch (error) {
        assert(error instanceof FrameError, String(error));
      }
    },
  ));
});

// TransportFrameDecoderSuite (the interceptor)
Deno.test("frame parser: a stream's bytes pass by, then frames go on, in any pieces", () => {
  fc.assert(fc.property(
    bytes,
    fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
    (raw, sizes) => {
      const before: Frame = {
        type: FrameType.StreamResponse,
        streamId: "s",
        byteCount: raw.length,
      };
      const after: Frame = { type: FrameType.StreamRequest, streamId: "t" };
      const read = recorder();
      pushInPieces(
        read.parser,
        joined([encodeFrame(before), raw, encodeFrame(after)]),
        sizes,
      );
      assertEquals(read.frames, [before, after]);
      assertEquals(read.streamed, [...raw]);
      assertEquals(read.ends(), raw.length > 0 ? 1 : 0);
      assert(read.parser.atBoundary);
    },
  ));
});

Deno.test("frame parser: a connection that ends within a stream is not at a boundary", () => {
  const read = recorder();
  read.parser.push(encodeFrame({
    type: FrameType.StreamResponse,
    streamId: "s",
    byteCount: 2,
  }));
  read.parser.push(new Uint8Array([1]));
  assert(!read.parser.atBoundary);
});

Deno.test("frame parser: a stream of a negative or unsafe length is an error", () => {
  for (const count of [-1n, 2n ** 60n]) {
    const bad = frame(FrameType.StreamResponse, (writer) => {
      writer.string("s");
      writer.i64(count);
    });
    assertThrows(() => recorder().parser.push(bad), FrameError);
  }
});

Deno.test("frame parser: what is no peer of ours is told by its first bytes", () => {
  const guesses = new Map([
    ["GET / HTTP/1.1\r\n", "HTTP"],
    ["OPTIONS / HTTP/1.1\r\n", "HTTP"],
    ["SSH-2.0-OpenSSH_9.9\r\n", "SSH"],
    ["\x16\x03\x01\x02\x00\x01\x00\x01", "TLS"],
  ]);
  for (const [start, guess] of guesses) {
    const bytes = Uint8Array.from(start, (unit) => unit.charCodeAt(0));
    assertThrows(() => recorder().parser.push(bytes), FrameError, guess);
  }
});
