import type { Bytes } from "../conf/units.ts";
import { formatAddress } from "../messages/addresses.ts";
import { ByteWriter } from "./bytes.ts";
import {
  RpcConnectionError,
  RpcError,
  RpcOverloadedError,
  StreamError,
} from "./errors.ts";
import { FrameType, type RequestId } from "./frame.ts";
import type { PayloadCodec } from "./payload.ts";
import type { StreamSource } from "./stream_source.ts";
import type { Transport } from "./transport.ts";

/** A peer that asks for more streams at once than this is cut off. */
const MAX_QUEUED_STREAMS = 1_000;
/** The longest text of a failure, in UTF-16 units; the rest is cut off. */
const MAX_ERROR_LENGTH = 32_768;
/** A buffer longer than this is let go once it is written. */
const MAX_KEPT_BUFFER: Bytes = 1 << 20;

/** What may wait on one connection. */
export interface OutboxLimits {
  readonly maxFrameSize: Bytes;
  readonly maxQueuedBytes: Bytes;
}

interface OutgoingStream {
  readonly id: string;
  /** The source, or why there is none. */
  readonly source: StreamSource | string;
}

/**
 * What is on its way to one peer.
 *
 * All that one turn of the event loop sends goes to the socket in one write:
 * frames are gathered in a buffer, and a microtask begins to write it. What is
 * sent while a write is under way makes up the next one.
 */
export class Outbox {
  readonly #transport: Transport;
  readonly #limits: OutboxLimits;
  readonly #failed: (error: Error) => void;
  readonly #streams: OutgoingStream[] = [];
  readonly #writer = new ByteWriter(4096);
  #spare: Uint8Array<ArrayBuffer> | undefined;
  #beingWritten: Bytes = 0;
  #writing = false;
  #closed = false;
  #waitingForDrain: (() => void)[] = [];

  /** `failed` is told, once, when something can't be written. */
  constructor(
    transport: Transport,
    limits: OutboxLimits,
    failed: (error: Error) => void,
  ) {
    this.#transport = transport;
    this.#limits = limits;
    this.#failed = failed;
  }

  /**
   * Queues a frame with a body.
   *
   * @throws {RpcConnectionError} when the connection is closed.
   * @throws {RpcOverloadedError} when too much waits for the peer already.
   * @throws {RpcError} when the frame is too long; and what the codec throws.
   */
  message(
    type: number,
    requestId: RequestId | null,
    envelope: Uint8Array | null,
    codec: PayloadCodec,
    message: unknown,
  ): void {
    const start = this.#begin(type);
    const writer = this.#writer;
    try {
      if (requestId !== null) writer.i64(requestId);
      const body = writer.length;
      writer.i32(0);
      if (envelope !== null) writer.bytes(envelope);
      codec.encode(message, writer);
      writer.setI32(body, writer.length - body - 4);
      this.#end(start);
    } catch (error) {
      writer.truncate(start);
      throw error;
    }
  }

  failure(requestId: RequestId, error: string): void {
    const start = this.#begin(FrameType.RpcFailure);
    this.#writer.i64(requestId);
    this.#writer.string(error.slice(0, MAX_ERROR_LENGTH));
    this.#end(start);
  }

  chunkFailure(streamId: RequestId, chunkIndex: number, error: string): void {
    const start = this.#begin(FrameType.ChunkFetchFailure);
    this.#writer.i64(streamId);
    this.#writer.i32(chunkIndex);
    this.#writer.string(error);
    this.#end(start);
  }

  streamRequest(id: string): void {
    const start = this.#begin(FrameType.StreamRequest);
    this.#writer.string(id);
    this.#end(start);
  }

