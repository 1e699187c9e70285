/**
 * The bytes that begin what a stream holds, and the stream itself
 * (`java.io.ObjectStreamConstants`).
 *
 * @module
 */

/** The first two bytes of every stream, `AC ED`. */
export const STREAM_MAGIC = 0xaced;
export const STREAM_VERSION = 5;
/** What the first handle of a stream is called. */
export const FIRST_HANDLE = 0x7e_0000;

export const Tag = {
  NULL: 0x70,
  REFERENCE: 0x71,
  CLASS_DESCRIPTOR: 0x72,
  OBJECT: 0x73,
  STRING: 0x74,
  ARRAY: 0x75,
  CLASS: 0x76,
  BLOCK: 0x77,
  END: 0x78,
  RESET: 0x79,
  LONG_BLOCK: 0x7a,
  EXCEPTION: 0x7b,
  LONG_STRING: 0x7c,
  PROXY_CLASS_DESCRIPTOR: 0x7d,
  ENUM: 0x7e,
} as const;

/** What is longer, in bytes, takes the long form of its kind. */
export const MAX_SHORT_STRING = 0xffff;
export const MAX_SHORT_BLOCK = 0xff;
