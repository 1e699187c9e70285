/**
 * The records of a partition as they flow: arrays of them, so that no record
 * pays for an iterator's step. Synchronous unless something on the way waits,
 * such as a fetch from another host or an async function.
 */
export type Chunks = Iterable<unknown[]> | AsyncIterable<unknown[]>;

const CHUNK_SIZE = 1024;

export function isAsync(chunks: Chunks): chunks is AsyncIterable<unknown[]> {
  return Symbol.asyncIterator in chunks;
}

/** Gathers the records of an iterable in chunks, drawing as they are asked. */
export function* chunked(records: Iterable<unknown>): Generator<unknown[]> {
  let chunk: unknown[] = [];
  for (const record of records) {
    chunk.push(record);
    if (chunk.length === CHUNK_SIZE) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

/** Like `chunked`, for an iterable that waits. */
export async function* chunkedAsync(
  records: AsyncIterable<unknown>,
): AsyncGenerator<unknown[]> {
  let chunk: unknown[] = [];
  for await (const record of records) {
    chunk.push(record);
    if (chunk.length === CHUNK_SIZE) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

export function* flatten(
  chunks: Iterable<readonly unknown[]>,
): Generator<unknown> {
  for (const chunk of chunks) yield* chunk;
}
