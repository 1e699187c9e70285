import { RPC_ASK_TIMEOUT } from "../conf/settings.ts";
import type { Milliseconds } from "../conf/units.ts";
import { type EndpointRef, formatEndpointUri } from "../messages/addresses.ts";
import { RpcError, RpcTimeoutError } from "./errors.ts";
import type { PendingAsk } from "./pending_ask.ts";

export interface AskOptions {
  /** Default: `spark.rpc.askTimeout`, or else `spark.network.timeout`. */
  readonly timeout?: Milliseconds;
  /** The setting that `timeout` comes from, for the error's text. */
  readonly timeoutSetting?: string;
  /** Gives the ask up at once, with the signal's reason as the cause. */
  readonly signal?: AbortSignal;
}

/** The answer, unless the signal gives the ask up before. */
export async function abortable(
  answer: Promise<unknown>,
  ask: PendingAsk,
  message: object,
  signal: AbortSignal,
): Promise<unknown> {
  const abort = () =>
    ask.fail(
      new RpcError(`The ask of ${typeOf(message)} was aborted.`, {
        cause: signal.reason,
      }),
    );
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return await answer;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** What an ask fails with when its time is up. */
export function timeoutError(
  ref: EndpointRef,
  message: object,
  timeout: Milliseconds,
  options: AskOptions,
): RpcTimeoutError {
  const setting = options.timeoutSetting ??
    (options.timeout === undefined ? RPC_ASK_TIMEOUT.key : undefined);
  return new RpcTimeoutError(
    `${formatEndpointUri(ref)} did not answer ${typeOf(message)} within ${
      timeout / 1000
    } s` +
      (setting ? `. This timeout is controlled by ${setting}.` : "."),
  );
}

/** How a message is called in an error. */
export function typeOf(message: object): string {
  const type = (message as { type?: unknown }).type;
  return typeof type === "string" ? type : "a message";
}
