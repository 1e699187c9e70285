import type { RpcAddress } from "../messages/addresses.ts";

/** An ask that waits for its answer; the first of the two calls counts. */
export interface RpcCallContext {
  /** The peer's listening address, or its socket's if it has none. */
  readonly sender: RpcAddress;
  reply(value: unknown): void;
  sendFailure(error: unknown): void;
}

/**
 * A named receiver of messages in a process.
 *
 * Its calls never overlap: each waits until the promise of the one before is
 * settled. `onStart` comes first and `onStop` last (Spark:
 * `ThreadSafeRpcEndpoint`). What a handler throws goes to `onError`, and to the
 * peer when it asked.
 */
export interface RpcEndpoint {
  receive?(message: unknown, sender: RpcAddress): void | Promise<void>;
  receiveAndReply?(
    message: unknown,
    context: RpcCallContext,
  ): void | Promise<void>;
  onStart?(): void | Promise<void>;
  onStop?(): void | Promise<void>;
  /** The first connection with this peer is up. */
  onConnected?(address: RpcAddress): void | Promise<void>;
  /** The last connection with this peer is gone. */
  onDisconnected?(address: RpcAddress): void | Promise<void>;
  /** A connection with this peer failed, or could not be made. */
  onNetworkError?(error: Error, address: RpcAddress): void | Promise<void>;
  onError?(error: unknown): void;
}

/** The first answer counts, whatever the handler does after it. */
export function callContext(
  sender: RpcAddress,
  reply: (value: unknown) => void,
  fail: (error: unknown) => void,
): RpcCallContext {
  let answered = false;
  return {
    sender,
    reply(value) {
      if (answered) return;
      answered = true;
      reply(value);
    },
    sendFailure(error) {
      if (answered) return;
      answered = true;
      fail(error);
    },
  };
}
