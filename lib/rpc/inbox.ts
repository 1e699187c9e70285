import type { RpcAddress } from "../messages/addresses.ts";
import type { RpcCallContext, RpcEndpoint } from "./endpoint.ts";

/** From here on a connection that delivers to the endpoint pauses. */
const HIGH_WATER_MARK = 10_000;

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
 * A handler that returns no promise is called right away, within the turn in
 * which the message came; only behind a slow one does a queue build up.
 */
export class Inbox {
  readonly #endpoint: RpcEndpoint;
  readonly #report: (error: unknown) => void;
  readonly #queue: InboxItem[] = [];
  #head = 0;
  #busy = true;
  #stopped = false;
  #idle: (() => void) | undefined;
  #belowMark: (() => void)[] = [];

  constructor(endpoint: RpcEndpoint, report: (error: unknown) => void) {
    this.#endpoint = endpoint;
    this.#report = report;
  }

  /** Delivers `onStart`, and only then what was posted meanwhile. */
  start(): void {
    this.#settle(this.#guard(() => this.#endpoint.onStart?.()));
  }

  /** @returns false when the endpoint has stopped and takes nothing more. */
  post(item: InboxItem): boolean {
    if (this.#stopped) return false;
    if (this.#busy) {
      this.#queue.push(item);
    } else {
      this.#busy = true;
      this.#settle(this.#deliver(item));
    }
    return true;
  }

  /** Delivers what is queued, then `onStop`; takes nothing new. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    if (this.#busy) {
      await new Promise<void>((resolve) => this.#idle = resolve);
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
    const failed = (error: unknown) => {
      tell?.(error);
      if (this.#endpoint.onError) {
        this.#endpoint.onError(error);
      } else if (!tell) {
        this.#report(error);
      }
    };
    try {
      return handler()?.catch(failed);
    } catch (error) {
      failed(error);
      return undefined;
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
