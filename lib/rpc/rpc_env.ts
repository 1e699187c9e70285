import {
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
import { AskTimeouts } from "./ask_timeouts.ts";
import { Connection, type ConnectionLimits } from "./connection.ts";
import type { RpcCallContext, RpcEndpoint } from "./endpoint.ts";
import {
  describeError,
  EndpointNotFoundError,
  RpcConnectionError,
  RpcError,
  RpcTimeoutError,
} from "./errors.ts";
import { Inbox } from "./inbox.ts";
import type { IncomingStream } from "./incoming_stream.ts";
import { listen } from "./listen.ts";
import { nativeFormat, type PayloadFormat } from "./payload.ts";
import { Peer } from "./peer.ts";
import type { StreamSource } from "./stream_source.ts";
import { dial, tcpTransport, type Transport } from "./transport.ts";

const log = getLogger("RpcEnv");

/** The endpoint that every environment has (Spark: `RpcEndpointVerifier`). */
const VERIFIER_ENDPOINT = "endpoint-verifier";
/** Messages that may wait while their connection is being made. */
const MAX_WAITING_FOR_CONNECTION = 10_000;
const MAX_PENDING_ASKS = 100_000;
/** Frames that may wait for a slow peer, in multiples of the longest one. */
const MAX_QUEUED_FRAMES = 4;

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

export interface AskOptions {
  /** Default: `spark.rpc.askTimeout`. */
  readonly timeout?: Milliseconds;
  /** Gives the ask up at once, with the signal's reason as the cause. */
  readonly signal?: AbortSignal;
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
  readonly #conf: SparkConf;
  readonly #listener: Deno.TcpListener | null;
  readonly #formats: readonly PayloadFormat[];
  readonly #limits: ConnectionLimits;
  readonly #endpoints = new Map<string, Inbox>();
  readonly #peers = new Map<Connection, Peer>();
  /** The connections over which an address is reached, newest last. */
  readonly #routes = new Map<string, Peer[]>();
  readonly #dialling = new Map<string, Promise<Peer>>();
  readonly #waiting = new Map<string, number>();
  readonly #streamPeers = new Map<string, Promise<Peer>>();
  readonly #streams: ((id: string) => StreamSource | undefined)[] = [];
  readonly #timeouts = new AskTimeouts();
  readonly #running = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  private constructor(
    options: RpcEnvOptions,
    listener: Deno.TcpListener | null,
  ) {
    const maxFrameSize = options.conf.get(RPC_MESSAGE_MAX_SIZE);
    this.#conf = options.conf;
    this.#listener = listener;
    this.#formats = [nativeFormat, ...options.formats ?? []];
    this.#limits = {
      maxFrameSize,
      maxQueuedBytes: maxFrameSize * MAX_QUEUED_FRAMES,
      maxPendingAsks: MAX_PENDING_ASKS,
    };
    this.address = listener === null ? null : {
      host: normalizeHost(options.host),
      port: listener.addr.port,
    };
    this.register(VERIFIER_ENDPOINT, {
      receiveAndReply: (message, context) => {
        const { type, name } = message as { type?: unknown; name?: unknown };
        if (type !== "CheckExistence") {
          throw new RpcError(`The verifier takes no ${type}.`);
        }
        context.reply(typeof name === "string" && this.#endpoints.has(name));
      },
    });
    if (listener !== null) this.#track(this.#acceptAll(listener));
  }

  /**
   * Starts listening, unless in client mode. A taken port is followed by the
   * next ones (`spark.port.maxRetries`).
   *
   * @throws {RpcError} when no port can be had.
   */
  static create(options: RpcEnvOptions): Promise<RpcEnv> {
    const listener = options.port === null ? null : listen(
      options.bindAddress ?? options.host,
      options.port,
      options.conf.get(PORT_MAX_RETRIES),
    );
    return Promise.resolve(new RpcEnv(options, listener));
  }

  // Endpoints

  /** @throws {RpcError} when the name is taken. */
  register(name: string, endpoint: RpcEndpoint): EndpointRef {
    if (this.#endpoints.has(name)) {
      throw new RpcError(`There is already an endpoint called ${name}.`);
    }
    const inbox = new Inbox(
      endpoint,
      (error) => log.error(`${name} failed to handle a message`, error),
    );
    this.#endpoints.set(name, inbox);
    inbox.start();
    return this.refTo(name);
  }

  /** A reference to an endpoint of this process, to be sent to others. */
  refTo(name: string): EndpointRef {
    return { name, address: this.address ?? { host: "", port: 0 } };
  }

  async unregister(name: string): Promise<void> {
    const inbox = this.#endpoints.get(name);
    this.#endpoints.delete(name);
    await inbox?.stop();
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
      const taken = this.#endpoints.get(ref.name)?.post({
        type: "message",
        message,
        sender: this.address!,
      });
      if (!taken) log.warn(`Dropped a message to ${ref.name}: it is not here.`);
      return;
    }
    this.#withPeer(ref.address, (peer) =>
      peer.connection.send(
        this.#outgoing(peer, ref, message),
      ), (error) => {
      if (!this.#closing) {
        log.warn(
          `Failed to send ${typeOf(message)} to ${formatEndpointUri(ref)}`,
          error,
        );
      }
    });
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
    const timeout = options.timeout ?? this.#conf.get(RPC_ASK_TIMEOUT);
    let abandon = reject;
    const forget = this.#timeouts.add(timeout, () =>
      abandon(
        new RpcTimeoutError(
          `${formatEndpointUri(ref)} did not answer ${typeOf(message)} within ${
            timeout / 1000
          } s. This timeout is controlled by ${
            options.timeout === undefined ? RPC_ASK_TIMEOUT.key : "the caller"
          }.`,
        ),
      ));
    const onAbort = () =>
      abandon(
        new RpcError(`The ask of ${typeOf(message)} was aborted.`, {
          cause: options.signal?.reason,
        }),
      );
    options.signal?.addEventListener("abort", onAbort, { once: true });
    const done = <A, B>(settle: (value: A) => B) => (value: A): B => {
      forget();
      options.signal?.removeEventListener("abort", onAbort);
      return settle(value);
    };
    if (this.#isLocal(ref.address)) {
      this.#askLocal(ref, message, resolve, reject);
    } else {
      this.#withPeer(ref.address, (peer) => {
        const ask = peer.connection.ask(this.#outgoing(peer, ref, message));
        abandon = ask.abandon;
        ask.answer.then(resolve, reject);
      }, reject);
    }
    return promise.then(
      done((value) => value),
      done((error) => {
        throw error;
      }),
    ) as Promise<T>;
  }

  // Streams

  /** Serves streams: the first provider that knows an id gives it. */
  serveStreams(provider: (id: string) => StreamSource | undefined): void {
    this.#streams.push(provider);
  }

  /**
   * Fetches a stream over a connection kept for streams, so that a long one
   * doesn't hold up messages.
   *
   * @throws {StreamError} when the peer does not have it.
   */
  async fetchStream(address: RpcAddress, id: string): Promise<IncomingStream> {
    const key = formatAddress(address);
    let connecting = this.#streamPeers.get(key);
    if (connecting === undefined) {
      connecting = this.#dial(address);
      this.#streamPeers.set(key, connecting);
      connecting.catch(() => this.#streamPeers.delete(key));
    }
    const peer = await connecting;
    if (peer.connection.isClosed) {
      if (this.#streamPeers.get(key) === connecting) {
        this.#streamPeers.delete(key);
      }
      return this.fetchStream(address, id);
    }
    return await peer.connection.fetchStream(id);
  }

  /**
   * Stops the endpoints, sends what is queued, and closes everything. The own
   * endpoints hear nothing of the connections that end here.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#listener?.close();
    await Promise.all([...this.#endpoints.values()].map((box) => box.stop()));
    this.#endpoints.clear();
    await Promise.allSettled(this.#dialling.values());
    await Promise.all([...this.#peers.keys()].map((link) => link.end()));
    await Promise.all(this.#running);
    this.#timeouts.close();
  }

  // Connections

  async #acceptAll(listener: Deno.TcpListener): Promise<void> {
    for await (const connection of listener) {
      this.#adopt(tcpTransport(connection));
    }
  }

  #adopt(transport: Transport): Peer {
    const connection = new Connection(transport, {
      request: (connection, requestId, body) =>
        this.#receive(connection, body, requestId),
      oneWay: (connection, body) => this.#receive(connection, body, null),
      openStream: (_, id) => this.#openStream(id),
      pressure: () => this.#pressure(),
      closed: (connection, error) => this.#closed(connection, error),
    }, this.#limits);
    const peer = new Peer(connection, this.#formats);
    this.#peers.set(connection, peer);
    this.#track(connection.run());
    return peer;
  }

  #track(running: Promise<void>): void {
    this.#running.add(running);
    running.finally(() => this.#running.delete(running));
  }

  async #dial(address: RpcAddress): Promise<Peer> {
    const timeout = this.#conf.get(RPC_CONNECT_TIMEOUT);
    const transport = await dial(address, timeout);
    if (this.#closing) {
      transport.close();
      throw new RpcConnectionError(address, "This process is closing");
    }
    return this.#adopt(transport);
  }

  /** Runs `use` with a connection to the address, at once if there is one. */
  #withPeer(
    address: RpcAddress,
    use: (peer: Peer) => void,
    failed: (error: Error) => void,
  ): void {
    const attempt = (peer: Peer) => {
      try {
        use(peer);
      } catch (error) {
        failed(error as Error);
      }
    };
    const key = formatAddress(address);
    const peer = this.#routes.get(key)?.at(-1);
    if (peer !== undefined && !this.#dialling.has(key)) return attempt(peer);
    if (this.#closing) {
      return failed(new RpcConnectionError(address, "This process is closing"));
    }
    const waiting = this.#waiting.get(key) ?? 0;
    if (waiting >= MAX_WAITING_FOR_CONNECTION) {
      return failed(
        new RpcError(`Too many messages wait for a connection to ${key}.`),
      );
    }
    this.#waiting.set(key, waiting + 1);
    // What is sent while the connection is made goes out in order, because
    // all of it waits for the same promise.
    this.#connect(address).then(attempt, failed);
  }

  #connect(address: RpcAddress): Promise<Peer> {
    const key = formatAddress(address);
    let connecting = this.#dialling.get(key);
    if (connecting === undefined) {
      connecting = this.#dial(address).then((peer) => {
        this.#route(peer, address);
        return peer;
      });
      this.#dialling.set(key, connecting);
      connecting.catch((error) => {
        this.#tellAll({ type: "networkError", address, error });
      }).finally(() => {
        this.#dialling.delete(key);
        this.#waiting.delete(key);
      });
    }
    return connecting;
  }

  /** From now on messages to this address go to this peer. */
  #route(peer: Peer, address: RpcAddress): void {
    peer.address ??= address;
    peer.addresses.push(address);
    const key = formatAddress(address);
    const route = this.#routes.get(key);
    if (route !== undefined) {
      route.push(peer);
      return;
    }
    this.#routes.set(key, [peer]);
    this.#tellAll({ type: "connected", address });
  }

  #closed(connection: Connection, error: Error | undefined): void {
    const peer = this.#peers.get(connection)!;
    this.#peers.delete(connection);
    if (this.#closing) return;
    const address = peer.address ?? connection.remote;
    if (error) {
      log.warn(`Closed the connection with ${formatAddress(address)}`, error);
      this.#tellAll({ type: "networkError", address, error });
    }
    for (const address of peer.addresses) {
      const key = formatAddress(address);
      const rest = this.#routes.get(key)!.filter((other) => other !== peer);
      if (rest.length > 0) {
        this.#routes.set(key, rest);
      } else {
        this.#routes.delete(key);
        this.#tellAll({ type: "disconnected", address });
      }
    }
  }

  // Receiving

  #receive(
    connection: Connection,
    body: Uint8Array,
    requestId: bigint | null,
  ): void {
    const peer = this.#peers.get(connection)!;
    const { envelope, length } = peer.envelopes.read(body);
    const sender = envelope.sender ?? peer.address ?? connection.remote;
    if (!peer.addresses.some((known) => sameAddress(known, sender))) {
      this.#route(peer, sender);
    }
    const payload = body.subarray(length);
    const codec = peer.codecFor(payload);
    const inbox = this.#endpoints.get(envelope.receiverName);
    if (inbox === undefined) {
      return this.#undeliverable(connection, envelope.receiverName, requestId);
    }
    const message = codec.decode(payload);
    if (requestId === null) {
      inbox.post({ type: "message", message, sender });
      return;
    }
    const context = callContext(
      sender,
      (value) => connection.respond(requestId, codec, value),
      (error) => connection.fail(requestId, describeError(error)),
    );
    if (!inbox.post({ type: "ask", message, context })) {
      this.#undeliverable(connection, envelope.receiverName, requestId);
    }
  }

  #undeliverable(
    connection: Connection,
    name: string,
    requestId: bigint | null,
  ): void {
    const reason = `Could not find ${name}.`;
    if (requestId !== null) connection.fail(requestId, reason);
    else if (!this.#closing) log.warn(`Dropped a message. ${reason}`);
  }

  #askLocal(
    ref: EndpointRef,
    message: unknown,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ): void {
    const context = callContext(
      this.address!,
      resolve,
      (error) =>
        reject(
          error instanceof Error ? error : new RpcError(describeError(error)),
        ),
    );
    const taken = this.#endpoints.get(ref.name)?.post({
      type: "ask",
      message,
      context,
    });
    if (!taken) {
      reject(new EndpointNotFoundError(`Could not find ${ref.name}.`));
    }
  }

  #openStream(id: string): StreamSource | undefined {
    for (const provider of this.#streams) {
      const source = provider(id);
      if (source !== undefined) return source;
    }
    return undefined;
  }

  #pressure(): Promise<void> | undefined {
    for (const inbox of this.#endpoints.values()) {
      const pressure = inbox.pressure();
      if (pressure) return pressure;
    }
    return undefined;
  }

  #tellAll(
    item:
      | { type: "connected" | "disconnected"; address: RpcAddress }
      | { type: "networkError"; address: RpcAddress; error: Error },
  ): void {
    if (this.#closing) return;
    for (const inbox of this.#endpoints.values()) inbox.post(item);
  }

  #isLocal(address: RpcAddress): boolean {
    return this.address !== null && sameAddress(this.address, address);
  }

  #outgoing(peer: Peer, ref: EndpointRef, message: object) {
    return {
      envelope: peer.envelopeTo(ref.name, ref.address, this.address),
      codec: peer.codec,
      message,
    };
  }
}

/** The first answer counts, whatever the handler does after it. */
function callContext(
  sender: RpcAddress,
  reply: (value: unknown) => void,
  fail: (error: unknown) => void,
): RpcCallContext {
  let answered = false;
  const once = <A>(answer: (value: A) => void) => (value: A) => {
    if (answered) return;
    answered = true;
    answer(value);
  };
  return { sender, reply: once(reply), sendFailure: once(fail) };
}

function typeOf(message: object): string {
  const type = (message as { type?: unknown }).type;
  return typeof type === "string" ? type : "a message";
}
