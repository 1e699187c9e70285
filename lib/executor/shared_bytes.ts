/**
 * Copies bytes into memory that threads share, so that handing them to a
 * thread copies nothing.
 */
export function toSharedBytes(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

/**
 * Bytes as a thread is given them: their memory, which must hold nothing else
 * or is copied. A message to a thread must have no typed array in it: Deno's
 * `node:worker_threads` looks for message ports in every element of one, which
 * takes seconds for some megabytes, and passes over a buffer.
 */
export function bufferOf(bytes: Uint8Array): ArrayBufferLike {
  return bytes.byteLength === bytes.buffer.byteLength
    ? bytes.buffer
    : bytes.slice().buffer;
}

/** What a buffer holds; a copy if it is shared, which some decoders refuse. */
export function privateBytes(buffer: ArrayBufferLike): Uint8Array {
  const bytes = new Uint8Array(buffer);
  return buffer instanceof SharedArrayBuffer ? new Uint8Array(bytes) : bytes;
}
