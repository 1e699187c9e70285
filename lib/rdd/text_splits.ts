import { resolve } from "node:path";
import { globPaths, isGlob, splitAtCommas, unescapeGlob } from "./glob.ts";
import { isAbsent } from "./path_exists.ts";

/**
 * The longest split by default, in bytes: 32 MiB, the block size that Hadoop's local filesystem
 * reports (`fs.local.block.size`).
 */
export const DEFAULT_SPLIT_SIZE = 32 * 1024 * 1024;

/** The last split of a file may be a tenth longer than the others (Hadoop's `SPLIT_SLOP`). */
const SPLIT_SLOP = 1.1;

/** How many splits one input may have: each is a task that the driver keeps in memory. */
const MAX_SPLITS = 1_000_000;

/** Suffixes that Hadoop would decompress and we can't: to read them as text would give garbage. */
const UNSUPPORTED_SUFFIXES = [".bz2", ".deflate", ".lz4", ".snappy", ".zst"];

/** A part of a text file that one task reads. Plain JSON. */
export interface TextSplit {
  /** The absolute path of the file. */
  readonly path: string;
  /** Where the split begins, in bytes from the start of the file. */
  readonly start: number;
  /** How many bytes of the file the split covers. */
  readonly length: number;
  /** Whether the file is gzip. Then the split is always the whole file. */
  readonly compressed: boolean;
}

/** Options for {@linkcode listTextSplits}. */
export interface TextSplitOptions {
  /**
   * How many partitions the input should have at least, where it can be cut: a hint, as in Hadoop.
   * Values below 1 mean 1.
   */
  minPartitions: number;
  /**
   * The longest split in bytes.
   *
   * @default {DEFAULT_SPLIT_SIZE}
   */
  splitSize?: number;
}

/** An input path that cannot be read. */
export class InputPathError extends Error {
  override readonly name: string = "InputPathError";
}

/** An input path that does not exist, or a pattern that matches nothing. */
export class InputPathNotFoundError extends InputPathError {
  override readonly name = "InputPathNotFoundError";
}

/**
 * Lists the splits of a text input, sorted by path (code units) and start.
 *
 * `path` is a comma-separated list of files, directories, globs (see `glob.ts`) and `file:` URLs,
 * relative ones resolved against the current directory. A directory stands for its direct files;
 * names that begin with `_` or `.` and nested directories are skipped. A file that is listed twice
 * is read twice. Files are cut as Hadoop's `FileInputFormat` does: by bytes, at
 * `min(splitSize, totalBytes / minPartitions)`, with the last split up to a tenth longer. A file
 * whose name ends in `.gz` is one split. An empty file has none.
 *
 * @throws {InputPathNotFoundError} when a path does not exist or a glob matches nothing.
 * @throws {InputPathError} when a path cannot be read, is no file or directory, is compressed with
 * something else than gzip, or when there would be more than a million splits.
 * @throws {import("./glob.ts").GlobSyntaxError} for a glob that cannot be understood.
 */
export function listTextSplits(
  path: string,
  options: TextSplitOptions,
): TextSplit[] {
  const files = splitAtCommas(path).flatMap(listFiles);
  files.sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
  const total = files.reduce((sum, file) => sum + file.size, 0);
  const minPartitions = Math.max(1, Math.floor(options.minPartitions));
  const splitSize = Math.max(
    1,
    Math.min(
      Math.floor(total / minPartitions),
      options.splitSize ?? DEFAULT_SPLIT_SIZE,
    ),
  );
  const splits: TextSplit[] = [];
  for (const file of files) {
    if (file.size > 0) pushSplits(splits, file, splitSize, path);
  }
  return splits;
}

interface InputFile {
  path: string;
  size: number;
}

