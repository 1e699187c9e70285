import type { Milliseconds } from "../conf/units.ts";
import { formatAddress, type RpcAddress } from "../messages/addresses.ts";
import { MalformedBytesError } from "./bytes.ts";
import {
  describeError,
  RpcConnectionError,
  RpcError,
  RpcOverloadedError,
  RpcRemoteError,
  StreamError,
} from "./errors.ts";
import { type Frame, FrameError, FrameType, type RequestId } from "./frame.ts";
import { FrameParser } from "./frame_parser.ts";
import { IncomingStream } from "./incoming_stream.ts";
import { Outbox, type OutboxLimits } from "./outbox.ts";
import type { PayloadCodec } from "./payload.ts";
import type { AskHolder, PendingAsk } from "./pending_ask.ts";
import type { StreamSource } from "./stream_source.ts";
import type { Transport } from "./transport.ts";

const READ_BUFFER_SIZE = 64 * 1024;
/** How long a closing connection may take to write what is queued. */
const FLUSH_LIMIT: Milliseconds = 5_000;
/** How long a closing connection waits for the peer to have read all. */
const LINGER: Milliseconds = 500;

/** What may wait on one connection. */
export interface ConnectionLimits extends OutboxLimits {
  readonly maxPendingAsks: number;
}

/** Who takes what a connection reads. Bodies are views: copy to keep. */
export interface ConnectionHandler {
  /** `requestId` is null for a message that wants no answer. */
  message(
    connection: Connection,
    body: Uint8Array,
    requestId: RequestId | null,
  ): void;
  openStream(id: string): StreamSource | undefined;
  /** Set while what was received is more than can be handled now. */
  pressure(): Promise<void> | undefined;
  /** Called once; the error says why it broke, or is undefined at the end. */
  closed(connection: Connection, error: Error | undefined): void;
}

/** A message, and what goes before it and writes it. */
export interface Outgoing {
  readonly envelope: Uint8Array;
  readonly codec: PayloadCodec;
  readonly message: unknown;
}

interface WaitingAsk {
  readonly ask: PendingAsk;
  readonly codec: PayloadCodec;
}

interface WaitingFetch {
  readonly id: string;
  resolve(stream: IncomingStream): void;
  reject(error: Error): void;
}

/** One connection in Spark's protocol, either side of it. */
export class Connection implements AskHolder {
  readonly remote: RpcAddress;
  readonly #transport: Transport;
  readonly #handler: ConnectionHandler;
  readonly #limits: ConnectionLimits;
  readonly #parser: FrameParser;
  readonly #outbox: Outbox;
  readonly #asks = new Map<RequestId, WaitingAsk>();
  /** Streams that were asked for, in order: the answers come so too. */
  readonly #fetches: WaitingFetch[] = [];
  /** The stream whose bytes are coming. */
  #receiving: IncomingStream | undefined;
  #nextRequestId = 0;
  #resumeReading: (() => void) | undefined;
  #whenClosed: (() => void) | undefined;
  #closed = false;
  #ending = false;

