import { LOG_LEVEL } from "../lib/conf/settings.ts";
import { SparkConf } from "../lib/conf/spark_conf.ts";
import { parseProperties } from "../lib/conf/properties_file.ts";
import { InvalidSettingError } from "../lib/conf/units.ts";
import {
  describeError,
  type LogLevel,
  setLogLevel,
  writeLogLine,
} from "../lib/log.ts";
import { InvalidAddressError } from "../lib/messages/addresses.ts";
import {
  type Command,
  type ParsedFlags,
  parseFlags,
  UsageError,
  usageOf,
} from "./flags.ts";

/** Exit codes of the command line; 130 is what a shell makes of SIGINT. */
export const Exit = { Done: 0, Failed: 1, Usage: 2, Interrupted: 130 } as const;

/** What was asked for can't be done; the message is all there is to say. */
export class CommandError extends Error {
  override name = "CommandError";
}

/**
 * Parses the command line and runs a subcommand. What it throws becomes one
 * line on stderr and an exit code; the stack is shown with `--verbose` only.
 */
export async function runCommand(
  command: Command,
  args: readonly string[],
  run: (flags: ParsedFlags) => Promise<number>,
): Promise<number> {
  let flags: ParsedFlags | undefined;
  try {
    flags = parseFlags(command, args);
    if (flags.isOn("help")) {
      console.log(usageOf(command));
      return Exit.Done;
    }
    return await run(flags);
  } catch (error) {
    return explain(command, error, flags?.isOn("verbose") ?? false);
  }
}

function explain(command: Command, error: unknown, verbose: boolean): number {
  const usage = error instanceof UsageError ||
    error instanceof InvalidAddressError ||
    error instanceof InvalidSettingError;
  writeLogLine(`sparkts: ${messageOf(error)}`);
  if (verbose && error instanceof Error) writeLogLine(error.stack ?? "");
  if (!usage) return Exit.Failed;
  writeLogLine(`Usage: sparkts ${command.synopsis}`);
  return Exit.Usage;
}

function messageOf(error: unknown): string {
  return error instanceof CommandError ? error.message : describeError(error);
}

/**
 * The settings of a command: `--conf` before the properties file. Flags of the
 * command's own are set over them by the caller.
 *
 * @throws {UsageError} for a `--conf` without `=`.
 * @throws {CommandError} when the file can't be read.
 */
export function readConf(
  flags: ParsedFlags,
  defaultLogLevel: LogLevel,
): SparkConf {
  const conf = new SparkConf();
  const file = flags.text("properties-file");
  if (file !== undefined) {
    for (const [key, value] of parseProperties(readFile(file))) {
      conf.set(key, value);
    }
  }
  for (const pair of flags.all("conf")) {
    const at = pair.indexOf("=");
    if (at <= 0) throw new UsageError(`--conf needs KEY=VALUE: "${pair}"`);
    conf.set(pair.slice(0, at), pair.slice(at + 1));
  }
  conf.setIfMissing(
    LOG_LEVEL.key,
    flags.isOn("verbose") ? "INFO" : defaultLogLevel,
  );
  setLogLevel(conf.get(LOG_LEVEL));
  return conf;
}

function readFile(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (cause) {
    throw new CommandError(
      `Cannot read the properties file ${path}: ${describeError(cause)}`,
      { cause },
    );
  }
}
