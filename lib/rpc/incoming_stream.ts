import type { Bytes } from "../conf/units.ts";

/** Bytes that may wait for a slow reader before the connection pauses. */
const MAX_BUFFERED: Bytes = 1 << 20;

/**
 * A stream's bytes as they come from a peer, to be read once. While the reader
 * is behind, its connection reads nothing more from the socket; so one who
 * does not want the rest must leave the loop or call `cancel`, after which the
 * rest is thrown away as it comes.
 */
export class IncomingStream implements AsyncIterable<Uint8Array> {
  readonly byteCount: Bytes;
  readonly #chunks: Uint8Array[] = [];
  #buffered = 0;
  #ended = false;
  #cancelled = false;
  #error: Error | undefined;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  constructor(byteCount: Bytes) {
    this.byteCount = byteCount;
    this.#ended = byteCount === 0;
  }

  /** Takes a copy of the bytes. */
  push(bytes: Uint8Array, last: boolean): void {
    this.#ended = last;
    if (this.#cancelled) return;
    this.#chunks.push(bytes.slice());
    this.#buffered += bytes.length;
    this.#wakeReader?.();
  }

  fail(error: Error): void {
    if (this.#ended) return;
    this.#error = error;
    this.#wakeReader?.();
    this.#wakeWriter?.();
  }

  /** Set while the reader is behind; resolves when it has caught up. */
  pressure(): Promise<void> | undefined {
    if (this.#buffered < MAX_BUFFERED || this.#error) return undefined;
    return new Promise((resolve) => this.#wakeWriter = resolve);
  }

  /** Gives up the rest. */
  cancel(): void {
    this.#cancelled = true;
    this.#chunks.length = 0;
    this.#buffered = 0;
    this.#wakeWriter?.();
    this.#wakeReader?.();
  }

  /** Reads all of it into one piece, held twice for a moment. */
  async bytes(): Promise<Uint8Array> {
    // What a peer announces is not allocated before it has come.
    const chunks: Uint8Array[] = [];
    for await (const chunk of this) chunks.push(chunk);
    const whole = new Uint8Array(this.byteCount);
    let at = 0;
    for (const chunk of chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      while (!this.#cancelled) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#buffered -= chunk.length;
          if (this.#buffered < MAX_BUFFERED) this.#wakeWriter?.();
          yield chunk;
        } else if (this.#ended) {
          return;
        } else if (this.#error) {
          throw this.#error;
        } else {
          await new Promise<void>((resolve) => this.#wakeReader = resolve);
        }
      }
    } finally {
      this.cancel();
    }
  }
}
