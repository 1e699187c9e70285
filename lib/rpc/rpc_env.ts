import {
  NETWORK_TIMEOUT,
  PORT_MAX_RETRIES,
  RPC_ASK_TIMEOUT,
  RPC_CONNECT_TIMEOUT,
  RPC_MESSAGE_MAX_SIZE,
} from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import type { Milliseconds } from "../conf/units.ts";
import { getLogger } from "../log.ts";
import {
  type EndpointRef,
  formatAddress,
  formatEndpointUri,
  normalizeHost,
  parseEndpointUri,
  type RpcAddress,
  sameAddress,
} from "../messages/addresses.ts";
import { Connections } from "./connections.ts";
import { Dispatcher } from "./dispatcher.ts";
import { abortable, type AskOptions, timeoutError, typeOf } from "./ask.ts";
import { callContext, type RpcEndpoint } from "./endpoint.ts";
import {
  describeError,
  EndpointNotFoundError,
  RefusedMessageError,
  RpcError,
} from "./errors.ts";
import type { RequestId } from "./frame.ts";
import type { IncomingStream } from "./incoming_stream.ts";
import { listen } from "./listen.ts";
import {
  nativeFormat,
  type PayloadCodec,
  type PayloadFormat,
} from "./payload.ts";
import type { Peer } from "./peer.ts";
import { AskTimeouts, PendingAsk } from "./pending_ask.ts";
import type { StreamSource } from "./stream_source.ts";

const log = getLogger("RpcEnv");

/** The endpoint that every environment has (Spark: `RpcEndpointVerifier`). */
const VERIFIER_ENDPOINT = "endpoint-verifier";
const MAX_PENDING_ASKS = 100_000;
/** Frames that may wait for a slow peer, in multiples of the longest one. */
const MAX_QUEUED_FRAMES = 4;
/** What a process without a listening port calls itself. */
const NO_ADDRESS: RpcAddress = { host: "", port: 0 };

export interface RpcEnvOptions {
  /** What others are told to dial. */
  readonly host: string;
  /** What is listened on; default: the host. */
  readonly bindAddress?: string;
  /** 0 takes a free port; null listens on none (Spark's client mode). */
  readonly port: number | null;
  readonly conf: SparkConf;
  /** Payload formats beside sparkts' own. */
  readonly formats?: readonly PayloadFormat[];
}

/**
 * The endpoints of one process and its connections to others.
 *
 * A peer is known by the address that it declares; one without a listening
 * port by its socket's. A message to an address goes over the connection that
 * the peer there opened to us, if it did, and else over one that we open.
 *
 * @example
 * ```ts
 * const env = await RpcEnv.create({ host: "127.0.0.1", port: 0, conf });
 * env.register("Echo", { receiveAndReply: (m, context) => context.reply(m) });
 * const echo = await client.lookup({ address: env.address!, name: "Echo" });
 * await client.ask(echo, { type: "Hello" });
 * ```
 */
export class RpcEnv {
  /** Null in client mode. */
  readonly address: RpcAddress | null;
  readonly #self: RpcAddress;
  readonly #askTimeout: Milliseconds;
  readonly #listener: Deno.TcpListener | null;
  readonly #dispatcher = new Dispatcher();
  readonly #connections: Connections;
  readonly #streams: ((id: string) => StreamSource | undefined)[] = [];
  readonly #timeouts = new AskTimeouts();
  #closing: Promise<void> | undefined;
  #closed = false;

