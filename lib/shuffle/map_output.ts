import type { RpcAddress } from "../messages/addresses.ts";

/**
 * Where the output of one map task is: one file that holds, for each reduce
 * partition, zero or more segments of encoded records.
 *
 * Plain data; it travels from the executor to the driver when the task ends.
 */
export interface MapOutput {
  readonly executorId: string;
  readonly host: string;
  /** Where the executor serves the file, as a stream. */
  readonly address: RpcAddress;
  readonly path: string;
  /** By reduce partition: offset, length, offset, length … in bytes. */
  readonly segments: readonly (readonly number[])[];
}

/** What one reduce task reads of one map task's output. */
export interface ShuffleBlock {
  readonly shuffleId: number;
  readonly mapIndex: number;
  readonly executorId: string;
  readonly host: string;
  readonly address: RpcAddress;
  readonly path: string;
  readonly segments: readonly number[];
}

/** A block could not be had: its map task must run again. */
export class FetchFailedError extends Error {
  override name = "FetchFailedError";

  constructor(readonly block: ShuffleBlock, cause: unknown) {
    super(
      `Cannot fetch the output of map task ${block.mapIndex} of shuffle ${block.shuffleId} from executor ${block.executorId} on ${block.host}: ${
        cause instanceof Error ? cause.message : cause
      }`,
      { cause },
    );
  }
}

/** The blocks of one reduce partition; empty ones are left out. */
export function blocksOf(
  shuffleId: number,
  outputs: readonly MapOutput[],
  partition: number,
): ShuffleBlock[] {
  const blocks: ShuffleBlock[] = [];
  outputs.forEach((output, mapIndex) => {
    const segments = output.segments[partition];
    if (segments.length === 0) return;
    const { executorId, host, address, path } = output;
    blocks.push({
      shuffleId,
      mapIndex,
      executorId,
      host,
      address,
      path,
      segments,
    });
  });
  return blocks;
}
