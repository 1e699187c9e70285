import type { Milliseconds } from "../conf/units.ts";
import type { RpcAddress } from "../messages/addresses.ts";
import { hostToDial, normalizeHost } from "../messages/addresses.ts";
import { describeError, RpcConnectionError } from "./errors.ts";

/**
 * A stream of bytes to and from one peer. The protocol above knows nothing
 * else of sockets, so that it runs over anything that has these.
 */
export interface Transport {
  /** The socket's address of the peer. */
  readonly remote: RpcAddress;
  /** Fills a part of the buffer; null at the end. */
  read(buffer: Uint8Array): Promise<number | null>;
  /** Writes a part of the bytes; says how many. */
  write(bytes: Uint8Array): Promise<number>;
  /** Says that nothing more will be written; the peer may still write. */
  closeWrite(): Promise<void>;
  close(): void;
}

/** Wraps a connection of Deno's. */
export function tcpTransport(connection: Deno.TcpConn): Transport {
  connection.setNoDelay(true);
  connection.setKeepAlive(true);
  const { hostname, port } = connection.remoteAddr;
  // On a socket of both families an IPv4 peer shows up as ::ffff:1.2.3.4.
  const host = normalizeHost(hostname.replace(/^::ffff:(?=\d+\.)/, ""));
  return {
    remote: { host, port },
    read: (buffer) => connection.read(buffer),
    write: (bytes) => connection.write(bytes),
    closeWrite: () => connection.closeWrite(),
    close() {
      try {
        connection.close();
      } catch {
        // Deno throws when the peer's reset has closed it already.
      }
    },
  };
}

/**
 * Opens a connection.
 *
 * @throws {RpcConnectionError} when it is refused, takes longer than
 * `timeout`, or `signal` gives it up.
 */
export async function dial(
  address: RpcAddress,
  { timeout, signal }: { timeout: Milliseconds; signal: AbortSignal },
): Promise<Transport> {
  const controller = new AbortController();
  const giveUp = () => controller.abort();
  const timer = setTimeout(giveUp, timeout);
  signal.addEventListener("abort", giveUp);
  try {
    signal.throwIfAborted();
    const connection = await Deno.connect({
      hostname: hostToDial(address.host),
      port: address.port,
      signal: controller.signal,
    });
    return tcpTransport(connection);
  } catch (cause) {
    const reason = signal.aborted
      ? "This process is closing"
      : controller.signal.aborted
      ? `Failed to connect: no answer within ${timeout / 1000} s`
      : `Failed to connect: ${describeError(cause)}`;
    throw new RpcConnectionError(address, reason, { cause });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}
