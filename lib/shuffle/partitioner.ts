import { compareKeys } from "./compare.ts";
import { hashKey } from "./hash.ts";

/** Which reduce partition a key goes to. Plain data. */
export type Partitioner =
  | { readonly type: "hash"; readonly partitions: number }
  | {
    readonly type: "range";
    /** The least key of each partition but the first, in order. */
    readonly bounds: readonly unknown[];
    readonly ascending: boolean;
  };

export function partitionCount(partitioner: Partitioner): number {
  return partitioner.type === "hash"
    ? partitioner.partitions
    : partitioner.bounds.length + 1;
}

/** The function that gives a key's partition, to be called once a record. */
export function partitionFunction(
  partitioner: Partitioner,
): (key: unknown) => number {
  if (partitioner.type === "hash") {
    const { partitions } = partitioner;
    return (key) => hashKey(key) % partitions;
  }
  const { bounds, ascending } = partitioner;
  const last = bounds.length;
  return (key) => {
    let low = 0;
    let high = last;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(key, bounds[middle]) < 0) high = middle;
      else low = middle + 1;
    }
    return ascending ? low : last - low;
  };
}

/**
 * The bounds that cut a sample of keys into partitions of about one size; keys
 * that are equal stay together, so there may be fewer partitions than asked.
 */
export function rangeBounds(
  sample: readonly unknown[],
  partitions: number,
): unknown[] {
  const sorted = [...sample].sort(compareKeys);
  const bounds: unknown[] = [];
  for (let i = 1; i < partitions; i++) {
    const candidate = sorted[Math.floor(i * sorted.length / partitions)];
    if (candidate === undefined && sorted.length === 0) break;
    const previous = bounds.length === 0 ? sorted[0] : bounds.at(-1);
    if (compareKeys(previous, candidate) < 0) bounds.push(candidate);
  }
  return bounds;
}
