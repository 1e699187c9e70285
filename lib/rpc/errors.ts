import type { RpcAddress } from "../messages/addresses.ts";
import { formatAddress } from "../messages/addresses.ts";

/** Any failure of an ask or a send. */
export class RpcError extends Error {
  override name = "RpcError";
}

/** No answer came in time. */
export class RpcTimeoutError extends RpcError {
  override name = "RpcTimeoutError";
}

/** The connection could not be made, or broke before the answer came. */
export class RpcConnectionError extends RpcError {
  override name = "RpcConnectionError";

  constructor(
    readonly address: RpcAddress,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`${reason} (${formatAddress(address)}).`, options);
  }
}

/** The peer answered with a failure: `message` is its text, word for word. */
export class RpcRemoteError extends RpcError {
  override name = "RpcRemoteError";
}

/** No endpoint of that name is at that address. */
export class EndpointNotFoundError extends RpcError {
  override name = "EndpointNotFoundError";
}

/** A limit on what may wait for a peer is reached. */
export class RpcOverloadedError extends RpcError {
  override name = "RpcOverloadedError";
}

/** The peer has no such stream, or failed while it sent it. */
export class StreamError extends RpcError {
  override name = "StreamError";
}

/** The text of an error for a log line or a peer: its own words, no stack. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
