import { constants } from "node:buffer";
import type { TextSplit } from "./text_splits.ts";

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = "\ufeff";

/** How much is read to find one line's end, in bytes. */
const SCAN_SIZE = 4096;

const DEFAULT_BUFFER_SIZE = 64 * 1024;

/** The longest string of V8 (some 512 MiB), less the two bytes of a line's end. */
const DEFAULT_MAX_LINE_LENGTH = constants.MAX_STRING_LENGTH - 2;

/** Options for {@linkcode openTextSplit}. */
export interface TextInputOptions {
  /**
   * How much is read and decoded at once, in bytes. It bounds what a chunk of lines holds, unless
   * one line is longer.
   *
   * @default {65536}
   */
  bufferSize?: number;
  /**
   * The longest line in bytes: a line that is longer than both this and the buffer is refused.
   *
   * @default {536870886} what fits a string of V8, which is also the most that can be set
   */
  maxLineLength?: number;
}

/** A text file that cannot be read as its split says. */
export class TextInputError extends Error {
  override readonly name: string = "TextInputError";
}

/** A line that is longer than the limit. */
export class LineTooLongError extends TextInputError {
  override readonly name = "LineTooLongError";
}

/**
 * Reads the lines of a split, in chunks of lines.
 *
 * A line ends with LF, CR LF or CR, or with the file. It belongs to the split in which its first
 * byte lies, so that every line is read once however a file is cut (Hadoop's `LineRecordReader` has
 * the same ends, and gives the same lines in all). A UTF-8 byte order mark at the start of the file
 * is dropped; bytes that are not UTF-8 become U+FFFD.
 *
 * A plain file is read synchronously, one of gzip (also of several members) asynchronously. A loop
 * that is left early closes the file.
 *
 * @throws {LineTooLongError} while reading, at a line that is too long.
 * @throws {TextInputError} while reading, when the file is shorter than its split says, or is not
 * gzip.
 */
export function openTextSplit(
  split: TextSplit,
  options: TextInputOptions = {},
): Iterable<string[]> | AsyncIterable<string[]> {
  return split.compressed
    ? readCompressed(split, options)
    : readPlain(split, options);
}

function* readPlain(
  split: TextSplit,
  options: TextInputOptions,
): Generator<string[]> {
  using file = Deno.openSync(split.path);
  const size = file.statSync().size;
  const end = split.start + split.length;
  if (size < end) {
    throw new TextInputError(
      `Cannot read ${split.path} up to byte ${end}: it has become shorter (${size} bytes) since it was listed`,
    );
  }
  const limit = maxLineLength(options);
  const first = lineStart(file, split, split.start, limit);
  // One line may run through the whole split: it begins before it and belongs there.
  if (first >= end) return;
  let remaining = lineStart(file, split, end, limit) - first;
  file.seekSync(first, Deno.SeekMode.Start);
  const lines = new LineBlocks(split.path, first === 0, options);
  while (remaining > 0) {
    const space = lines.space();
    const read = file.readSync(
      space.length > remaining ? space.subarray(0, remaining) : space,
    );
    if (read === null) break;
    remaining -= read;
    const chunk = lines.advance(read);
    if (chunk !== undefined) yield chunk;
  }
  const rest = lines.end();
  if (rest !== undefined) yield rest;
}

