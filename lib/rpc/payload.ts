import { ByteReader, type ByteWriter, MalformedBytesError } from "./bytes.ts";

/**
 * How messages become bytes. A payload's first bytes say which codec wrote it;
 * a reply is written by the codec that read its request.
 *
 * One codec serves one connection, so it may remember what the peer sent.
 */
export interface PayloadCodec {
  encode(message: unknown, writer: ByteWriter): void;
  /**
   * The bytes are a view: what outlives the call must be copied.
   *
   * @throws {MalformedBytesError} for what cannot be read: the connection ends.
   * @throws {RefusedMessageError} for what can be, and is not taken.
   */
  decode(payload: Uint8Array): unknown;
}

/** A kind of payload that a connection may find itself talking to. */
export interface PayloadFormat {
  readonly name: string;
  /** Whether a payload that begins so is of this format. */
  accepts(payload: Uint8Array): boolean;
  /** A codec for one connection. */
  create(): PayloadCodec;
}

const JSON_ONLY = 1;
const JSON_AND_DATA = 2;

const decoder = new TextDecoder("utf-8", {
  fatal: true,
  ignoreBOM: true,
});

/**
 * The messages of sparkts itself: a version byte, then JSON.
 *
 *     payload := u8 1 · JSON
 *              | u8 2 · i32 length · JSON · the bytes of the field `data`
 *
 * Control messages are small plain objects, for which JSON is the cheapest. A
 * message that carries bytes has them in its field `data`, and only there.
 */
export const nativeFormat: PayloadFormat = {
  name: "sparkts",
  accepts: (payload) =>
    payload[0] === JSON_ONLY || payload[0] === JSON_AND_DATA,
  create: () => nativeCodec,
};

const nativeCodec: PayloadCodec = { encode, decode };

function encode(message: unknown, writer: ByteWriter): void {
  const data = dataOf(message);
  if (data === undefined) {
    writer.u8(JSON_ONLY);
    // JSON has no `undefined`; an answer without a value is null.
    writer.text(JSON.stringify(message) ?? "null");
    return;
  }
  writer.u8(JSON_AND_DATA);
  writer.string(JSON.stringify({ ...message as object, data: undefined }));
  writer.bytes(data);
}

function decode(payload: Uint8Array): unknown {
  try {
    if (payload[0] === JSON_ONLY) {
      return JSON.parse(decoder.decode(payload.subarray(1)));
    }
    const reader = new ByteReader(payload, 1);
    const message = JSON.parse(decoder.decode(reader.bytes(reader.i32())));
    message.data = reader.rest().slice();
    return message;
  } catch (cause) {
    throw new MalformedBytesError("A message cannot be read as JSON.", {
      cause,
    });
  }
}

function dataOf(message: unknown): Uint8Array | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const data = (message as { data?: unknown }).data;
  return data instanceof Uint8Array ? data : undefined;
}
