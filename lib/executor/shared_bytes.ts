/**
 * Copies bytes into memory that threads share, so that handing them to a
 * thread copies nothing.
 */
export function toSharedBytes(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

/** A private copy, for decoders that refuse shared memory. */
export function fromSharedBytes(bytes: Uint8Array): Uint8Array {
  return bytes.buffer instanceof SharedArrayBuffer
    ? new Uint8Array(bytes)
    : bytes;
}
