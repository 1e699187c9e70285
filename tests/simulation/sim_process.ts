import type { Milliseconds } from "../../lib/conf/units.ts";
import {
  type EndpointRef,
  formatAddress,
  type RpcAddress,
  sameAddress,
} from "../../lib/messages/addresses.ts";
import type { End, EndUser, Frame, Message } from "./connection.ts";
import type { Network } from "./network.ts";
import type { Scheduled } from "./virtual_clock.ts";

/** `spark.rpc.askTimeout` */
const ASK_TIMEOUT: Milliseconds = 120_000;
/** How long a process that closes waits for a connection that is being made. */
const CLOSE_LIMIT: Milliseconds = 2_000;

/** Answers an ask: with a value, or with why there is none. */
export type Answer = (
  result: { readonly value: unknown } | { readonly error: string },
) => void;

/** What the one endpoint of a process is told. */
export interface Endpoint {
  readonly name: string;
  message(message: Message, sender: RpcAddress, answer: Answer | null): void;
  disconnected(address: RpcAddress): void;
  answered(token: string, value: unknown): void;
  askFailed(token: string, error: string, timedOut: boolean): void;
}

/** The connections over which an address is reached. */
interface Route {
  readonly ends: End[];
  /** Over which messages go. */
  current: End;
}

interface Waiting {
  use(end: End): void;
  failed(): void;
}

/**
 * A process with its connections: what lib/rpc's RpcEnv and Connections are to
 * a real one, with the same rules for what goes over which connection and for
 * when a peer counts as gone.
 */
export class SimProcess implements EndUser {
  readonly address: RpcAddress;
  readonly #network: Network;
  readonly #endpoint: Endpoint;
  readonly #ends = new Set<End>();
  readonly #routes = new Map<string, Route>();
  readonly #waiting = new Map<string, Waiting[]>();
  /** Asks that are open, by token, with the timer that gives each up. */
  readonly #asks = new Map<string, Scheduled>();
  #nextAsk = 0;
  #state: "up" | "closing" | "gone" = "up";
  /** What happened while the process stood still; null: it runs. */
  #backlog: (() => void)[] | null = null;

  constructor(network: Network, address: RpcAddress, endpoint: Endpoint) {
    this.#network = network;
    this.address = address;
    this.#endpoint = endpoint;
    network.listen(this);
  }

  get host(): string {
    return this.address.host;
  }

  get isGone(): boolean {
    return this.#state === "gone";
  }

  /** Does something as this process: later when it stands still, or never. */
  run(action: () => void): void {
    if (this.#state !== "up") return;
    if (this.#backlog === null) action();
    else this.#backlog.push(action);
  }

  /** The process stands still for a time, and then catches up. */
  pause(duration: Milliseconds): void {
    if (this.#backlog !== null) return;
    this.#backlog = [];
    this.#network.schedule(duration, () => {
      const missed = this.#backlog ?? [];
      this.#backlog = null;
      for (const action of missed) this.run(action);
    });
  }

  /** Sends what is queued, says good-bye on all connections, and is gone. */
  close(): void {
    if (this.#state !== "up") return;
    this.#state = "closing";
    this.#network.stopListening(this);
    if (this.#waiting.size === 0) this.#end();
    else this.#network.schedule(CLOSE_LIMIT, () => this.#end());
  }

  /** The process is gone without a word. */
  crash(): void {
    if (this.isGone) return;
    this.#state = "gone";
    this.#network.crash(this);
  }

  #end(): void {
    if (this.#state === "gone") return;
    this.#state = "gone";
    this.#network.leave(this);
    for (const end of this.#ends) end.close();
  }

  // Sending

  send(to: EndpointRef, message: Message): void {
    this.#withPeer(to.address, {
      use: (end) => end.send(this.#frame(to, message, null)),
      failed: () =>
        this.#network.trace.add(
          this.host,
          `lost ${message.type} to ${formatAddress(to.address)}`,
        ),
    });
  }

  /** The outcome is told with the token, once. */
  ask(
    to: EndpointRef,
    message: Message,
    token: string,
    timeout: Milliseconds = ASK_TIMEOUT,
  ): void {
    const expiry = this.#network.clock.schedule(
      timeout,
      () =>
        this.run(() => this.#fail(token, "there was no answer in time", true)),
    );
    this.#asks.set(token, expiry);
    this.#withPeer(to.address, {
      use: (end) => {
        if (!this.#asks.has(token)) return; // given up meanwhile
        const ask = this.#nextAsk++;
        end.asks.set(ask, token);
        end.send(this.#frame(to, message, ask));
      },
      failed: () => this.#fail(token, "the peer cannot be reached", false),
    });
  }

  /** Messages are copied as on a wire: no two machines share an object. */
  #frame(to: EndpointRef, message: Message, ask: number | null): Frame {
    return {
      kind: "message",
      sender: this.address,
      receiver: to.name,
      message: JSON.parse(JSON.stringify(message)),
      ask,
    };
  }

  /** Over the connection that there is, or one that is made. */
  #withPeer(address: RpcAddress, waiting: Waiting): void {
    const key = formatAddress(address);
    const others = this.#waiting.get(key);
    if (others !== undefined) {
      others.push(waiting);
      return;
    }
    const route = this.#routes.get(key);
    if (route !== undefined) return waiting.use(route.current);
    this.#waiting.set(key, [waiting]);
    this.#network.dial(this, address, (end) => {
      if (end !== null) this.#ends.add(end);
      if (this.#state === "closing") this.#dialled(address, end);
      else this.run(() => this.#dialled(address, end));
    });
  }

