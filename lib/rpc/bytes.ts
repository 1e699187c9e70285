const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A read goes past the end of what was received, or finds no text there. */
export class MalformedBytesError extends Error {
  override name = "MalformedBytesError";
}

/**
 * Bytes that grow at their end. Integers are big-endian.
 *
 * `take` hands out what was written and starts anew on another buffer, so that
 * one can be on its way to the socket while the next is filled.
 */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #length = 0;

  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  u16(value: number): void {
    this.#room(2);
    this.#view.setUint16(this.#length, value);
    this.#length += 2;
  }

  i32(value: number): void {
    this.#room(4);
    this.#view.setInt32(this.#length, value);
    this.#length += 4;
  }

  /** A 64-bit integer; a number must be a safe integer. */
  i64(value: number | bigint): void {
    this.#room(8);
    this.setI64(this.#length, value);
    this.#length += 8;
  }

  bytes(value: Uint8Array): void {
    this.#room(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** UTF-8 without a length before it. */
  text(value: string): void {
    // Three bytes hold any UTF-16 code unit, so this never falls short.
    this.#room(value.length * 3);
    const rest = this.#bytes.subarray(this.#length);
    this.#length += encoder.encodeInto(value, rest).written;
  }

  /** A 32-bit length and UTF-8, as Spark's network layer writes strings. */
  string(value: string): void {
    const start = this.#length;
    this.i32(0);
    this.text(value);
    this.setI32(start, this.#length - start - 4);
  }

  /**
   * A 16-bit length and modified UTF-8, as Java's `DataOutput.writeUTF`.
   *
   * @throws {RangeError} when the text takes more than 65,535 bytes.
   */
  utf(value: string): void {
    const start = this.#length;
    this.u16(0);
    const size = this.modifiedUtf8(value);
    if (size > 0xffff) {
      this.#length = start;
      throw new RangeError(
        `Cannot write a text of ${size} bytes: the most is 65535.`,
      );
    }
    this.#view.setUint16(start, size);
  }

  /**
   * Java's own form of UTF-8 without a length before it: each UTF-16 code unit
   * on its own, and no byte 0.
   *
   * @returns how many bytes that took.
   */
  modifiedUtf8(value: string): number {
    this.#room(value.length * 3);
    let at = this.#length;
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i);
      if (unit !== 0 && unit < 0x80) {
        this.#bytes[at++] = unit;
      } else if (unit < 0x800) {
        this.#bytes[at++] = 0xc0 | unit >> 6;
        this.#bytes[at++] = 0x80 | unit & 0x3f;
      } else {
        this.#bytes[at++] = 0xe0 | unit >> 12;
        this.#bytes[at++] = 0x80 | unit >> 6 & 0x3f;
        this.#bytes[at++] = 0x80 | unit & 0x3f;
      }
    }
    const size = at - this.#length;
    this.#length = at;
    return size;
  }

  f32(value: number): void {
    this.#room(4);
    this.#view.setFloat32(this.#length, value);
    this.#length += 4;
  }

  f64(value: number): void {
    this.#room(8);
    this.#view.setFloat64(this.#length, value);
    this.#length += 8;
  }

  /** Overwrites an integer that was written before. */
  setI32(position: number, value: number): void {
    this.#view.setInt32(position, value);
  }

  /** Overwrites an integer that was written before. */
  setI64(position: number, value: number | bigint): void {
    if (typeof value === "bigint") {
      this.#view.setBigInt64(position, value);
    } else {
      this.#view.setInt32(position, Math.floor(value / 2 ** 32));
      this.#view.setUint32(position + 4, value >>> 0);
    }
  }

  /** Forgets what was written from this position on. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** What was written so far; valid until the next write. */
  written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Hands out what was written and goes on with `spare`, or a new buffer. */
  take(spare?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const taken = this.written();
    this.#bytes = spare ?? new Uint8Array(Math.min(this.#bytes.length, 65_536));
    this.#view = new DataView(this.#bytes.buffer);
    this.#length = 0;
    return taken;
  }

  #room(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.written());
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** Reads big-endian integers, texts and bytes, and never past the end. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bytes;
    this.#position = position;
  }

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  u8(): number {
    return this.#bytes[this.#advance(1)];
  }

  u16(): number {
    const position = this.#advance(2);
    return this.#bytes[position] << 8 | this.#bytes[position + 1];
  }

  i32(): number {
    return readI32(this.#bytes, this.#advance(4));
  }

  /** @throws {MalformedBytesError} also beyond 2^53, which no peer needs. */
  i64(): number {
    const value = this.anyI64();
    if (typeof value === "bigint") {
      throw new MalformedBytesError(`An integer is out of range: ${value}.`);
    }
    return value;
  }

  /** A number where it is a safe integer, else a bigint. */
  anyI64(): number | bigint {
    const position = this.#advance(8);
    const value = readI64(this.#bytes, position);
    if (Number.isSafeInteger(value)) return value;
    const high = BigInt(readI32(this.#bytes, position));
    const low = readI32(this.#bytes, position + 4) >>> 0;
    return high << 32n | BigInt(low);
  }

  /** A view of the next bytes, not a copy. */
  bytes(length: number): Uint8Array {
    const position = this.#advance(length);
    return this.#bytes.subarray(position, position + length);
  }

  rest(): Uint8Array {
    return this.bytes(this.remaining);
  }

  string(): string {
    return decoder.decode(this.bytes(this.i32()));
  }

  utf(): string {
    return this.modifiedUtf8(this.u16());
  }

  /**
   * Java's own form of UTF-8, of so many bytes. Only the one form that Java
   * writes is taken, so what is read and written again is the same.
   */
  modifiedUtf8(length: number): string {
    const bytes = this.bytes(length);
    const units: number[] = [];
    let text = "";
    for (let i = 0; i < length;) {
      const size = sequenceSize(bytes, i);
      if (size === 0) {
        throw new MalformedBytesError(
          `A text has the byte ${bytes[i]} where a character should begin.`,
        );
      }
      units.push(
        size === 1
          ? bytes[i]
          : size === 2
          ? (bytes[i] & 0x1f) << 6 | bytes[i + 1] & 0x3f
          : (bytes[i] & 0x0f) << 12 | (bytes[i + 1] & 0x3f) << 6 |
            bytes[i + 2] & 0x3f,
      );
      i += size;
      if (units.length === UNITS_AT_ONCE || i === length) {
        text += String.fromCharCode(...units);
        units.length = 0;
      }
    }
    return text;
  }

  f32(): number {
    return this.#float(4);
  }

  f64(): number {
    return this.#float(8);
  }

  #float(size: 4 | 8): number {
    const { buffer, byteOffset } = this.#bytes;
    const at = this.#advance(size);
    const view = new DataView(buffer, byteOffset + at, size);
    return size === 4 ? view.getFloat32(0) : view.getFloat64(0);
  }

  #advance(size: number): number {
    const position = this.#position;
    if (size < 0 || position + size > this.#bytes.length) {
      throw new MalformedBytesError(
        `${size} bytes are needed at ${position}, and there are ${this.remaining}.`,
      );
    }
    this.#position = position + size;
    return position;
  }
}

/** Code units that are made a string in one call. */
const UNITS_AT_ONCE = 4096;

/** The bytes of the code unit that begins here, or 0 if none properly does. */
function sequenceSize(bytes: Uint8Array, at: number): 0 | 1 | 2 | 3 {
  const first = bytes[at];
  if (first < 0x80) return first === 0 ? 0 : 1;
  if (bytes[at + 1] >> 6 !== 0b10) return 0;
  if (first >> 5 === 0b110) {
    // Below 0x80 only the code unit 0 takes two bytes.
    const isLong = first >= 0xc2;
    return isLong || (first === 0xc0 && bytes[at + 1] === 0x80) ? 2 : 0;
  }
  if (first >> 4 !== 0b1110 || bytes[at + 2] >> 6 !== 0b10) return 0;
  return first === 0xe0 && bytes[at + 1] < 0xa0 ? 0 : 3;
}

/** The 32-bit integer at a position that lies within the bytes. */
function readI32(bytes: Uint8Array, at: number): number {
  return bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 |
    bytes[at + 3];
}

/**
 * The 64-bit integer at a position that lies within the bytes: exact within
 * the safe integers, and about right beyond.
 */
export function readI64(bytes: Uint8Array, at: number): number {
  return readI32(bytes, at) * 2 ** 32 + (readI32(bytes, at + 4) >>> 0);
}
