import type { EndpointRef, RpcAddress } from "../messages/addresses.ts";
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

/**
 * A codec can tell what a message is, and that this process cannot take it:
 * for example, the peer's release is not known. The connection stays. A peer
 * that asked gets the error's text; one that only sent gets `answer`.
 */
export class RefusedMessageError extends RpcError {
  override name = "RefusedMessageError";
  /** Sent back where nobody waits for an answer. */
  readonly answer: RefusalAnswer | null;
  /** The same was refused on this connection before: not worth a warning. */
  readonly repeated: boolean;

  constructor(
    message: string,
    options: ErrorOptions & {
      answer?: RefusalAnswer | null;
      repeated?: boolean;
    } = {},
  ) {
    super(message, options);
    this.answer = options.answer ?? null;
    this.repeated = options.repeated ?? false;
  }
}

export interface RefusalAnswer {
  readonly to: EndpointRef;
  /** Written by the codec that refused. */
  readonly message: unknown;
}

/** The peer has no such stream, or failed while it sent it. */
export class StreamError extends RpcError {
  override name = "StreamError";
}

/** The text of an error for a log line or a peer: its own words, no stack. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
