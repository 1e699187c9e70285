/**
 * Where a process is reached: what it tells others, which need not be a name
 * that resolves here. An IPv6 host is kept in brackets.
 */
export interface RpcAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * A reference to an endpoint of some process. It is plain data, so it travels
 * inside messages and is kept by the state machines. A process without a
 * listening port is known by the address of its connection.
 */
export interface EndpointRef {
  readonly address: RpcAddress;
  readonly name: string;
}

/** A `spark://` URL or a host cannot be read. */
export class InvalidAddressError extends Error {
  override name = "InvalidAddressError";
}

/** `host:port`, also the key under which connections and peers are kept. */
export function formatAddress({ host, port }: RpcAddress): string {
  return `${host}:${port}`;
}

/** `spark://host:port`. */
export function toSparkUrl(address: RpcAddress): string {
  return `spark://${formatAddress(address)}`;
}

/** `spark://name@host:port`. */
export function formatEndpointUri({ name, address }: EndpointRef): string {
  return `spark://${name}@${formatAddress(address)}`;
}

export function sameAddress(a: RpcAddress, b: RpcAddress): boolean {
  return a.port === b.port && a.host === b.host;
}

/**
 * Puts an IPv6 address in brackets and in its shortest form; leaves names and
 * IPv4 addresses as they are (Spark: `Utils.normalizeIpIfNeeded`).
 */
export function normalizeHost(host: string): string {
  if (!host.includes(":")) return host;
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  try {
    return new URL(`http://[${bare}]/`).hostname;
  } catch (cause) {
    throw new InvalidAddressError(`"${host}" is not an IPv6 address.`, {
      cause,
    });
  }
}

/** The host as `connect` and `listen` want it: without brackets. */
export function hostToDial(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/**
 * Reads `spark://host:port`.
 *
 * @throws {InvalidAddressError} with Spark's own words for a bad one.
 */
export function parseSparkUrl(url: string): RpcAddress {
  const match = /^spark:\/\/(\[[^\]\s]+\]|[^\s:/@?#[\]]+):(\d{1,5})$/.exec(url);
  if (!match || Number(match[2]) > 65_535) {
    throw new InvalidAddressError(`Invalid master URL: ${url}`);
  }
  return { host: normalizeHost(match[1]), port: Number(match[2]) };
}

/**
 * Reads `spark://host1:port1,host2:port2`: all masters of one cluster.
 *
 * @throws {InvalidAddressError} when one of them cannot be read.
 */
export function parseMasterUrls(urls: string): RpcAddress[] {
  if (!urls.startsWith("spark://")) {
    throw new InvalidAddressError(`Invalid master URL: ${urls}`);
  }
  return urls.slice("spark://".length).split(",").map((part) =>
    parseSparkUrl(`spark://${part}`)
  );
}

/**
 * Reads `spark://name@host:port`.
 *
 * @throws {InvalidAddressError} when it is something else.
 */
export function parseEndpointUri(uri: string): EndpointRef {
  const match = /^spark:\/\/([^\s@/:]+)@(\S+)$/.exec(uri);
  if (!match) throw new InvalidAddressError(`Invalid Spark URL: ${uri}`);
  try {
    return { name: match[1], address: parseSparkUrl(`spark://${match[2]}`) };
  } catch (cause) {
    throw new InvalidAddressError(`Invalid Spark URL: ${uri}`, { cause });
  }
}