  #dialled(address: RpcAddress, made: End | null): void {
    const key = formatAddress(address);
    if (made !== null) this.#route(made, address);
    // The peer may have connected to us in the meantime.
    const end = this.#routes.get(key)?.current;
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    for (const each of waiting) {
      if (end === undefined) each.failed();
      else each.use(end);
    }
    if (this.#state === "closing" && this.#waiting.size === 0) this.#end();
  }

  // Receiving

  accepted(end: End): void {
    this.#ends.add(end);
  }

  received(end: End, frame: Frame): void {
    this.run(() => this.#receive(end, frame));
  }

  closed(end: End): void {
    this.run(() => this.#forget(end));
  }

  #receive(end: End, frame: Frame): void {
    switch (frame.kind) {
      case "message": {
        const { sender, ask, message, receiver } = frame;
        this.#declare(end, sender);
        if (receiver !== this.#endpoint.name) {
          throw new Error(`${this.host} has no endpoint ${receiver}.`);
        }
        const answer: Answer | null = ask === null
          ? null
          : (result) =>
            end.send(
              "error" in result
                ? { kind: "failure", ask, error: result.error }
                : { kind: "answer", ask, value: result.value },
            );
        return this.#endpoint.message(message, sender, answer);
      }
      case "answer":
      case "failure": {
        const token = end.asks.get(frame.ask);
        end.asks.delete(frame.ask);
        if (token === undefined) return;
        if (frame.kind === "failure") {
          return this.#fail(token, frame.error, false);
        }
        if (this.#settle(token)) this.#endpoint.answered(token, frame.value);
        return;
      }
    }
  }

  #declare(end: End, sender: RpcAddress): void {
    if (end.addresses.some((known) => sameAddress(known, sender))) return;
    // Over an end that is forgotten nothing could be sent.
    if (this.#ends.has(end)) this.#route(end, sender);
  }

  /** Where both sides dialled at once, each stays with its own connection. */
  #route(end: End, address: RpcAddress): void {
    end.addresses.push(address);
    const key = formatAddress(address);
    const route = this.#routes.get(key);
    if (route === undefined) {
      this.#routes.set(key, { ends: [end], current: end });
      return;
    }
    route.ends.push(end);
    if (end.dialled || !route.current.dialled) route.current = end;
  }

  /** A peer is gone with the last connection with its address. */
  #forget(end: End): void {
    this.#ends.delete(end);
    for (const address of end.addresses) {
      const key = formatAddress(address);
      const route = this.#routes.get(key);
      if (route === undefined) continue;
      route.ends.splice(route.ends.indexOf(end), 1);
      const last = route.ends.at(-1);
      if (last === undefined) {
        this.#routes.delete(key);
        this.#endpoint.disconnected(address);
      } else if (route.current === end) {
        route.current = last;
      }
    }
    for (const token of end.asks.values()) {
      this.#fail(token, "the connection broke", false);
    }
    end.asks.clear();
  }

  #fail(token: string, error: string, timedOut: boolean): void {
    if (this.#settle(token)) this.#endpoint.askFailed(token, error, timedOut);
  }

  #settle(token: string): boolean {
    const expiry = this.#asks.get(token);
    if (expiry === undefined) return false;
    expiry.cancelled = true;
    return this.#asks.delete(token);
  }
}
