import type { Milliseconds } from "../conf/units.ts";
import { getLogger } from "../log.ts";
import { formatAddress, type RpcAddress } from "../messages/addresses.ts";
import {
  Connection,
  type ConnectionHandler,
  type ConnectionLimits,
} from "./connection.ts";
import { RpcConnectionError, RpcError, RpcOverloadedError } from "./errors.ts";
import type { RequestId } from "./frame.ts";
import type { PayloadFormat } from "./payload.ts";
import { Peer } from "./peer.ts";
import { dial, tcpTransport, type Transport } from "./transport.ts";

const log = getLogger("RpcEnv");

/** Messages that may wait while their connection is being made. */
const MAX_WAITING_FOR_CONNECTION = 10_000;
/** Addresses that one peer may send under. */
const MAX_ADDRESSES = 16;
/** How long closing waits for connections that are being made. */
const CLOSE_LIMIT: Milliseconds = 2_000;
/** How long to wait after the system could not accept a connection. */
const ACCEPT_RETRY: Milliseconds = 100;

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits;
  readonly formats: readonly PayloadFormat[];
  readonly connectTimeout: Milliseconds;
  readonly handler: ConnectionsHandler;
}

/** Who is told what the connections bring. */
export interface ConnectionsHandler
  extends Pick<ConnectionHandler, "openStream" | "pressure"> {
  /** `body` is a view: copy to keep. */
  message(peer: Peer, body: Uint8Array, requestId: RequestId | null): void;
  /** The first connection with this address is up. */
  connected(address: RpcAddress): void;
  /** The last connection with this address is gone. */
  disconnected(address: RpcAddress): void;
  networkError(address: RpcAddress, error: Error): void;
}

/** The connections over which an address is reached. */
interface Route {
  readonly peers: Peer[];
  /** Over which messages go. */
  current: Peer;
}

/** What waits for a connection to be made. */
interface Waiting {
  use(peer: Peer): void;
  failed(error: unknown): void;
}