  constructor(
    transport: Transport,
    handler: ConnectionHandler,
    limits: ConnectionLimits,
  ) {
    this.remote = transport.remote;
    this.#transport = transport;
    this.#handler = handler;
    this.#limits = limits;
    this.#outbox = new Outbox(transport, limits, (error) => this.close(error));
    this.#parser = new FrameParser({
      frame: (frame) => this.#take(frame),
      streamBytes: (bytes, last) => this.#takeStreamBytes(bytes, last),
    }, limits);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Asks whose answer hasn't come. */
  get pendingAsks(): number {
    return this.#asks.size;
  }

  /** Reads until the end; resolves when the connection is closed. */
  async run(): Promise<void> {
    const buffer = new Uint8Array(READ_BUFFER_SIZE);
    try {
      while (!this.#closed) {
        const count = await this.#transport.read(buffer);
        if (count === null) break;
        this.#parser.push(buffer.subarray(0, count));
        const relief = this.#pressure();
        if (relief !== undefined) await this.#pause(relief);
      }
      this.close(
        this.#parser.atBoundary
          ? undefined
          : new FrameError("The peer closed in the middle of a frame."),
      );
    } catch (error) {
      this.close(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** @throws {RpcError} when the message is too long or too much waits. */
  send({ envelope, codec, message }: Outgoing): void {
    this.#outbox.message(
      FrameType.OneWayMessage,
      null,
      envelope,
      codec,
      message,
    );
  }

  /** @throws {RpcError} when the message is too long or too much waits. */
  ask({ envelope, codec, message }: Outgoing, ask: PendingAsk): void {
    if (this.#asks.size >= this.#limits.maxPendingAsks) {
      throw new RpcOverloadedError(
        `${this.#asks.size} asks wait for an answer of ${
          formatAddress(this.remote)
        }, which is the limit.`,
      );
    }
    const requestId = this.#nextRequestId++;
    this.#outbox.message(
      FrameType.RpcRequest,
      requestId,
      envelope,
      codec,
      message,
    );
    this.#asks.set(requestId, { ask, codec });
    ask.heldBy(this, requestId);
    // The answer comes behind what an endpoint that is behind held up.
    if (this.#receiving === undefined) this.#resumeReading?.();
  }

  /** An ask is over: a late answer means nothing any more. */
  forget(requestId: RequestId): void {
    this.#asks.delete(requestId);
  }

  /** Answers a request; an answer that can't be written becomes a failure. */
  respond(requestId: RequestId, codec: PayloadCodec, value: unknown): void {
    if (this.#closed) return;
    try {
      this.#outbox.message(
        FrameType.RpcResponse,
        requestId,
        null,
        codec,
        value,
      );
    } catch (error) {
      this.fail(requestId, `Cannot send the answer: ${describeError(error)}`);
    }
  }

  /** Answers a request by a failure. A peer that reads none is cut off. */
  fail(requestId: RequestId, error: string): void {
    if (this.#closed) return;
    try {
      this.#outbox.failure(requestId, error);
    } catch (error) {
      this.close(error as Error);
    }
  }

  /** @throws {StreamError} when the peer doesn't have it. */
  fetchStream(id: string): Promise<IncomingStream> {
    return new Promise((resolve, reject) => {
      this.#outbox.streamRequest(id);
      this.#fetches.push({ id, resolve, reject });
    });
  }

  /** Writes what is queued, says goodbye, and closes. */
  async end(): Promise<void> {
    if (this.#closed) return;
    this.#ending = true;
    const limit = setTimeout(() => this.close(), FLUSH_LIMIT);
    await this.#outbox.drained();
    clearTimeout(limit);
    if (this.#closed) return;
    this.#outbox.close();
    // Closing a socket that holds unread bytes resets it, and a reset may
    // destroy what the peer hasn't read yet; so the peer closes first.
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#whenClosed = resolve;
    const timer = setTimeout(resolve, LINGER);
    // Fails where the peer is gone, and then there is nothing to wait for.
    await this.#transport.closeWrite().catch(() => resolve());
    await promise;
    clearTimeout(timer);
    this.close();
  }

  /** Closes at once and fails what waits for the peer. */
  close(error?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#outbox.close();
    this.#transport.close();
    this.#whenClosed?.();
    this.#resumeReading?.();
    const reason = error
      ? `The connection broke: ${describeError(error)}`
      : this.#ending
      ? "The connection was closed"
      : "The peer closed the connection";
    const failure = new RpcConnectionError(this.remote, reason, {
      cause: error,
    });
    for (const { ask } of [...this.#asks.values()]) ask.fail(failure);
    this.#receiving?.fail(failure);
    for (const { reject } of this.#fetches.splice(0)) reject(failure);
    this.#handler.closed(this, this.#ending ? undefined : error);
  }

  // Reading

  #pressure(): Promise<void> | undefined {
    const behind = this.#receiving?.pressure();
    if (behind !== undefined) return behind;
    // An endpoint that is behind may be waiting for an answer that comes here.
    return this.#asks.size > 0 ? undefined : this.#handler.pressure();
  }

  async #pause(relief: Promise<void>): Promise<void> {
    if (this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#resumeReading = resolve;
      relief.then(resolve);
    });
    this.#resumeReading = undefined;
  }

  #take(frame: Frame): void {
    if (this.#closed) return;
    switch (frame.type) {
      case FrameType.RpcRequest:
        return this.#handler.message(this, frame.body, frame.requestId);
      case FrameType.OneWayMessage:
        return this.#handler.message(this, frame.body, null);
      case FrameType.RpcResponse:
        return this.#takeAnswer(frame.requestId, frame.body);
      case FrameType.RpcFailure:
        return this.#asks.get(frame.requestId)?.ask.fail(
          new RpcRemoteError(frame.error),
        );
      case FrameType.StreamRequest:
        return this.#serveStream(frame.streamId);
      case FrameType.StreamResponse: {
        const stream = new IncomingStream(frame.byteCount);
        this.#nextFetch(frame.streamId).resolve(stream);
        if (frame.byteCount > 0) this.#receiving = stream;
        return;
      }
      case FrameType.StreamFailure:
        return this.#nextFetch(frame.streamId).reject(
          new StreamError(frame.error),
        );
      case FrameType.ChunkFetchRequest:
        return this.#outbox.chunkFailure(
          frame.streamId,
          frame.chunkIndex,
          "This peer serves no chunks, only streams.",
        );
    }
  }

  #takeAnswer(requestId: RequestId, body: Uint8Array): void {
    const waiting = this.#asks.get(requestId);
    // The answer to an ask that was given up means nothing any more.
    if (waiting === undefined) return;
    let value: unknown;
    try {
      value = waiting.codec.decode(body);
    } catch (error) {
      if (!(error instanceof MalformedBytesError)) throw error;
      return waiting.ask.fail(
        new RpcError("The answer cannot be read.", { cause: error }),
      );
    }
    waiting.ask.succeed(value);
  }

  #serveStream(id: string): void {
    let source: StreamSource | undefined;
    try {
      source = this.#handler.openStream(id);
    } catch (error) {
      return this.#outbox.stream(id, describeError(error));
    }
    this.#outbox.stream(id, source ?? `Stream '${id}' was not found.`);
  }

  #nextFetch(id: string): WaitingFetch {
    const fetch = this.#fetches.shift();
    if (fetch === undefined || fetch.id !== id) {
      if (fetch !== undefined) this.#fetches.unshift(fetch);
      throw new FrameError(`The stream "${id}" was not asked for.`);
    }
    return fetch;
  }

  #takeStreamBytes(bytes: Uint8Array, last: boolean): void {
    this.#receiving?.push(bytes, last);
    if (last) this.#receiving = undefined;
  }
}
