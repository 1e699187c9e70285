import { FetchFailedError, type ShuffleBlock } from "./map_output.ts";
import { decodeRecords } from "./record_codec.ts";

/** Fetches a part of a map output from the executor that serves it. */
export type FetchSegment = (
  block: ShuffleBlock,
  segment: { offset: number; length: number },
) => Promise<Uint8Array>;

export interface ShuffleReaderOptions {
  /** This executor's host: files of the same host are read directly. */
  readonly host: string;
  readonly fetch: FetchSegment;
}

/**
 * Reads blocks of map outputs, each segment as one array of records.
 *
 * What lies on this host is read from its file without a detour through the
 * executor that wrote it; only when all of it does is the result synchronous.
 *
 * @throws {FetchFailedError} while reading, for a block that is not there.
 */
export function readBlocks(
  blocks: readonly ShuffleBlock[],
  options: ShuffleReaderOptions,
): Iterable<unknown[]> | AsyncIterable<unknown[]> {
  const local = blocks.every((block) => isReadable(block, options.host));
  return local ? readFiles(blocks) : readOrFetch(blocks, options);
}

function isReadable(block: ShuffleBlock, host: string): boolean {
  if (block.host !== host) return false;
  try {
    return Deno.statSync(block.path).isFile;
  } catch {
    // Another file system on a host of the same name, or the file is gone:
    // the executor that wrote it can tell.
    return false;
  }
}

function* readFiles(blocks: readonly ShuffleBlock[]): Generator<unknown[]> {
  for (const block of blocks) yield* readFile(block);
}

function* readFile(block: ShuffleBlock): Generator<unknown[]> {
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(block.path);
  } catch (cause) {
    throw new FetchFailedError(block, cause);
  }
  using _ = file;
  for (const { offset, length } of segmentsOf(block)) {
    yield decodeRecords(readSegment(file, block, offset, length));
  }
}

function readSegment(
  file: Deno.FsFile,
  block: ShuffleBlock,
  offset: number,
  length: number,
): Uint8Array {
  const bytes = new Uint8Array(length);
  file.seekSync(offset, Deno.SeekMode.Start);
  for (let at = 0; at < length;) {
    const count = file.readSync(bytes.subarray(at));
    if (count === null) {
      throw new FetchFailedError(block, "the file is cut short");
    }
    at += count;
  }
  return bytes;
}

async function* readOrFetch(
  blocks: readonly ShuffleBlock[],
  options: ShuffleReaderOptions,
): AsyncGenerator<unknown[]> {
  for (const block of blocks) {
    if (isReadable(block, options.host)) {
      yield* readFile(block);
      continue;
    }
    for (const segment of segmentsOf(block)) {
      let bytes: Uint8Array;
      try {
        bytes = await options.fetch(block, segment);
      } catch (cause) {
        throw new FetchFailedError(block, cause);
      }
      yield decodeRecords(bytes);
    }
  }
}

function* segmentsOf({ segments }: ShuffleBlock) {
  for (let i = 0; i < segments.length; i += 2) {
    yield { offset: segments[i], length: segments[i + 1] };
  }
}
