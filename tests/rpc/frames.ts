import { ByteWriter } from "../../lib/rpc/bytes.ts";
import { type Frame, FrameType } from "../../lib/rpc/frame.ts";
import { encodeEnvelope } from "../../lib/rpc/envelope.ts";

/** A frame around the fields that `write` writes. */
export function frame(
  type: number,
  write: (writer: ByteWriter) => void,
): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.i64(0);
  writer.u8(type);
  write(writer);
  writer.setI64(0, writer.length);
  return writer.take();
}

/** Writes any frame, by the page of the wire and not by the product's code. */
export function encodeFrame(value: Frame): Uint8Array<ArrayBuffer> {
  return frame(value.type, (writer) => {
    switch (value.type) {
      case FrameType.RpcRequest:
      case FrameType.RpcResponse:
        writer.i64(value.requestId);
        writer.i32(value.body.length);
        return writer.bytes(value.body);
      case FrameType.RpcFailure:
        writer.i64(value.requestId);
        return writer.string(value.error);
      case FrameType.OneWayMessage:
        writer.i32(value.body.length);
        return writer.bytes(value.body);
      case FrameType.StreamRequest:
        return writer.string(value.streamId);
      case FrameType.StreamResponse:
        writer.string(value.streamId);
        return writer.i64(value.byteCount);
      case FrameType.StreamFailure:
        writer.string(value.streamId);
        return writer.string(value.error);
      case FrameType.ChunkFetchRequest:
        writer.i64(value.streamId);
        return writer.i32(value.chunkIndex);
    }
  });
}

/** The body of a message to an endpoint, its payload in JSON. */
export function body(
  receiverName: string,
  message: unknown,
  sender: { host: string; port: number } | null = null,
): Uint8Array {
  const envelope = encodeEnvelope({ sender, receiver: null, receiverName });
  const payload = new TextEncoder().encode(`\x01${JSON.stringify(message)}`);
  return new Uint8Array([...envelope, ...payload]);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
