import {
  type Bytes,
  type ByteUnit,
  InvalidSettingError,
  type Megabytes,
  type Milliseconds,
  parseBytes,
  parseTime,
  type TimeUnit,
  toMegabytes,
} from "./units.ts";

/**
 * One `spark.*` setting: how its text is read, what it is when unset, and what
 * a reader of `--help` or the documentation needs to know.
 *
 * A setting with no default has `defaultText: undefined`; reading it yields
 * `undefined` until it is set.
 */
export interface Setting<T> {
  readonly key: string;
  readonly doc: string;
  /** The Spark release that introduced it, or `sparkts` for our own. */
  readonly since: string;
  readonly type: string;
  readonly defaultText: string | undefined;
  /** Earlier names that are still read, newest first. */
  readonly alternatives: readonly string[];
  /** @throws {InvalidSettingError} when the text doesn't fit the type. */
  readonly parse: (text: string) => T;
}

interface Description {
  readonly doc: string;
  readonly since: string;
  readonly alternatives?: readonly string[];
}

interface WithDefault extends Description {
  readonly default: string;
}

interface WithoutDefault extends Description {
  readonly default?: undefined;
}

/** What the makers below take: with a default the value is never undefined. */
type Maker<T> = {
  (key: string, description: WithDefault): Setting<T>;
  (key: string, description: WithoutDefault): Setting<T | undefined>;
};

function maker<T>(type: string, parse: (text: string) => T): Maker<T> {
  function make(key: string, description: WithDefault): Setting<T>;
  function make(
    key: string,
    description: WithoutDefault,
  ): Setting<T | undefined>;
  function make(
    key: string,
    description: WithDefault | WithoutDefault,
  ): Setting<T | undefined> {
    return {
      key,
      type,
      doc: description.doc,
      since: description.since,
      defaultText: description.default,
      alternatives: description.alternatives ?? [],
      parse,
    };
  }
  return make;
}

export const stringSetting: Maker<string> = maker("string", (text) => text);

export const intSetting: Maker<number> = maker("int", parseInteger);

export const doubleSetting: Maker<number> = maker("double", (text) => {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) {
    throw new InvalidSettingError(`"${text}" is not a number`);
  }
  return value;
});

export const booleanSetting: Maker<boolean> = maker("boolean", (text) => {
  const value = text.trim().toLowerCase();
  if (value !== "true" && value !== "false") {
    throw new InvalidSettingError(`"${text}" is neither true nor false`);
  }
  return value === "true";
});

/** A list with commas between; blanks around and empty items are dropped. */
export const listSetting: Maker<readonly string[]> = maker(
  "list",
  (text) => text.split(",").map((item) => item.trim()).filter(Boolean),
);

const timeIn = (unit: TimeUnit): Maker<Milliseconds> =>
  maker(`time (${unit})`, (text) => parseTime(text, unit));

/** A time; a bare number is in milliseconds. */
export const millisecondsSetting: Maker<Milliseconds> = timeIn("ms");
/** A time; a bare number is in seconds. */
export const secondsSetting: Maker<Milliseconds> = timeIn("s");

/** A count of seconds with no unit, as a few of Spark's older settings are. */
export const plainSecondsSetting: Maker<Milliseconds> = maker(
  "seconds",
  (text) => parseInteger(text) * 1_000,
);

const bytesIn = (unit: ByteUnit): Maker<Bytes> =>
  maker(`size (${unit})`, (text) => parseBytes(text, unit));

/** A size; a bare number is in bytes. */
export const bytesSetting: Maker<Bytes> = bytesIn("b");
/** A size in bytes; a bare number is in MiB. */
export const mebibytesAsBytesSetting: Maker<Bytes> = bytesIn("m");

/** Memory in whole MiB; a bare number is in MiB. */
export const megabytesSetting: Maker<Megabytes> = maker(
  "size (m)",
  (text) => toMegabytes(parseBytes(text, "m")),
);

/** One of a few words, whatever the case; read as written in `words`. */
export function wordSetting<W extends string>(
  key: string,
  words: readonly W[],
  description: WithDefault & { readonly default: W },
): Setting<W> {
  return {
    key,
    type: words.join(" | "),
    doc: description.doc,
    since: description.since,
    defaultText: description.default,
    alternatives: description.alternatives ?? [],
    parse(text) {
      const found = words.find((word) =>
        word.toLowerCase() === text.trim().toLowerCase()
      );
      if (found === undefined) {
        throw new InvalidSettingError(
          `"${text}" is not one of ${words.join(", ")}`,
        );
      }
      return found;
    },
  };
}

function parseInteger(text: string): number {
  const value = Number(text);
  if (!/^\s*[-+]?\d+\s*$/.test(text) || !Number.isSafeInteger(value)) {
    throw new InvalidSettingError(`"${text}" is not a whole number`);
  }
  return value;
}
