import type { Bytes } from "../conf/units.ts";

interface Block {
  readonly chunks: readonly Uint8Array[];
  readonly size: Bytes;
}

/**
 * The cached partitions of one executor, encoded, in memory that its threads
 * share. When it is full the block that was used longest ago goes, except for
 * one of the same data set: it will be needed as soon as the new one.
 */
export class BlockCache {
  readonly #limit: Bytes;
  /** By `rddId/partition`, the one used last at the end. */
  readonly #blocks = new Map<string, Block>();
  #size = 0;

  constructor(limit: Bytes) {
    this.#limit = limit;
  }

  get size(): Bytes {
    return this.#size;
  }

  get(rddId: number, partition: number): readonly Uint8Array[] | undefined {
    const key = keyOf(rddId, partition);
    const block = this.#blocks.get(key);
    if (block === undefined) return undefined;
    this.#blocks.delete(key);
    this.#blocks.set(key, block);
    return block.chunks;
  }

  /** @returns false when there is no room for it. */
  put(
    rddId: number,
    partition: number,
    chunks: readonly Uint8Array[],
  ): boolean {
    const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    this.#remove(keyOf(rddId, partition));
    const excess = this.#size + size - this.#limit;
    const victims: string[] = [];
    let gained = 0;
    for (const [key, block] of this.#blocks) {
      if (gained >= excess) break;
      if (key.startsWith(`${rddId}/`)) continue;
      victims.push(key);
      gained += block.size;
    }
    // Nothing goes for a block that would not fit even then.
    if (gained < excess) return false;
    for (const key of victims) this.#remove(key);
    this.#blocks.set(keyOf(rddId, partition), { chunks, size });
    this.#size += size;
    return true;
  }

  #remove(key: string): void {
    const block = this.#blocks.get(key);
    if (block === undefined) return;
    this.#blocks.delete(key);
    this.#size -= block.size;
  }
}

function keyOf(rddId: number, partition: number): string {
  return `${rddId}/${partition}`;
}
