import {
  InvalidAddressError,
  parseMasterUrls,
  type RpcAddress,
} from "../messages/addresses.ts";
import type { Megabytes } from "../conf/units.ts";

/** Where an application runs, as `--master` says it. */
export type MasterUrl =
  /** In this process, on so many threads. */
  | { readonly type: "local"; readonly threads: number }
  /** On a cluster of processes that is started for the application alone. */
  | {
    readonly type: "local-cluster";
    readonly workers: number;
    readonly cores: number;
    readonly memory: Megabytes;
  }
  | { readonly type: "spark"; readonly masters: readonly RpcAddress[] };

/** The most threads or workers that one host is asked for. */
const MAX_LOCAL = 1024;

/**
 * Reads `local`, `local[N]`, `local[*]`, `local-cluster[workers,cores,memory]`
 * (memory in MiB) or `spark://host:port[,host:port…]`.
 *
 * @throws {InvalidAddressError} for anything else, naming the forms.
 */
export function parseMasterUrl(text: string, cpus: number): MasterUrl {
  if (text.startsWith("spark://")) {
    return { type: "spark", masters: parseMasterUrls(text) };
  }
  const local = /^local(?:\[(\d{1,4}|\*)\])?$/.exec(text);
  if (local) {
    const threads = local[1] === "*" ? cpus : Number(local[1] ?? 1);
    if (threads >= 1 && threads <= MAX_LOCAL) return { type: "local", threads };
  }
  const cluster =
    /^local-cluster\[\s*(\d{1,4})\s*,\s*(\d{1,4})\s*,\s*(\d{1,9})\s*\]$/
      .exec(text);
  if (cluster) {
    const [workers, cores, memory] = cluster.slice(1).map(Number);
    if (workers >= 1 && workers <= MAX_LOCAL && cores >= 1 && memory >= 1) {
      return { type: "local-cluster", workers, cores, memory };
    }
  }
  throw new InvalidAddressError(
    `Could not parse Master URL: '${text}'. Use local[N], local[*], local-cluster[workers,cores,memoryMiB] or spark://host:port.`,
  );
}
