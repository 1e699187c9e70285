import { writeLogLine } from "../lib/log.ts";
import { Exit } from "./run.ts";
import { VERSION } from "./version.ts";

const USAGE = [
  "Usage: sparkts COMMAND [options]",
  "",
  "A Spark standalone cluster in one executable.",
  "",
  "Commands:",
  "  master     Run the master of a cluster",
  "  worker     Offer this host's cores and memory to a cluster",
  "  submit     Run an application",
  "  executor   Run an application's tasks (started by workers)",
  "",
  "sparkts COMMAND --help tells more. Options:",
  "  --version  Show the version",
  "  --help     Show this text",
].join("\n");

/** Runs what the command line asks for. @returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  // Each subcommand is loaded by itself: a daemon starts faster without the
  // driver's code, and is smaller.
  switch (command) {
    case "master":
      return await (await import("./master.ts")).master(rest);
    case "worker":
      return await (await import("./worker.ts")).worker(rest);
    case "executor":
      return await (await import("./executor.ts")).executor(rest);
    case "submit":
      return await (await import("./submit.ts")).submit(rest);
    case "--version":
      console.log(`sparkts ${VERSION}`);
      return Exit.Done;
    case "--help":
    case "help":
      console.log(USAGE);
      return Exit.Done;
  }
  writeLogLine(
    command === undefined
      ? "sparkts: no command is given"
      : `sparkts: there is no command "${command}"`,
  );
  writeLogLine("Usage: sparkts master|worker|submit|executor [options]");
  return Exit.Usage;
}