async function* readCompressed(
  split: TextSplit,
  options: TextInputOptions,
): AsyncGenerator<string[]> {
  // They take as long to load as all of sparkts, and few tasks need them.
  const { createReadStream } = await import("node:fs");
  const { createGunzip } = await import("node:zlib");
  const input = createReadStream(split.path, { highWaterMark: 256 * 1024 });
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  // pipe() does not hand on errors, and a reader of gunzip must hear of them.
  input.on("error", (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  const lines = new LineBlocks(split.path, true, options);
  try {
    for await (const piece of gunzip as AsyncIterable<Uint8Array>) {
      for (let offset = 0; offset < piece.length;) {
        const space = lines.space();
        const part = piece.subarray(offset, offset + space.length);
        space.set(part);
        offset += part.length;
        const chunk = lines.advance(part.length);
        if (chunk !== undefined) yield chunk;
      }
    }
  } catch (error) {
    if (!isZlibError(error)) throw error;
    throw new TextInputError(
      `Cannot decompress ${split.path} as gzip: ${error.message}`,
      { cause: error },
    );
  } finally {
    input.destroy();
    gunzip.destroy();
  }
  const rest = lines.end();
  if (rest !== undefined) yield rest;
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && "code" in error &&
    typeof error.code === "string" && error.code.startsWith("Z_");
}

/**
 * Where the first line begins whose first byte is at `position` or later. The search begins one
 * byte before: when a line end is there, the line begins at `position` itself, and a CR LF that
 * `position` cuts is seen as the one end that it is. As a split ends where this function puts the
 * next one's start, no line is lost or doubled.
 */
function lineStart(
  file: Deno.FsFile,
  split: TextSplit,
  position: number,
  limit: number,
): number {
  if (position === 0) return 0;
  const buffer = new Uint8Array(SCAN_SIZE);
  let at = position - 1;
  let afterCr = false;
  file.seekSync(at, Deno.SeekMode.Start);
  for (;;) {
    const read = file.readSync(buffer);
    if (read === null) return at;
    if (afterCr) return buffer[0] === LF ? at + 1 : at;
    const block = buffer.subarray(0, read);
    const lf = block.indexOf(LF);
    const cr = (lf < 0 ? block : block.subarray(0, lf)).indexOf(CR);
    if (cr >= 0 && cr + 1 < read) {
      return at + cr + (block[cr + 1] === LF ? 2 : 1);
    }
    if (cr >= 0) afterCr = true;
    else if (lf >= 0) return at + lf + 1;
    at += read;
    if (at - position > limit) throw lineTooLong(split.path, limit);
  }
}

/** Cuts a stream of bytes after line ends, and turns each block into lines. */
class LineBlocks {
  readonly #path: string;
  readonly #bufferSize: number;
  readonly #maxLineLength: number;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #buffer: Uint8Array;
  /** How many bytes of the buffer hold lines that are not given yet. */
  #filled = 0;
  #atFileStart: boolean;

  constructor(path: string, atFileStart: boolean, options: TextInputOptions) {
    this.#path = path;
    this.#bufferSize = Math.max(1, options.bufferSize ?? DEFAULT_BUFFER_SIZE);
    this.#maxLineLength = maxLineLength(options);
    this.#buffer = new Uint8Array(this.#bufferSize);
    this.#atFileStart = atFileStart;
  }

  /** Where the next bytes go: at least one byte of room. */
  space(): Uint8Array {
    if (this.#filled === this.#buffer.length) {
      // One unfinished line fills the buffer. Two more bytes may be its end.
      const largest = this.#maxLineLength + 2;
      if (this.#filled >= largest) {
        throw lineTooLong(this.#path, this.#maxLineLength);
      }
      this.#resize(Math.min(this.#filled * 2, largest));
    }
    return this.#buffer.subarray(this.#filled);
  }

  /** Takes note of bytes put at the start of {@linkcode space}; gives the lines they complete. */
  advance(count: number): string[] | undefined {
    this.#filled += count;
    const block = this.#buffer.subarray(0, this.#filled);
    let cut = block.lastIndexOf(LF) + 1;
    // A CR at the very end may be half of a CR LF: it waits for the next byte.
    if (cut === 0) cut = block.subarray(0, -1).lastIndexOf(CR) + 1;
    if (cut === 0) return undefined;
    const lines = this.#split(cut);
    this.#buffer.copyWithin(0, cut, this.#filled);
    this.#filled -= cut;
    if (this.#buffer.length > this.#bufferSize) {
      this.#resize(Math.max(this.#bufferSize, this.#filled));
    }
    return lines;
  }

  /** The lines that are left when there are no more bytes. */
  end(): string[] | undefined {
    if (this.#filled === 0) return undefined;
    const lines = this.#split(this.#filled);
    this.#filled = 0;
    return lines;
  }

  /**
   * The lines of the first bytes of the buffer. To decode a block and split the string is several
   * times as fast as to decode each line.
   */
  #split(length: number): string[] {
    let text = this.#decoder.decode(this.#buffer.subarray(0, length));
    if (this.#atFileStart && text.startsWith(BYTE_ORDER_MARK)) {
      text = text.slice(1);
    }
    this.#atFileStart = false;
    if (text.includes("\r")) {
      text = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
    }
    const lines = text.split("\n");
    // What follows the last line end is no line.
    const last = this.#buffer[length - 1];
    if (last === LF || last === CR) lines.pop();
    return lines;
  }

  #resize(length: number): void {
    const resized = new Uint8Array(length);
    resized.set(this.#buffer.subarray(0, this.#filled));
    this.#buffer = resized;
  }
}

function maxLineLength(options: TextInputOptions): number {
  return Math.min(
    options.maxLineLength ?? DEFAULT_MAX_LINE_LENGTH,
    DEFAULT_MAX_LINE_LENGTH,
  );
}

function lineTooLong(path: string, limit: number): LineTooLongError {
  return new LineTooLongError(
    `Cannot read ${path}: it has a line longer than ${limit} bytes`,
  );
}