  private constructor(
    options: RpcEnvOptions,
    listener: Deno.TcpListener | null,
  ) {
    const { conf } = options;
    const maxFrameSize = conf.get(RPC_MESSAGE_MAX_SIZE);
    this.#askTimeout = conf.get(
      conf.contains(RPC_ASK_TIMEOUT) ? RPC_ASK_TIMEOUT : NETWORK_TIMEOUT,
    );
    this.#listener = listener;
    this.#connections = new Connections({
      limits: {
        maxFrameSize,
        maxQueuedBytes: maxFrameSize * MAX_QUEUED_FRAMES,
        maxPendingAsks: MAX_PENDING_ASKS,
      },
      formats: [nativeFormat, ...options.formats ?? []],
      connectTimeout: conf.get(RPC_CONNECT_TIMEOUT),
      handler: {
        message: (peer, body, requestId) =>
          this.#receive(peer, body, requestId),
        openStream: (id) => this.#openStream(id),
        pressure: () => this.#dispatcher.pressure(),
        connected: (address) => this.#tellAll({ type: "connected", address }),
        disconnected: (address) =>
          this.#tellAll({ type: "disconnected", address }),
        networkError: (address, error) =>
          this.#tellAll({ type: "networkError", address, error }),
      },
    });
    this.address = listener === null ? null : {
      host: normalizeHost(options.host),
      port: listener.addr.port,
    };
    this.#self = this.address ?? NO_ADDRESS;
    this.register(VERIFIER_ENDPOINT, {
      receiveAndReply: (message, context) => {
        const { type, name } = message as { type?: unknown; name?: unknown };
        if (type !== "CheckExistence") {
          throw new RpcError(`The verifier takes no ${type}.`);
        }
        context.reply(typeof name === "string" && this.#dispatcher.has(name));
      },
    });
    if (listener !== null) this.#connections.accept(listener);
  }

  /**
   * Starts listening, unless in client mode. A taken port is followed by the
   * next ones (`spark.port.maxRetries`).
   *
   * @throws {RpcError} when no port can be had.
   */
  static create(options: RpcEnvOptions): Promise<RpcEnv> {
    return new Promise((resolve) => resolve(RpcEnv.#open(options)));
  }

  static #open(options: RpcEnvOptions): RpcEnv {
    if (options.port === null) return new RpcEnv(options, null);
    const listener = listen(
      options.bindAddress ?? options.host,
      options.port,
      options.conf.get(PORT_MAX_RETRIES),
    );
    try {
      return new RpcEnv(options, listener);
    } catch (error) {
      listener.close();
      throw error;
    }
  }

  // Endpoints

  /**
   * Adds an endpoint; its `onStart` comes after the caller's turn.
   *
   * @throws {RpcError} when the name is taken, or this is being closed.
   */
  register(name: string, endpoint: RpcEndpoint): EndpointRef {
    this.#dispatcher.register(name, endpoint);
    return this.refTo(name);
  }

  /**
   * A reference to an endpoint of this process. Without a listening port it
   * means something only here: others reach the endpoint at the sender of what
   * they got from here.
   */
  refTo(name: string): EndpointRef {
    return { name, address: this.#self };
  }

  /**
   * Takes an endpoint away: it handles what it has got, and then `onStop`.
   * Resolves when that is done, so one of its own handlers must not await it.
   */
  unregister(name: string): Promise<void> {
    return this.#dispatcher.unregister(name);
  }

  /**
   * Finds an endpoint by reference or by `spark://name@host:port`.
   *
   * @throws {EndpointNotFoundError} when there is none of that name.
   * @throws {RpcConnectionError} when nobody is at the address.
   */
  async lookup(target: EndpointRef | string): Promise<EndpointRef> {
    const ref = typeof target === "string" ? parseEndpointUri(target) : target;
    const verifier = { address: ref.address, name: VERIFIER_ENDPOINT };
    const exists = await this.ask(verifier, {
      type: "CheckExistence",
      name: ref.name,
    });
    if (exists !== true) {
      throw new EndpointNotFoundError(
        `Cannot find endpoint: ${formatEndpointUri(ref)}`,
      );
    }
    return ref;
  }

  // Messages

  /**
   * Sends a message that is not answered. What cannot be delivered is lost,
   * with a line in the log; `onNetworkError` tells of it too.
   */
  send(ref: EndpointRef, message: object): void {
    if (this.#isLocal(ref.address)) {
      const taken = this.#dispatcher.get(ref.name)?.postLater({
        type: "message",
        message,
        sender: this.#self,
      });
      if (!taken && !this.#closing) {
        log.warn(
          `Dropped ${typeOf(message)} to ${ref.name}, which is not here.`,
        );
      }
      return;
    }
    this.#connections.withPeer(
      ref.address,
      (peer) => peer.connection.send(this.#outgoing(peer, ref, message)),
      (error) => {
        log.warn(
          `Failed to send ${typeOf(message)} to ${formatEndpointUri(ref)}`,
          error,
        );
      },
    );
  }

  /**
   * Sends a message and waits for its answer.
   *
   * @throws {RpcTimeoutError} when there is none in time.
   * @throws {RpcConnectionError} when the peer can't be reached or goes away.
   * @throws {RpcRemoteError} when the peer answers with a failure.
   */
  ask<T = unknown>(
    ref: EndpointRef,
    message: object,
    options: AskOptions = {},
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timeout = options.timeout ?? this.#askTimeout;
    const ask = new PendingAsk(
      this.#timeouts,
      performance.now() + timeout,
      () => timeoutError(ref, message, timeout, options),
      resolve,
      reject,
    );
    if (this.#closed) {
      ask.fail(
        new RpcError(
          `Cannot ask ${formatEndpointUri(ref)}: this process is closed.`,
        ),
      );
      return promise as Promise<T>;
    }
    this.#timeouts.add(ask);
    if (this.#isLocal(ref.address)) {
      this.#askLocal(ref, message, ask);
    } else {
      this.#connections.withPeer(ref.address, (peer) => {
        if (ask.settled) return; // given up while the connection was made
        peer.connection.ask(this.#outgoing(peer, ref, message), ask);
      }, (error) => ask.fail(error));
    }
    const { signal } = options;
    const answer = signal ? abortable(promise, ask, message, signal) : promise;
    return answer as Promise<T>;
  }

  // Streams

  /** Serves streams: the first provider that knows an id gives it. */
  serveStreams(provider: (id: string) => StreamSource | undefined): void {
    this.#streams.push(provider);
  }

  /**
   * Fetches a stream over a connection kept for streams, so that a long one
   * doesn't hold up messages. Streams of one address come one after the other,
   * so each must be read to its end, left or cancelled.
   *
   * @throws {StreamError} when the peer does not have it.
   * @throws {RpcConnectionError} when the peer can't be reached.
   */
  async fetchStream(address: RpcAddress, id: string): Promise<IncomingStream> {
    if (this.#closing) {
      throw new RpcError(`Cannot fetch ${id}: this process is closing.`);
    }
    const peer = await this.#connections.streamPeer(address);
    return await peer.connection.fetchStream(id);
  }

  /**
   * Stops the endpoints, sends what is queued, and closes everything. The own
   * endpoints hear nothing of the connections that end here. An endpoint's own
   * handler must not await it.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#listener?.close();
    await this.#dispatcher.stop();
    this.#closed = true;
    await this.#connections.close();
    this.#timeouts.close(new RpcError("This process closed."));
  }

  // Receiving

  #receive(peer: Peer, body: Uint8Array, requestId: RequestId | null): void {
    const { connection } = peer;
    const { envelope, length } = peer.envelopes.read(body);
    const sender = peer.senderOf(envelope);
    if (!peer.goesBy(sender)) this.#connections.declare(peer, sender);
    const payload = body.subarray(length);
    const codec = peer.codecFor(payload);
    const inbox = this.#dispatcher.get(envelope.receiverName);
    let message: unknown;
    try {
      message = inbox && codec.decode(payload);
    } catch (error) {
      if (!(error instanceof RefusedMessageError)) throw error;
      return this.#refuse(peer, codec, error, requestId);
    }
    const taken = inbox?.post(
      requestId === null ? { type: "message", message, sender } : {
        type: "ask",
        message,
        context: callContext(
          sender,
          (value) => connection.respond(requestId, codec, value),
          (error) => connection.fail(requestId, describeError(error)),
        ),
      },
    );
    if (taken) return;
    const reason = `Could not find ${envelope.receiverName}.`;
    if (requestId !== null) connection.fail(requestId, reason);
    else if (!this.#closing) log.warn(`Dropped a message. ${reason}`);
  }

  /** Tells the log, and the peer in the way in which it can hear it. */
  #refuse(
    peer: Peer,
    codec: PayloadCodec,
    { message: reason, answer, repeated }: RefusedMessageError,
    requestId: RequestId | null,
  ): void {
    const line = `Refused a message of ${formatAddress(peer.name)}: ${reason}`;
    log[repeated ? "debug" : "warn"](line);
    if (requestId !== null) return peer.connection.fail(requestId, reason);
    if (answer === null) return;
    const { to, message } = answer;
    const envelope = peer.envelopeTo(to.name, to.address, this.address);
    peer.connection.send({ envelope, codec, message });
  }

  #askLocal(ref: EndpointRef, message: object, ask: PendingAsk): void {
    const context = callContext(
      this.#self,
      (value) => ask.succeed(value),
      (error) =>
        ask.fail(
          error instanceof Error ? error : new RpcError(describeError(error)),
        ),
    );
    const taken = this.#dispatcher.get(ref.name)?.postLater({
      type: "ask",
      message,
      context,
    });
    if (!taken) {
      ask.fail(
        new EndpointNotFoundError(
          `Cannot find endpoint: ${formatEndpointUri(ref)}`,
        ),
      );
    }
  }

  #openStream(id: string): StreamSource | undefined {
    for (const provider of this.#streams) {
      const source = provider(id);
      if (source !== undefined) return source;
    }
    return undefined;
  }

  #tellAll(event: Parameters<Dispatcher["tellAll"]>[0]): void {
    if (!this.#closing) this.#dispatcher.tellAll(event);
  }

  #isLocal(address: RpcAddress): boolean {
    return sameAddress(this.#self, address);
  }

  #outgoing(peer: Peer, ref: EndpointRef, message: object) {
    return {
      envelope: peer.envelopeTo(ref.name, ref.address, this.address),
      codec: peer.codec,
      message,
    };
  }
}
