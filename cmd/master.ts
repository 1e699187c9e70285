import { startMaster } from "../lib/master/mod.ts";
import { localHostname } from "../lib/process/local_host.ts";
import { watchParent } from "../lib/process/parent_watch.ts";
import { onShutdownSignal } from "../lib/process/signals.ts";
import {
  type Command,
  CONF,
  HELP,
  PROPERTIES_FILE,
  UsageError,
  VERBOSE,
  wholeNumber,
} from "./flags.ts";
import { readConf, runCommand } from "./run.ts";

const DEFAULT_PORT = 7077;

const COMMAND: Command = {
  synopsis: "master [options]",
  summary: [
    "Runs the master of a cluster until it is told to end. When it listens, it",
    "writes its URL to stdout: that is what workers and applications are given.",
  ].join("\n"),
  flags: [
    {
      name: "host",
      short: "h",
      value: "HOST",
      doc: "The name or address to be reached at (SPARK_MASTER_HOST).",
    },
    {
      name: "port",
      short: "p",
      value: "PORT",
      doc: `The port; 0 takes a free one (SPARK_MASTER_PORT, ${DEFAULT_PORT}).`,
    },
    PROPERTIES_FILE,
    CONF,
    VERBOSE,
    HELP,
  ],
};

export function master(args: readonly string[]): Promise<number> {
  return runCommand(COMMAND, args, async (flags) => {
    if (flags.arguments.length > 0) {
      throw new UsageError(`Unexpected argument: ${flags.arguments[0]}`);
    }
    const conf = readConf(flags, "INFO");
    const started = await startMaster({
      host: flags.text("host") ?? Deno.env.get("SPARK_MASTER_HOST") ??
        localHostname(),
      port: wholeNumber(flags, "port", { max: 65_535 }) ??
        portFromEnvironment("SPARK_MASTER_PORT") ?? DEFAULT_PORT,
      conf,
    });
    console.log(started.url);
    const close = () => void started.close();
    onShutdownSignal(close);
    watchParent(close);
    return await started.closed;
  });
}

/** @throws {UsageError} when the variable holds no port. */
export function portFromEnvironment(name: string): number | undefined {
  const text = Deno.env.get(name);
  if (text === undefined || text === "") return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new UsageError(`${name} is no port: "${text}"`);
  }
  return port;
}
