import { MalformedBytesError } from "../../rpc/bytes.ts";

/**
 * Bytes that are no Java object stream, or one that is larger or odder than
 * sparkts takes. `offset` counts from the stream's first byte.
 */
export class JavaStreamError extends MalformedBytesError {
  override name = "JavaStreamError";

  constructor(
    readonly offset: number,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(
      `Cannot read the Java object stream at byte ${offset}: ${reason}.`,
      options,
    );
  }
}

/**
 * What a stream may hold. A message of Spark's cluster manager has some
 * hundred objects, ten levels deep; the limits leave room for ones a thousand
 * times as large, and none for a stream made to exhaust the reader.
 */
export interface JavaStreamLimits {
  /**
   * Objects and annotations within one another. Each level takes some frames of
   * the stack, which holds at least twice the default's.
   */
  readonly depth: number;
  /** Objects, strings, arrays, descriptors: all that gets a handle. */
  readonly handles: number;
  /** Values of fields and elements of arrays, in all; bytes apart. */
  readonly values: number;
  /** Bytes of one string. */
  readonly stringBytes: number;
  /** Elements of one array. */
  readonly arrayLength: number;
  /** Classes that extend each other. */
  readonly superclasses: number;
}

export const DEFAULT_JAVA_STREAM_LIMITS: JavaStreamLimits = {
  depth: 500,
  handles: 1_000_000,
  values: 4_000_000,
  stringBytes: 16 << 20,
  arrayLength: 64 << 20,
  superclasses: 64,
};
