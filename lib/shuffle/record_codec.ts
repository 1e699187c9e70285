/**
 * How records travel: between the stages of a job, and from a task to the driver.
 *
 * The first byte names the encoding; what follows is its payload:
 *
 *     1   JSON in UTF-8: the fastest for ordinary values, and used for all that it keeps whole
 *     2   structured clone (`node:v8`): Map, Set, Date, RegExp, bigint, typed arrays, undefined, NaN, -0, holes,
 *         cycles, Error
 *     3   a batch of `[string, number]` pairs (see `pair_codec.ts`)
 *
 * A value that none of them keeps is refused rather than damaged. Three things are not kept and not
 * refused either: an object without a prototype gets the usual one, a getter becomes what it gave,
 * and a regular expression's `lastIndex` becomes 0. That two places hold the same object is kept by
 * structured clone only.
 *
 * @module
 */

import { deserialize, serialize } from "node:v8";
import { decodePairs, encodePairs } from "./pair_codec.ts";
import {
  assertSendable,
  isJsonSafe,
  UnsendableValueError,
} from "./sendable.ts";

export { UnsendableValueError };

const JSON_TEXT = 1;
const STRUCTURED_CLONE = 2;
const PAIRS = 3;

/** Fewer pairs than this are sent as JSON. */
const MIN_PAIRS = 8;

/** Bytes that are not encoded records. */
export class RecordCodecError extends Error {
  override readonly name = "RecordCodecError";
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Encodes a batch of records.
 *
 * @throws {UnsendableValueError} for a record that cannot travel; its path begins with the record's
 * index.
 */
export function encodeRecords(records: readonly unknown[]): Uint8Array {
  if (records.length >= MIN_PAIRS) {
    const bytes = encodePairs(records, 1);
    if (bytes !== undefined) {
      bytes[0] = PAIRS;
      return bytes;
    }
  }
  return encode(records, areJsonSafe(records));
}

/**
 * Decodes what {@linkcode encodeRecords} made.
 *
 * @throws {RecordCodecError} for any other bytes.
 */
export function decodeRecords(bytes: Uint8Array): unknown[] {
  const records = decode(bytes);
  if (!Array.isArray(records)) {
    throw new RecordCodecError(
      "Cannot decode records: the bytes hold a single value",
    );
  }
  return records;
}

/**
 * Encodes one value.
 *
 * @throws {UnsendableValueError} for a value that cannot travel.
 */
export function encodeValue(value: unknown): Uint8Array {
  return encode(value, isJsonSafe(value));
}

/**
 * Decodes what {@linkcode encodeValue} made.
 *
 * @throws {RecordCodecError} for any other bytes.
 */
export function decodeValue(bytes: Uint8Array): unknown {
  return decode(bytes);
}

function areJsonSafe(records: readonly unknown[]): boolean {
  // Not every(), which passes over holes.
  for (let i = 0; i < records.length; i++) {
    if (!isJsonSafe(records[i])) return false;
  }
  return true;
}

function encode(value: unknown, jsonSafe: boolean): Uint8Array {
  if (jsonSafe) {
    try {
      return tagged(JSON_TEXT, encoder.encode(JSON.stringify(value)));
    } catch (error) {
      // Longer than a string can be; structured clone writes bytes.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return cloned(value);
}

function cloned(value: unknown): Uint8Array {
  assertSendable(value);
  try {
    return tagged(STRUCTURED_CLONE, serialize(value));
  } catch (error) {
    // A Proxy, which cannot be told from what it stands for, or nesting deeper than the stack.
    throw new UnsendableValueError(
      "",
      `something structured clone refuses (${messageOf(error)})`,
      "",
      { cause: error },
    );
  }
}

function decode(bytes: Uint8Array): unknown {
  const payload = bytes.subarray(1);
  try {
    switch (bytes[0]) {
      case JSON_TEXT:
        return JSON.parse(decoder.decode(payload));
      case STRUCTURED_CLONE:
        return deserialize(payload);
      case PAIRS:
        return decodePairs(payload);
    }
  } catch (error) {
    throw new RecordCodecError(
      `Cannot decode ${bytes.length} bytes of records: ${messageOf(error)}`,
      { cause: error },
    );
  }
  throw new RecordCodecError(
    bytes.length === 0
      ? "Cannot decode records: there are no bytes"
      : `Cannot decode records: the first byte is ${
        bytes[0]
      }, which names no encoding`,
  );
}

function tagged(tag: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(payload.length + 1);
  bytes[0] = tag;
  bytes.set(payload, 1);
  return bytes;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