function pushSplits(
  splits: TextSplit[],
  file: InputFile,
  splitSize: number,
  input: string,
): void {
  const compressed = file.path.endsWith(".gz");
  if (splits.length + (compressed ? 1 : file.size / splitSize) > MAX_SPLITS) {
    throw new InputPathError(
      `Cannot split the input "${input}" into more than ${MAX_SPLITS} parts of ${splitSize} bytes: ` +
        `ask for fewer partitions`,
    );
  }
  let start = 0;
  if (!compressed) {
    while ((file.size - start) / splitSize > SPLIT_SLOP) {
      splits.push({ path: file.path, start, length: splitSize, compressed });
      start += splitSize;
    }
  }
  if (start < file.size) {
    splits.push({
      path: file.path,
      start,
      length: file.size - start,
      compressed,
    });
  }
}

function listFiles(part: string): InputFile[] {
  if (part === "") {
    throw new InputPathError(
      `Cannot read an empty input path: a comma separates paths, "\\," is a comma in a name`,
    );
  }
  const pattern = withoutScheme(part);
  const absolute = pattern.startsWith("/")
    ? pattern
    : `${Deno.cwd().replace(/[\\*?[\]{},]/g, "\\$&")}/${pattern}`;
  try {
    if (!isGlob(pattern)) return filesAt(resolve(unescapeGlob(absolute)));
    const paths = globPaths(absolute);
    if (paths.length === 0) {
      throw new InputPathNotFoundError(
        `Input Pattern ${pattern} matches 0 files`,
      );
    }
    return paths.flatMap(filesAt);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) {
      throw new InputPathError(
        `Cannot read the input path ${pattern}: permission denied`,
        { cause: error },
      );
    }
    throw error;
  }
}

function filesAt(path: string): InputFile[] {
  const info = statInput(path);
  if (!info.isDirectory) return [inputFile(path, info)];
  const files: InputFile[] = [];
  for (const entry of Deno.readDirSync(path)) {
    if (entry.name.startsWith("_") || entry.name.startsWith(".")) continue;
    const child = path === "/" ? `/${entry.name}` : `${path}/${entry.name}`;
    const childInfo = statInput(child);
    if (!childInfo.isDirectory) files.push(inputFile(child, childInfo));
  }
  return files;
}

function statInput(path: string): Deno.FileInfo {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    throw new InputPathNotFoundError(`Input path does not exist: ${path}`, {
      cause: error,
    });
  }
}

function inputFile(path: string, info: Deno.FileInfo): InputFile {
  if (!info.isFile) {
    throw new InputPathError(
      `Cannot read the input path ${path}: it is neither a file nor a directory`,
    );
  }
  const suffix = UNSUPPORTED_SUFFIXES.find((suffix) => path.endsWith(suffix));
  if (suffix !== undefined) {
    throw new InputPathError(
      `Cannot read the input path ${path}: of compressed files only .gz is supported, not ${suffix}`,
    );
  }
  return { path, size: info.size };
}

/**
 * The path of a `file:` URL, with its percent escapes undone; any other text without a scheme is a
 * path as it stands.
 */
function withoutScheme(text: string): string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\//.exec(text)?.[1];
  if (scheme === undefined) return text;
  const path = /^file:(?:\/\/(?:localhost)?)?(\/(?!\/).*)$/is.exec(text)?.[1];
  if (path === undefined) {
    throw new InputPathError(
      scheme.toLowerCase() === "file"
        ? `Cannot read the input path ${text}: a file URL must name a path of this host, as in file:///dir/file`
        : `No FileSystem for scheme "${scheme}": cannot read the input path ${text}`,
    );
  }
  // An escaped wildcard is a character of the name.
  const escaped = path.replace(
    /%(?:2A|2C|3F|5B|5C|5D|7B|7D)/gi,
    (code) => `\\${decodeURIComponent(code)}`,
  );
  try {
    return decodeURIComponent(escaped);
  } catch (error) {
    throw new InputPathError(
      `Cannot read the input path ${text}: its percent escapes are not UTF-8 (a % of the name is written %25)`,
      { cause: error },
    );
  }
}