/**
 * All connections of one process, those it made and those it accepted, and
 * which of them leads to which address.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #peers = new Map<Connection, Peer>();
  readonly #routes = new Map<string, Route>();
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #streamPeers = new Map<string, Promise<Peer>>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #dials = new Set<Promise<unknown>>();
  readonly #giveUpDials = new AbortController();
  #closing = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Accepts connections until the listener is closed. */
  accept(listener: Deno.TcpListener): void {
    this.#track(this.#acceptAll(listener), this.#running);
  }

  /**
   * Runs `use` with a connection to the address: at once if there is one, and
   * otherwise, in the order of the calls, when it is made.
   */
  withPeer(
    address: RpcAddress,
    use: (peer: Peer) => void,
    failed: (error: unknown) => void,
  ): void {
    const key = formatAddress(address);
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) {
      const route = this.#routes.get(key);
      if (route !== undefined) return attempt({ use, failed }, route.current);
      if (this.#closing) {
        return failed(
          new RpcConnectionError(address, "This process is closing"),
        );
      }
      this.#waiting.set(key, [{ use, failed }]);
      this.#track(this.#connect(address, key), this.#dials);
    } else if (waiting.length < MAX_WAITING_FOR_CONNECTION) {
      waiting.push({ use, failed });
    } else {
      failed(
        new RpcOverloadedError(
          `${waiting.length} messages wait for a connection to ${key}, which is the limit.`,
        ),
      );
    }
  }

  /**
   * The connection for streams from an address.
   *
   * @throws {RpcConnectionError} when it can't be made.
   */
  streamPeer(address: RpcAddress): Promise<Peer> {
    const key = formatAddress(address);
    let connecting = this.#streamPeers.get(key);
    if (connecting === undefined) {
      connecting = this.#dial(address, { forStreams: true });
      this.#streamPeers.set(key, connecting);
      this.#track(
        connecting.catch(() => this.#streamPeers.delete(key)),
        this.#dials,
      );
    }
    return connecting;
  }

  /**
   * A peer sends under this address, so messages to it go there from now on.
   *
   * @throws {RpcError} when it goes by too many.
   */
  declare(peer: Peer, address: RpcAddress): void {
    if (peer.addresses.length >= MAX_ADDRESSES) {
      throw new RpcError(
        `The peer sends under more than ${MAX_ADDRESSES} addresses.`,
      );
    }
    if (this.#route(peer, address)) this.#options.handler.connected(address);
  }

  /** Sends what is queued, and closes all. Nobody is told of that. */
  async close(): Promise<void> {
    this.#closing = true;
    // What was sent just now may still wait for its connection.
    const limit = setTimeout(() => this.#giveUpDials.abort(), CLOSE_LIMIT);
    await Promise.all(this.#dials);
    clearTimeout(limit);
    await Promise.all([...this.#peers.keys()].map((link) => link.end()));
    await Promise.all(this.#running);
  }

  async #acceptAll(listener: Deno.TcpListener): Promise<void> {
    while (true) {
      let accepted: Deno.TcpConn;
      try {
        accepted = await listener.accept();
      } catch (error) {
        // The listener was closed, or, for example, no file is left to open.
        if (error instanceof Deno.errors.BadResource) return;
        if (error instanceof Deno.errors.Interrupted) return;
        log.error("Failed to accept a connection", error);
        await new Promise((resolve) => setTimeout(resolve, ACCEPT_RETRY));
        continue;
      }
      try {
        this.#adopt(tcpTransport(accepted), {});
      } catch (error) {
        accepted.close();
        log.warn("Failed to take an accepted connection", error);
      }
    }
  }

  async #connect(address: RpcAddress, key: string): Promise<void> {
    let peer: Peer | undefined;
    let failure: unknown;
    let isNew = false;
    try {
      peer = await this.#dial(address, {});
      isNew = this.#route(peer, address);
    } catch (error) {
      failure = error;
      // The peer may have connected to us in the meantime.
      peer = this.#routes.get(key)?.current;
    }
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    for (const each of waiting) {
      if (peer !== undefined) attempt(each, peer);
      else each.failed(failure);
    }
    // Only now: who hears of the connection may send over it at once.
    if (isNew) this.#options.handler.connected(address);
    if (failure !== undefined && !this.#closing) {
      this.#options.handler.networkError(address, failure as Error);
    }
  }

  async #dial(
    address: RpcAddress,
    { forStreams }: { forStreams?: boolean },
  ): Promise<Peer> {
    const transport = await dial(address, {
      timeout: this.#options.connectTimeout,
      signal: this.#giveUpDials.signal,
    });
    return this.#adopt(transport, { dialled: address, forStreams });
  }

  #adopt(
    transport: Transport,
    options: { dialled?: RpcAddress; forStreams?: boolean },
  ): Peer {
    const { handler, limits, formats } = this.#options;
    const connection = new Connection(transport, {
      message: (_, body, requestId) => handler.message(peer, body, requestId),
      openStream: (id) => handler.openStream(id),
      pressure: () => handler.pressure(),
      closed: (_, error) => this.#closed(peer, error),
    }, limits);
    const peer = new Peer(connection, { formats, ...options });
    this.#peers.set(connection, peer);
    this.#track(connection.run(), this.#running);
    return peer;
  }

  #track(running: Promise<unknown>, set: Set<Promise<unknown>>): void {
    const tracked: Promise<unknown> = running.finally(() =>
      set.delete(tracked)
    );
    set.add(tracked);
  }

  /** @returns whether it is the first connection with this address. */
  #route(peer: Peer, address: RpcAddress): boolean {
    peer.addresses.push(address);
    const key = formatAddress(address);
    const route = this.#routes.get(key);
    if (route === undefined) {
      this.#routes.set(key, { peers: [peer], current: peer });
      return true;
    }
    route.peers.push(peer);
    // We dial only where there was no connection. A peer that dials anew has
    // given up the connection that it dialled before. But where both sides
    // dialled at once ours stays, or messages would overtake one another.
    if (peer.dialled || !route.current.dialled) route.current = peer;
    return false;
  }

  #closed(peer: Peer, error: Error | undefined): void {
    this.#peers.delete(peer.connection);
    if (peer.forStreams && peer.dialled) {
      this.#streamPeers.delete(formatAddress(peer.dialled));
    }
    if (this.#closing) return;
    const { handler } = this.#options;
    if (error) {
      log.warn(
        `Closed the connection with ${formatAddress(peer.name)}`,
        error,
      );
      // A stream that broke says nothing of the peer; its fetcher is told.
      if (!peer.forStreams) handler.networkError(peer.name, error);
    }
    for (const address of peer.addresses) {
      const key = formatAddress(address);
      const route = this.#routes.get(key)!;
      route.peers.splice(route.peers.indexOf(peer), 1);
      const last = route.peers.at(-1);
      if (last === undefined) {
        this.#routes.delete(key);
        handler.disconnected(address);
      } else if (route.current === peer) {
        route.current = last;
      }
    }
  }
}

function attempt({ use, failed }: Waiting, peer: Peer): void {
  try {
    use(peer);
  } catch (error) {
    failed(error);
  }
}