  /**
   * Queues the answer to a stream request: the stream, or why there is none.
   * Answers go out in the order of the requests, for that is how the peer
   * pairs them.
   *
   * @throws {RpcOverloadedError} when too many are queued.
   */
  stream(id: string, source: StreamSource | string): void {
    if (this.#streams.length >= MAX_QUEUED_STREAMS) {
      throw new RpcOverloadedError(
        `The peer asked for more than ${MAX_QUEUED_STREAMS} streams at once.`,
      );
    }
    this.#streams.push({ id, source });
    this.#schedule();
  }

  /** Resolves when all that was queued is written, or never will be. */
  drained(): Promise<void> {
    if (!this.#writing || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForDrain.push(resolve));
  }

  /** Takes and writes nothing more. */
  close(): void {
    this.#closed = true;
    this.#streams.length = 0;
    for (const wake of this.#waitingForDrain.splice(0)) wake();
  }

  #begin(type: number): number {
    if (this.#closed) {
      throw new RpcConnectionError(
        this.#transport.remote,
        "The connection is closed",
      );
    }
    const start = this.#writer.length;
    const queued = start + this.#beingWritten;
    if (queued > this.#limits.maxQueuedBytes) {
      throw new RpcOverloadedError(
        `${queued} bytes wait to be sent to ${
          formatAddress(this.#transport.remote)
        }, which is over the limit of ${this.#limits.maxQueuedBytes}.`,
      );
    }
    this.#writer.i64(0);
    this.#writer.u8(type);
    return start;
  }

  #end(start: number): void {
    const length = this.#writer.length - start;
    if (length - 8 > this.#limits.maxFrameSize) {
      this.#writer.truncate(start);
      throw new RpcError(
        `A message of ${length} bytes is longer than the ${this.#limits.maxFrameSize} that spark.rpc.message.maxSize allows.`,
      );
    }
    this.#writer.setI64(start, length);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#writing) return;
    this.#writing = true;
    queueMicrotask(() => this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    try {
      while (!this.#closed) {
        if (this.#writer.length > 0) {
          await this.#writeFrames();
        } else {
          const stream = this.#streams.shift();
          if (stream === undefined) break;
          await this.#writeStream(stream);
        }
      }
    } catch (error) {
      this.#failed(error instanceof Error ? error : new Error(String(error)));
    }
    // In one go with finding nothing to write: what is queued after this
    // begins the next round.
    this.#writing = false;
    for (const wake of this.#waitingForDrain.splice(0)) wake();
  }

  async #writeFrames(): Promise<void> {
    const bytes = this.#writer.take(this.#spare);
    this.#spare = undefined;
    this.#beingWritten = bytes.length;
    const written = await this.#transport.write(bytes);
    if (written < bytes.length) await this.#write(bytes.subarray(written));
    this.#beingWritten = 0;
    // One buffer fills while the other is written.
    if (bytes.buffer.byteLength <= MAX_KEPT_BUFFER) {
      this.#spare = new Uint8Array(bytes.buffer);
    }
  }

  /** Nothing else may be written between a stream's header and its end. */
  async #writeStream({ id, source }: OutgoingStream): Promise<void> {
    if (typeof source === "string") {
      const start = this.#begin(FrameType.StreamFailure);
      this.#writer.string(id);
      this.#writer.string(source.slice(0, MAX_ERROR_LENGTH));
      return this.#end(start);
    }
    const header = new ByteWriter(64 + id.length);
    header.i64(0);
    header.u8(FrameType.StreamResponse);
    header.string(id);
    header.i64(source.byteCount);
    header.setI64(0, header.length);
    await this.#write(header.written());
    let remaining = source.byteCount;
    for await (const chunk of source.read()) {
      if (this.#closed) return;
      remaining -= chunk.length;
      if (remaining < 0) break;
      await this.#write(chunk);
    }
    // The peer counts on so many bytes: after too few or too many nothing that
    // follows could be understood.
    if (remaining !== 0) {
      throw new StreamError(
        `The stream "${id}" is not of the ${source.byteCount} bytes that it should have.`,
      );
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#closed;) {
      at += await this.#transport.write(bytes.subarray(at));
    }
  }
}
