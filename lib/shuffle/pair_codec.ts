/**
 * The encoding of a batch of `[string, number]` pairs, what most of a shuffle is made of.
 *
 *     count       u32
 *     lengthSize  u32   1 or 4: bytes of a length
 *     numberSize  u32   4 (all are int32) or 8 (float64)
 *     textBytes   u32
 *     numbers     count × numberSize
 *     lengths     count × lengthSize: of each string, in UTF-16 code units
 *     text        textBytes: all strings, one after the other, in UTF-8
 *
 * Little-endian, as all machines that Deno runs on. The strings are cut by length, as they may hold
 * any character.
 *
 * @module
 */

const HEADER_WORDS = 4;

/** Encoded pairs that contradict themselves. */
export class PairCodecError extends Error {
  override readonly name = "PairCodecError";
}

/**
 * Encodes a batch of pairs after `prefix` bytes left free.
 *
 * @returns `undefined` when a record is no pair of a string and a number, has other properties too,
 * or when the text is not well-formed (a lone surrogate) or too long for one string.
 */
export function encodePairs(
  records: readonly unknown[],
  prefix: number,
): Uint8Array | undefined {
  const count = records.length;
  const strings = new Array<string>(count);
  const numbers = new Float64Array(count);
  let integers = true;
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const record = records[i];
    if (!isPair(record)) return undefined;
    const [text, number] = record;
    strings[i] = text;
    if (text.length > longest) longest = text.length;
    numbers[i] = number;
    // -0 is no int32.
    if (integers && !Object.is(number | 0, number)) integers = false;
  }
  const joined = join(strings);
  if (joined === undefined) return undefined;
  const text = new TextEncoder().encode(joined);
  const lengths = longest < 256
    ? new Uint8Array(count)
    : new Uint32Array(count);
  for (let i = 0; i < count; i++) lengths[i] = strings[i].length;
  return concatenate(prefix, [
    Uint32Array.of(
      count,
      lengths.BYTES_PER_ELEMENT,
      integers ? 4 : 8,
      text.length,
    ),
    integers ? Int32Array.from(numbers) : numbers,
    lengths,
    text,
  ]);
}

/**
 * Decodes what {@linkcode encodePairs} made, without its prefix.
 *
 * @throws {PairCodecError} for bytes that contradict themselves.
 */
export function decodePairs(bytes: Uint8Array): [string, number][] {
  let offset = 0;
  const take = (length: number): ArrayBuffer => {
    if (offset + length > bytes.length) throw broken("they are cut off");
    // A copy, so that it is aligned as typed arrays must be.
    const part = bytes.slice(offset, offset += length);
    return part.buffer as ArrayBuffer;
  };
  const [count, lengthSize, numberSize, textBytes] = new Uint32Array(
    take(HEADER_WORDS * 4),
  );
  if (
    (lengthSize !== 1 && lengthSize !== 4) ||
    (numberSize !== 4 && numberSize !== 8)
  ) throw broken("their header is none");
  const numberBytes = take(count * numberSize);
  const lengthBytes = take(count * lengthSize);
  const numbers = numberSize === 4
    ? new Int32Array(numberBytes)
    : new Float64Array(numberBytes);
  const lengths = lengthSize === 1
    ? new Uint8Array(lengthBytes)
    : new Uint32Array(lengthBytes);
  if (offset + textBytes !== bytes.length) throw broken("their length differs");
  const text = decodeText(bytes.subarray(offset));
  const records = new Array<[string, number]>(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const end = at + lengths[i];
    records[i] = [text.slice(at, end), numbers[i]];
    at = end;
  }
  if (at !== text.length) throw broken("their strings do not add up");
  return records;
}

function isPair(record: unknown): record is [string, number] {
  return Array.isArray(record) && record.length === 2 &&
    typeof record[0] === "string" && typeof record[1] === "number" &&
    Object.getPrototypeOf(record) === Array.prototype &&
    Object.keys(record).length === 2;
}

/** All strings in one, or `undefined` when UTF-8 could not hold it or it would be too long. */
function join(strings: string[]): string | undefined {
  try {
    const joined = strings.join("");
    return joined.isWellFormed() ? joined : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(bytes);
  } catch (error) {
    throw broken("their text is not UTF-8", { cause: error });
  }
}

function concatenate(prefix: number, parts: ArrayBufferView[]): Uint8Array {
  let length = prefix;
  for (const part of parts) length += part.byteLength;
  const bytes = new Uint8Array(length);
  let offset = prefix;
  for (const part of parts) {
    bytes.set(
      new Uint8Array(part.buffer, part.byteOffset, part.byteLength),
      offset,
    );
    offset += part.byteLength;
  }
  return bytes;
}

function broken(why: string, options?: ErrorOptions): PairCodecError {
  return new PairCodecError(`Cannot decode encoded pairs: ${why}`, options);
}
