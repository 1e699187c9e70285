import type { Milliseconds } from "../conf/units.ts";
import type { RpcAddress } from "../messages/addresses.ts";
import type { RpcCallContext, RpcEndpoint } from "./endpoint.ts";

/** From here on a connection that delivers to the endpoint pauses. */
const HIGH_WATER_MARK = 10_000;
/** How long a stop waits for the handlers before it goes on without them. */
const STOP_LIMIT: Milliseconds = 10_000;

export type InboxItem =
  | {
    readonly type: "message";
    readonly message: unknown;
    readonly sender: RpcAddress;
  }
  | {
    readonly type: "ask";
    readonly message: unknown;
    readonly context: RpcCallContext;
  }
  | { readonly type: "connected"; readonly address: RpcAddress }
  | { readonly type: "disconnected"; readonly address: RpcAddress }
  | {
    readonly type: "networkError";
    readonly address: RpcAddress;
    readonly error: Error;
  };

/**
 * Gives an endpoint its messages one after the other.
 *
 * What comes from a peer is handled right away, within the turn in which it
 * came; only behind a handler that returned a promise does a queue build up.
 */
export class Inbox {
  readonly #endpoint: RpcEndpoint;
  readonly #report: (problem: string, error?: unknown) => void;
  readonly #queue: InboxItem[] = [];
  #head = 0;
  #busy = true;
  /** A handler is on the stack. */
  #running = false;
  #stopping: Promise<void> | undefined;
  #idle: (() => void) | undefined;
  #belowMark: (() => void)[] = [];

  /** `report` takes what goes wrong and concerns nobody else. */
  constructor(
    endpoint: RpcEndpoint,
    report: (problem: string, error?: unknown) => void,
  ) {
    this.#endpoint = endpoint;
    this.#report = report;
  }

  /**
   * Delivers `onStart` after the caller's turn, and only then what was posted
   * meanwhile.
   */
  start(): void {
    queueMicrotask(() =>
      this.#settle(this.#guard(() => this.#endpoint.onStart?.()))
    );
  }

  /**
   * Delivers an item that came from a peer.
   *
   * @returns false when the endpoint has stopped and takes nothing more.
   */
  post(item: InboxItem): boolean {
    if (this.#stopping) return false;
    if (this.#busy) {
      this.#queue.push(item);
    } else {
      this.#busy = true;
      this.#settle(this.#deliver(item));
    }
    return true;
  }

  /** Like `post`, for what begins here: nothing runs on the caller's stack. */
  postLater(item: InboxItem): boolean {
    if (this.#stopping) return false;
    this.#queue.push(item);
    if (!this.#busy) {
      this.#busy = true;
      queueMicrotask(() => this.#next());
    }
    return true;
  }

  /**
   * Takes nothing new, delivers what is queued, then `onStop`. Called from a
   * handler it returns at once, and the rest follows the handler.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#running ? Promise.resolve() : this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#busy) {
      const { promise, resolve } = Promise.withResolvers<void>();
      // Before the timer: under `deno test` the first setTimeout runs microtasks.
      this.#idle = resolve;
      const limit = setTimeout(() => {
        this.#report(
          `did not come to an end within ${
            STOP_LIMIT / 1000
          } s of being stopped`,
        );
        resolve();
      }, STOP_LIMIT);
      await promise;
      clearTimeout(limit);
    }
    await this.#guard(() => this.#endpoint.onStop?.());
  }

  /** Set while more is queued than is good. */
  pressure(): Promise<void> | undefined {
    if (this.#queue.length - this.#head < HIGH_WATER_MARK) return undefined;
    return new Promise((resolve) => this.#belowMark.push(resolve));
  }

  #settle(running: Promise<void> | undefined): void {
    if (running) {
      running.then(() => this.#next());
    } else {
      this.#next();
    }
  }

  #next(): void {
    while (this.#head < this.#queue.length) {
      const item = this.#queue[this.#head++];
      if (this.#queue.length - this.#head < HIGH_WATER_MARK) {
        for (const wake of this.#belowMark.splice(0)) wake();
      }
      if (this.#head === this.#queue.length) {
        this.#queue.length = 0;
        this.#head = 0;
      }
      const running = this.#deliver(item);
      if (running) {
        running.then(() => this.#next());
        return;
      }
    }
    this.#busy = false;
    this.#idle?.();
  }

  #deliver(item: InboxItem): Promise<void> | undefined {
    const endpoint = this.#endpoint;
    switch (item.type) {
      case "message":
        return this.#guard(() => {
          if (!endpoint.receive) throw unsupported(item.message);
          return endpoint.receive(item.message, item.sender);
        });
      case "ask":
        return this.#guard(() => {
          if (!endpoint.receiveAndReply) throw unsupported(item.message);
          return endpoint.receiveAndReply(item.message, item.context);
        }, (error) => item.context.sendFailure(error));
      case "connected":
        return this.#guard(() => endpoint.onConnected?.(item.address));
      case "disconnected":
        return this.#guard(() => endpoint.onDisconnected?.(item.address));
      case "networkError":
        return this.#guard(() =>
          endpoint.onNetworkError?.(item.error, item.address)
        );
    }
  }

  /** Runs a handler; its failure ends neither the inbox nor the process. */
  #guard(
    handler: () => void | Promise<void>,
    tell?: (error: unknown) => void,
  ): Promise<void> | undefined {
    this.#running = true;
    try {
      return handler()?.catch((error) => this.#failed(error, tell));
    } catch (error) {
      this.#failed(error, tell);
      return undefined;
    } finally {
      this.#running = false;
    }
  }

  #failed(error: unknown, tell?: (error: unknown) => void): void {
    tell?.(error);
    if (this.#endpoint.onError) {
      try {
        this.#endpoint.onError(error);
      } catch (error) {
        this.#report("failed to handle an error", error);
      }
    } else if (!tell) {
      this.#report("failed to handle a message", error);
    }
  }
}

function unsupported(message: unknown): Error {
  const type = (message as { type?: unknown } | null)?.type;
  return new Error(
    `The endpoint takes no such message: ${
      typeof type === "string" ? type : typeof message
    }.`,
  );
}
