/**
 * The frames of Spark's network layer, which sparkts speaks on its one port
 * (Spark: `TransportFrameDecoder`, `Message.Type` in network-common).
 *
 *     frame := i64 length (these 8 bytes included) · u8 type · fields · body
 *
 * @module
 */
import type { Bytes } from "../conf/units.ts";
import { ByteReader, MalformedBytesError } from "./bytes.ts";

export const FrameType = {
  ChunkFetchRequest: 0,
  ChunkFetchSuccess: 1,
  ChunkFetchFailure: 2,
  RpcRequest: 3,
  RpcResponse: 4,
  RpcFailure: 5,
  StreamRequest: 6,
  StreamResponse: 7,
  StreamFailure: 8,
  OneWayMessage: 9,
} as const;

/**
 * Pairs an answer with its request. A peer chooses its ids freely over all 64
 * bits (Spark draws them at random); what a number can't hold is a bigint.
 */
export type RequestId = number | bigint;

/** One frame as read. `body` is a view that is valid only until the return. */
export type Frame =
  | {
    readonly type: typeof FrameType.RpcRequest;
    readonly requestId: RequestId;
    readonly body: Uint8Array;
  }
  | {
    readonly type: typeof FrameType.RpcResponse;
    readonly requestId: RequestId;
    readonly body: Uint8Array;
  }
  | {
    readonly type: typeof FrameType.RpcFailure;
    readonly requestId: RequestId;
    readonly error: string;
  }
  | { readonly type: typeof FrameType.OneWayMessage; readonly body: Uint8Array }
  | { readonly type: typeof FrameType.StreamRequest; readonly streamId: string }
  | {
    readonly type: typeof FrameType.StreamResponse;
    readonly streamId: string;
    /** So many raw bytes follow this frame. */
    readonly byteCount: Bytes;
  }
  | {
    readonly type: typeof FrameType.StreamFailure;
    readonly streamId: string;
    readonly error: string;
  }
  | {
    readonly type: typeof FrameType.ChunkFetchRequest;
    readonly streamId: RequestId;
    readonly chunkIndex: number;
  };

/** What came is no frame of ours; the connection cannot go on. */
export class FrameError extends Error {
  override name = "FrameError";
}

/**
 * Reads the type and the fields of one frame, without its length.
 *
 * @throws {FrameError} when the type is unknown or the fields don't fit.
 */
export function readFrame(bytes: Uint8Array): Frame {
  const reader = new ByteReader(bytes);
  try {
    const frame = readFields(reader);
    if (reader.remaining > 0) {
      throw new FrameError(
        `A frame of type ${bytes[0]} has ${reader.remaining} bytes too many.`,
      );
    }
    return frame;
  } catch (cause) {
    if (!(cause instanceof MalformedBytesError)) throw cause;
    throw new FrameError(
      `A frame of type ${bytes[0]} is cut short: ${cause.message}`,
      { cause },
    );
  }
}

function readFields(reader: ByteReader): Frame {
  const type = reader.u8();
  switch (type) {
    case FrameType.RpcRequest:
    case FrameType.RpcResponse: {
      const requestId = reader.anyI64();
      return { type, requestId, body: readBody(reader) };
    }
    case FrameType.RpcFailure:
      return { type, requestId: reader.anyI64(), error: reader.string() };
    case FrameType.OneWayMessage:
      return { type, body: readBody(reader) };
    case FrameType.StreamRequest:
      return { type, streamId: reader.string() };
    case FrameType.StreamResponse: {
      const streamId = reader.string();
      const byteCount = reader.i64();
      if (byteCount < 0) {
        throw new FrameError(
          `The stream "${streamId}" has ${byteCount} bytes.`,
        );
      }
      return { type, streamId, byteCount };
    }
    case FrameType.StreamFailure:
      return { type, streamId: reader.string(), error: reader.string() };
    case FrameType.ChunkFetchRequest:
      return {
        type,
        streamId: reader.anyI64(),
        chunkIndex: reader.i32(),
      };
    default:
      throw new FrameError(`A frame is of the unknown type ${type}.`);
  }
}

function readBody(reader: ByteReader): Uint8Array {
  return reader.bytes(reader.i32());
}
