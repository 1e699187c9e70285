import type { Bytes } from "../conf/units.ts";
import { readI64 } from "./bytes.ts";
import { type Frame, FrameError, FrameType, readFrame } from "./frame.ts";

const LENGTH_SIZE = 8;

/** Who takes what a FrameParser reads. */
export interface FrameSink {
  /** The frame's bytes are a view: copy what must outlive the call. */
  frame(frame: Frame): void;
  /** Raw bytes of the stream whose StreamResponse came last. */
  streamBytes(bytes: Uint8Array, last: boolean): void;
}

/**
 * Cuts a stream of bytes into frames, in whatever pieces they come.
 *
 * A frame that lies whole in one piece is not copied. A longer one is gathered
 * in a buffer that grows with what has really arrived, so that a peer cannot
 * make us allocate what it only announces.
 */
export class FrameParser {
  readonly #sink: FrameSink;
  readonly #maxFrameSize: Bytes;
  #pending = new Uint8Array(0);
  #pendingLength = 0;
  #streamRemaining = 0;
  #started = false;

  constructor(sink: FrameSink, options: { maxFrameSize: Bytes }) {
    this.#sink = sink;
    this.#maxFrameSize = options.maxFrameSize;
  }

  /** Whether the bytes so far end between two frames. */
  get atBoundary(): boolean {
    return this.#pendingLength === 0 && this.#streamRemaining === 0;
  }

  /**
   * Takes the next bytes, which may be changed again after the call.
   *
   * @throws {FrameError} when they are no frame; nothing can be read after it.
   */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#streamRemaining > 0) {
        at += this.#passStreamBytes(chunk.subarray(at));
      } else if (this.#pendingLength > 0) {
        at += this.#completePending(chunk.subarray(at));
      } else {
        at += this.#readWhole(chunk, at);
      }
    }
  }

  /** Each of these says how many bytes it took. */
  #passStreamBytes(bytes: Uint8Array): number {
    const part = bytes.subarray(0, this.#streamRemaining);
    this.#streamRemaining -= part.length;
    this.#sink.streamBytes(part, this.#streamRemaining === 0);
    return part.length;
  }

  /** Reads a frame that lies whole in this piece, or keeps what there is. */
  #readWhole(chunk: Uint8Array, at: number): number {
    const available = chunk.length - at;
    if (available >= LENGTH_SIZE) {
      const length = this.#frameLength(chunk, at);
      if (available >= length) {
        this.#emit(chunk.subarray(at + LENGTH_SIZE, at + length));
        return length;
      }
    }
    this.#keep(chunk.subarray(at));
    return available;
  }

  #completePending(bytes: Uint8Array): number {
    if (this.#pendingLength < LENGTH_SIZE) {
      const part = bytes.subarray(0, LENGTH_SIZE - this.#pendingLength);
      this.#keep(part);
      if (this.#pendingLength === LENGTH_SIZE) {
        this.#frameLength(this.#pending, 0);
      }
      return part.length;
    }
    const length = this.#frameLength(this.#pending, 0);
    const part = bytes.subarray(0, length - this.#pendingLength);
    this.#keep(part);
    if (this.#pendingLength === length) {
      const frame = this.#pending.subarray(LENGTH_SIZE, length);
      this.#pendingLength = 0;
      // A long frame's buffer is not held for the short ones that follow.
      if (this.#pending.length > 1 << 20) this.#pending = new Uint8Array(0);
      this.#emit(frame);
    }
    return part.length;
  }

  #keep(bytes: Uint8Array): void {
    const needed = this.#pendingLength + bytes.length;
    if (needed > this.#pending.length) {
      const grown = new Uint8Array(
        Math.max(needed, this.#pending.length * 2, 256),
      );
      grown.set(this.#pending.subarray(0, this.#pendingLength));
      this.#pending = grown;
    }
    this.#pending.set(bytes, this.#pendingLength);
    this.#pendingLength = needed;
  }

  #emit(bytes: Uint8Array): void {
    this.#started = true;
    const frame = readFrame(bytes);
    if (frame.type === FrameType.StreamResponse) {
      this.#streamRemaining = frame.byteCount;
    }
    this.#sink.frame(frame);
  }

  #frameLength(bytes: Uint8Array, at: number): Bytes {
    const length = readI64(bytes, at);
    if (
      length > LENGTH_SIZE && length - LENGTH_SIZE <= this.#maxFrameSize
    ) return length;
    const guess = this.#guess(bytes.subarray(at, at + LENGTH_SIZE));
    throw new FrameError(
      guess !== undefined
        ? `This is no frame: ${guess}.`
        : length <= LENGTH_SIZE
        ? `A frame gives its length as ${length}.`
        : `A frame of ${length} bytes is longer than the ${this.#maxFrameSize} that spark.rpc.message.maxSize allows.`,
    );
  }

  /** What a peer that doesn't speak our protocol seems to speak instead. */
  #guess(start: Uint8Array): string | undefined {
    if (this.#started) return undefined;
    const text = String.fromCharCode(...start);
    if (/^(GET|POST|PUT|HEAD|DELETE|OPTIONS|PATCH|PRI|CONNECT) /.test(text)) {
      return "the peer sent an HTTP request";
    }
    if (start[0] === 0x16 && start[1] === 0x03) {
      return "the peer sent a TLS hello, and this port is plain";
    }
    return text.startsWith("SSH-") ? "the peer speaks SSH" : undefined;
  }
}
