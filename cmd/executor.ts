import {
  EXECUTOR_USAGE,
  ExecutorUsageError,
  ExitCode,
  parseExecutorArguments,
  startExecutor,
} from "../lib/executor/mod.ts";
import { getLogger, writeLogLine } from "../lib/log.ts";
import { localHostname } from "../lib/process/local_host.ts";
import { LocalDirsError } from "../lib/process/local_dirs.ts";
import { watchParent } from "../lib/process/parent_watch.ts";
import { onShutdownSignal } from "../lib/process/signals.ts";

const log = getLogger("Executor");

/** What a shell makes of SIGTERM, and what Spark's executors exit with. */
const TERMINATED = 143;

/**
 * The process that a worker starts. Its usage and exit codes are Spark's, so
 * it keeps out of what the other subcommands share.
 */
export async function executor(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    console.log(EXECUTOR_USAGE);
    return ExitCode.Done;
  }
  watchParent(() => Deno.exit(ExitCode.Failed));
  try {
    const parsed = parseExecutorArguments(args, () => {
      const host = localHostname();
      log.info(
        `Executor hostname is not provided, will use '${host}' to advertise itself`,
      );
      return host;
    });
    const running = await startExecutor(parsed);
    let terminated = false;
    onShutdownSignal(() => {
      terminated = true;
      running.stop();
    });
    const code = await running.closed;
    return terminated ? TERMINATED : code;
  } catch (error) {
    if (error instanceof ExecutorUsageError) {
      writeLogLine(error.message);
      for (const line of EXECUTOR_USAGE.split("\n")) writeLogLine(line);
      return ExitCode.Failed;
    }
    log.error("The executor cannot start", error);
    return error instanceof LocalDirsError
      ? ExitCode.NoLocalDirectory
      : ExitCode.Failed;
  }
}
