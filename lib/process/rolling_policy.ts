/**
 * When a log file is put aside for a new one, and what it is called then
 * (Spark: `RollingPolicy`).
 *
 * @module
 */
import type { Bytes, Milliseconds } from "../conf/units.ts";
import { getLogger, type Logger } from "../log.ts";

/** Decides when to roll; pure but for its own counters. */
export interface RollingPolicy {
  readonly kind: "time" | "size";
  /** Whether to roll before so many more bytes are written at `now`. */
  shouldRoll(bytes: Bytes, now: Milliseconds): boolean;
  /** The file was rolled at `now`. */
  rolled(now: Milliseconds): void;
  /** So many bytes were written. */
  written(bytes: Bytes): void;
  /** What is added to the name of a file that is rolled at `now`. */
  suffix(now: Milliseconds): string;
}

/** The parts of the local time that a suffix ends with. */
type Precision = "day" | "hour" | "minute" | "second" | "millisecond";

const MINIMUM_INTERVAL: Milliseconds = 60_000;
const MINIMUM_SIZE: Bytes = 81_920;

const DAY: Milliseconds = 86_400_000;
const HOUR: Milliseconds = 3_600_000;
const MINUTE: Milliseconds = 60_000;

export interface RollingPolicyOptions {
  /** Raise an interval or size below the minimum. Default: true. */
  readonly enforceMinimum?: boolean;
  readonly log?: Logger;
}

/** Rolls at each multiple of an interval since the epoch. */
export class TimeBasedRollingPolicy implements RollingPolicy {
  readonly kind = "time";
  readonly interval: Milliseconds;
  readonly #precision: Precision;
  #next: Milliseconds;

  constructor(
    interval: Milliseconds,
    precision: "day" | "hour" | "minute" | "second",
    now: Milliseconds,
    { enforceMinimum = true, log = getLogger("RollingPolicy") }:
      RollingPolicyOptions = {},
  ) {
    this.interval = enforceMinimum
      ? raise(interval, MINIMUM_INTERVAL, "interval", "ms", log)
      : interval;
    this.#precision = precision;
    this.#next = this.#boundaryAfter(now);
  }

  shouldRoll(_bytes: Bytes, now: Milliseconds): boolean {
    return now > this.#next;
  }

  rolled(now: Milliseconds): void {
    this.#next = this.#boundaryAfter(now);
  }

  written(_bytes: Bytes): void {}

  suffix(now: Milliseconds): string {
    return formatSuffix(now, this.#precision);
  }

  #boundaryAfter(now: Milliseconds): Milliseconds {
    return Math.ceil(now / this.interval) * this.interval;
  }
}

/** Rolls before a file would grow past a size. */
export class SizeBasedRollingPolicy implements RollingPolicy {
  readonly kind = "size";
  readonly maxSize: Bytes;
  #size: Bytes;

  /** @param size What the file holds already. */
  constructor(
    maxSize: Bytes,
    size: Bytes = 0,
    { enforceMinimum = true, log = getLogger("RollingPolicy") }:
      RollingPolicyOptions = {},
  ) {
    this.maxSize = enforceMinimum
      ? raise(maxSize, MINIMUM_SIZE, "size", "bytes", log)
      : maxSize;
    this.#size = size;
  }

  shouldRoll(bytes: Bytes, _now: Milliseconds): boolean {
    // An empty file is never rolled: it would only leave empty files behind.
    return this.#size > 0 && this.#size + bytes > this.maxSize;
  }

  rolled(_now: Milliseconds): void {
    this.#size = 0;
  }

  written(bytes: Bytes): void {
    this.#size += bytes;
  }

  suffix(now: Milliseconds): string {
    return formatSuffix(now, "millisecond");
  }
}

/**
 * Reads an interval of `spark.executor.logs.rolling.time.interval`: daily,
 * hourly, minutely, or a number of seconds.
 *
 * @returns `undefined` when it is none of them.
 */
export function parseRollingInterval(
  text: string,
):
  | {
    interval: Milliseconds;
    precision: "day" | "hour" | "minute" | "second";
  }
  | undefined {
  switch (text.trim().toLowerCase()) {
    case "daily":
      return { interval: DAY, precision: "day" };
    case "hourly":
      return { interval: HOUR, precision: "hour" };
    case "minutely":
      return { interval: MINUTE, precision: "minute" };
  }
  const seconds = parseCount(text);
  return seconds === undefined
    ? undefined
    : { interval: seconds * 1_000, precision: "second" };
}

/**
 * Reads a size of `spark.executor.logs.rolling.maxSize`: bytes, with no unit.
 *
 * @returns `undefined` when it isn't such a number.
 */
export function parseRollingSize(text: string): Bytes | undefined {
  return parseCount(text);
}

function parseCount(text: string): number | undefined {
  const value = Number(text);
  return /^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)
    ? value
    : undefined;
}

function raise(
  value: number,
  minimum: number,
  what: string,
  unit: string,
  log: Logger,
): number {
  if (value >= minimum) return value;
  log.warn(
    `The rolling ${what} of ${value} ${unit} is too small: ${minimum} ${unit} is used`,
  );
  return minimum;
}

/** `--yyyy-MM-dd[--HH[-mm[-ss[--SSSS]]]]` in local time. */
function formatSuffix(now: Milliseconds, precision: Precision): string {
  const time = new Date(now);
  const pad = (value: number, width = 2) => String(value).padStart(width, "0");
  const day = `--${pad(time.getFullYear(), 4)}-${pad(time.getMonth() + 1)}-${
    pad(time.getDate())
  }`;
  if (precision === "day") return day;
  const hour = `${day}--${pad(time.getHours())}`;
  if (precision === "hour") return hour;
  const minute = `${hour}-${pad(time.getMinutes())}`;
  if (precision === "minute") return minute;
  const second = `${minute}-${pad(time.getSeconds())}`;
  if (precision === "second") return second;
  return `${second}--${pad(time.getMilliseconds(), 4)}`;
}
