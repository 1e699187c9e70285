/**
 * From the command that an application asked for to the one that is started.
 *
 * @module
 */
import type { SparkConf } from "../conf/spark_conf.ts";
import type { Megabytes } from "../conf/units.ts";
import type { Command } from "../messages/deploy.ts";
import { selfCommand } from "../process/self.ts";

/** What stands for `{{NAME}}` in a command. */
export type CommandVariables = Readonly<
  Record<
    | "WORKER_URL"
    | "EXECUTOR_ID"
    | "HOSTNAME"
    | "CORES"
    | "APP_ID"
    | "RESOURCE_PROFILE_ID"
    | "USER",
    string
  >
>;

export interface CommandRequest {
  readonly command: Command;
  readonly variables: CommandVariables;
  readonly memory: Megabytes;
  /** The directory that the process runs in, for files that it needs. */
  readonly directory: string;
  /** The worker's own settings. */
  readonly conf: SparkConf;
}

/** A command line that can be started. */
export interface BuiltCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables beside those that every command gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it watches its parent; see lib/process/parent_watch.ts. */
  readonly exitsWithParent: boolean;
}

/** Builds the command line for one kind of command. */
export interface CommandBuilder {
  /** @throws {Error} saying why it can't be started here. */
  build(request: CommandRequest): BuiltCommand | Promise<BuiltCommand>;
}

/** Who builds which kind of command. */
export type CommandBuilders = Readonly<Record<Command["kind"], CommandBuilder>>;

/** Starts this program anew as an executor. */
export const sparktsCommandBuilder: CommandBuilder = {
  build({ command, variables }) {
    const args = command.arguments.map((argument) =>
      substitute(argument, variables)
    );
    return { ...selfCommand(["executor", ...args]), exitsWithParent: true };
  },
};

/** Replaces an argument that as a whole is `{{NAME}}`; others stay. */
export function substitute(
  argument: string,
  variables: CommandVariables,
): string {
  const name = /^\{\{(\w+)\}\}$/.exec(argument)?.[1];
  return name !== undefined && Object.hasOwn(variables, name)
    ? variables[name as keyof CommandVariables]
    : argument;
}

/**
 * The variables that any command gets beside the worker's own: those that the
 * application asked for, its library path before what was there, and the
 * secret when authentication is on (Spark: `CommandUtils`).
 *
 * @param own Looks up the worker's own variables.
 */
export function commandEnvironment(
  command: Command,
  conf: SparkConf,
  own: (name: string) => string | undefined,
): Record<string, string> {
  const env: Record<string, string> = { ...command.environment };
  if (command.libraryPathEntries.length > 0) {
    const name = Deno.build.os === "darwin"
      ? "DYLD_LIBRARY_PATH"
      : "LD_LIBRARY_PATH";
    env[name] = [...command.libraryPathEntries, env[name], own(name)]
      .filter(Boolean).join(":");
  }
  const secret = conf.getText("spark.authenticate.secret");
  delete env[AUTH_SECRET];
  if (isTrue(conf.getText("spark.authenticate")) && secret !== undefined) {
    env[AUTH_SECRET] = secret;
  }
  return env;
}

/** How Spark hands the secret to an executor (`SecurityManager`). */
const AUTH_SECRET = "_SPARK_AUTH_SECRET";

const REDACTED = "*********(redacted)";
const DEFAULT_REDACTION = "(?i)secret|password|token|access[.]?key";

/**
 * A command line to be shown: each argument in double quotes, and the value of
 * a `key=value` whose key matches `spark.redaction.regex` made unreadable.
 */
export function formatCommand(
  { command, args }: Pick<BuiltCommand, "command" | "args">,
  conf: SparkConf,
): string {
  const secretKey = toRegExp(
    conf.getText("spark.redaction.regex") ?? DEFAULT_REDACTION,
  );
  const shown = args.map((argument) => {
    const pair = /^(-D)?([^=\s]+)=(.+)$/s.exec(argument);
    return pair && secretKey.test(pair[2])
      ? `${pair[1] ?? ""}${pair[2]}=${REDACTED}`
      : argument;
  });
  return [command, ...shown].map((part) => `"${part}"`).join(" ");
}

/** Java writes "whatever the case" as `(?i)` at the beginning. */
function toRegExp(pattern: string): RegExp {
  return pattern.startsWith("(?i)")
    ? new RegExp(pattern.slice("(?i)".length), "i")
    : new RegExp(pattern);
}

function isTrue(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === "true";
}
