/** A span of time in milliseconds. */
export type Milliseconds = number;
/** An amount of memory in MiB, as Spark counts executor and worker memory. */
export type Megabytes = number;
/** An amount of bytes. */
export type Bytes = number;

/** A setting or flag holds text that its type does not take. */
export class InvalidSettingError extends Error {
  override name = "InvalidSettingError";
}

const TIME_UNITS: Record<string, Milliseconds> = {
  us: 0.001,
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const BYTE_UNITS: Record<string, Bytes> = {
  b: 1,
  k: 2 ** 10,
  kb: 2 ** 10,
  m: 2 ** 20,
  mb: 2 ** 20,
  g: 2 ** 30,
  gb: 2 ** 30,
  t: 2 ** 40,
  tb: 2 ** 40,
  p: 2 ** 50,
  pb: 2 ** 50,
};

export type TimeUnit = "ms" | "s";
export type ByteUnit = "b" | "k" | "m";

/**
 * Reads a time such as `10s`, `500ms`, `2m`; a bare number is in `unit`.
 * The forms are those of Spark's `JavaUtils.timeStringAs`.
 *
 * @throws {InvalidSettingError} when the text is not a time.
 */
export function parseTime(text: string, unit: TimeUnit): Milliseconds {
  return scaled(text, TIME_UNITS, unit) ?? refuse(
    `"${text}" is not a time: give a whole number with us, ms, s, m, h or d`,
  );
}

/**
 * Reads a size such as `512m`, `1g`, `64k`; a bare number is in `unit`.
 * The forms are those of Spark's `JavaUtils.byteStringAs`: whole numbers only.
 *
 * @throws {InvalidSettingError} when the text is not a size.
 */
export function parseBytes(text: string, unit: ByteUnit): Bytes {
  return scaled(text, BYTE_UNITS, unit) ?? refuse(
    `"${text}" is not a size: give a whole number with b, k, m, g, t or p`,
  );
}

function scaled(
  text: string,
  units: Record<string, number>,
  defaultUnit: string,
): number | undefined {
  const match = /^(-?\d+)([a-z]*)$/.exec(text.trim().toLowerCase());
  const unit = match?.[2] || defaultUnit;
  return match && Object.hasOwn(units, unit)
    ? Number(match[1]) * units[unit]
    : undefined;
}

function refuse(reason: string): never {
  throw new InvalidSettingError(reason);
}

/** Whole MiB in a size; what is left over is dropped, as Spark does. */
export function toMegabytes(bytes: Bytes): Megabytes {
  return Math.floor(bytes / 2 ** 20);
}

/** A size for people: `512 MiB`, `1.5 GiB`. */
export function formatMegabytes(megabytes: Megabytes): string {
  return megabytes >= 1024
    ? `${(megabytes / 1024).toFixed(1)} GiB`
    : `${megabytes} MiB`;
}
