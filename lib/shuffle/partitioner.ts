import { compareKeys } from "./compare.ts";
import { hashKey } from "./hash.ts";

/** Which reduce partition a key goes to. Plain data. */
export type Partitioner =
  | { readonly type: "hash"; readonly partitions: number }
  | {
    readonly type: "range";
    readonly partitions: number;
    /**
     * The least key of each partition but the first, in order. There may be
     * fewer than partitions: then the last ones stay empty.
     */
    readonly bounds: readonly unknown[];
    readonly ascending: boolean;
  };

export function partitionCount(partitioner: Partitioner): number {
  return partitioner.partitions;
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

/** A key out of a sample, and how many keys it stands for. */
export type SampledKey = readonly [key: unknown, weight: number];

/**
 * The bounds that cut a sample of keys into partitions of about one size; keys
 * that are equal stay together, so there may be fewer bounds than it takes.
 *
 * @throws {UnsortableKeyError} for keys that have no order.
 */
export function rangeBounds(
  sample: readonly SampledKey[],
  partitions: number,
): unknown[] {
  const sorted = [...sample].sort(([a], [b]) => compareKeys(a, b));
  const total = sorted.reduce((sum, [, weight]) => sum + weight, 0);
  const bounds: unknown[] = [];
  let passed = 0;
  let cut = 1;
  let previous = sorted[0]?.[0];
  for (const [key, weight] of sorted) {
    passed += weight;
    if (passed * partitions <= cut * total) continue;
    while (passed * partitions > cut * total) cut++;
    if (compareKeys(previous, key) < 0) {
      bounds.push(key);
      previous = key;
    }
  }
  return bounds;
}
