import type { Bytes } from "../conf/units.ts";

/** Bytes that a peer may fetch by a stream's id. */
export interface StreamSource {
  readonly byteCount: Bytes;
  /** Called once per fetch; ends early when the peer is gone. */
  read(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const CHUNK_SIZE = 256 * 1024;

/** A stream over bytes in memory. */
export function bytesStream(bytes: Uint8Array): StreamSource {
  return {
    byteCount: bytes.length,
    *read() {
      for (let at = 0; at < bytes.length; at += CHUNK_SIZE) {
        yield bytes.subarray(at, at + CHUNK_SIZE);
      }
    },
  };
}

/** A stream over a part of a file, read as the peer takes it. */
export function fileStream(
  path: string,
  part: { offset: Bytes; length: Bytes },
): StreamSource {
  return {
    byteCount: part.length,
    async *read() {
      using file = await Deno.open(path);
      await file.seek(part.offset, Deno.SeekMode.Start);
      let remaining = part.length;
      const buffer = new Uint8Array(Math.min(CHUNK_SIZE, remaining));
      while (remaining > 0) {
        const size = Math.min(buffer.length, remaining);
        const count = await file.read(buffer.subarray(0, size));
        if (count === null) {
          throw new Deno.errors.UnexpectedEof(
            `${path} ends ${remaining} bytes before the end of the stream`,
          );
        }
        remaining -= count;
        yield buffer.subarray(0, count);
      }
    },
  };
}
