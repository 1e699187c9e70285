import { describeError, RpcError } from "./errors.ts";
import { hostToDial } from "../messages/addresses.ts";

/**
 * Listens on a port or, where it is taken, on one of the next (Spark:
 * `Utils.startServiceOnPort`).
 *
 * @throws {RpcError} when none of them can be had.
 */
export function listen(
  host: string,
  port: number,
  maxRetries: number,
): Deno.TcpListener {
  const hostname = hostToDial(host);
  const attempts = port === 0 ? 1 : maxRetries + 1;
  for (let offset = 0;; offset++) {
    try {
      return Deno.listen({ hostname, port: port + offset });
    } catch (cause) {
      const taken = cause instanceof Deno.errors.AddrInUse;
      const last = offset + 1 >= attempts || port + offset >= 65_535;
      if (taken && !last) continue;
      const range = offset === 0 ? `${port}` : `${port} to ${port + offset}`;
      throw new RpcError(
        `Cannot listen on ${host}, port ${range}: ${describeError(cause)}.`,
        { cause },
      );
    }
  }
}
