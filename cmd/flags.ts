import { parseArgs } from "@std/cli/parse-args";

/** One flag of a subcommand: what it is called, and what the usage says. */
export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** What its value is called; a flag without one is on or off. */
  readonly value?: string;
  readonly repeats?: boolean;
  readonly doc: string;
}

/** A subcommand, as its usage text shows it. */
export interface Command {
  /** `worker --master URL [options]`. */
  readonly synopsis: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** What follows the first argument that is no flag is left alone. */
  readonly stopEarly?: boolean;
}

/** The command line is wrong; the process ends with 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

export interface ParsedFlags {
  readonly arguments: readonly string[];
  text(name: string): string | undefined;
  all(name: string): readonly string[];
  isOn(name: string): boolean;
}

/** @throws {UsageError} for an unknown flag, or one without its value. */
export function parseFlags(
  command: Command,
  args: readonly string[],
): ParsedFlags {
  const withValue = command.flags.filter((flag) => flag.value !== undefined);
  const unknown: string[] = [];
  const parsed = parseArgs([...args], {
    string: withValue.map(({ name }) => name),
    boolean: command.flags.filter((flag) => flag.value === undefined)
      .map(({ name }) => name),
    collect: withValue.map(({ name }) => name),
    alias: Object.fromEntries(
      command.flags.flatMap(({ short, name }) => short ? [[short, name]] : []),
    ),
    stopEarly: command.stopEarly ?? false,
    "--": true,
    unknown: (arg: string, key?: string) => {
      if (key !== undefined) unknown.push(arg);
      return key === undefined;
    },
  }) as Record<string, unknown>;
  if (unknown.length > 0) {
    throw new UsageError(`Unrecognized option: ${unknown[0]}`);
  }
  const values = new Map<string, readonly string[]>();
  for (const flag of withValue) {
    const given = (parsed[flag.name] ?? []) as string[];
    if (given.some((text) => text === "")) {
      throw new UsageError(`--${flag.name} needs a value: ${flag.value}`);
    }
    if (given.length > 1 && !flag.repeats) {
      throw new UsageError(`--${flag.name} is given more than once`);
    }
    values.set(flag.name, given);
  }
  return {
    arguments: [
      ...(parsed._ as unknown[]).map(String),
      ...(parsed["--"] ?? []) as string[],
    ],
    text: (name) => values.get(name)?.[0],
    all: (name) => values.get(name) ?? [],
    isOn: (name) => parsed[name] === true,
  };
}

/** The text of `--help`. */
export function usageOf(command: Command): string {
  const rows = command.flags.map(({ name, short, value, doc }) =>
    [
      `  ${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`,
      doc,
    ] as const
  );
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return [
    `Usage: sparkts ${command.synopsis}`,
    "",
    command.summary,
    "",
    "Options:",
    ...rows.map(([left, doc]) => left.padEnd(width) + doc),
  ].join("\n");
}

/** A whole number in a flag. @throws {UsageError} when it is none. */
export function wholeNumber(
  flags: ParsedFlags,
  name: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } =
    {},
): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new UsageError(
      `--${name} must be a whole number from ${min} ${
        max === Number.MAX_SAFE_INTEGER ? "on" : `to ${max}`
      }, and is "${text}"`,
    );
  }
  return value;
}

export const HELP: Flag = {
  name: "help",
  doc: "Show this text.",
};

export const CONF: Flag = {
  name: "conf",
  value: "KEY=VALUE",
  repeats: true,
  doc: "A setting, spark.*; may be given again.",
};

export const PROPERTIES_FILE: Flag = {
  name: "properties-file",
  value: "FILE",
  doc: "A file of settings, a key and a value a line.",
};

export const VERBOSE: Flag = {
  name: "verbose",
  doc: "Log more, and show the stack of errors.",
};
