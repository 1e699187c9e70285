import type { Megabytes, Milliseconds } from "../conf/units.ts";
import { EXIT_WITH_PARENT } from "../process/parent_watch.ts";
import { selfCommand } from "../process/self.ts";
import { type ManagedProcess, spawnProcess } from "../process/spawn.ts";

/** A daemon of the local cluster has the time of its executors, and some. */
const GRACE: Milliseconds = 15_000;
const HOST = "127.0.0.1";

export interface LocalClusterOptions {
  readonly workers: number;
  readonly coresPerWorker: number;
  readonly memoryPerWorker: Megabytes;
  /** Flags for every daemon, such as `--conf k=v`. */
  readonly flags: readonly string[];
}

/** A cluster of real processes on this host, for one application. */
export interface LocalCluster {
  readonly masterUrl: string;
  /** Ends all processes and removes their directory. */
  stop(): Promise<void>;
}

/** The cluster's processes did not come up. */
export class LocalClusterError extends Error {
  override name = "LocalClusterError";
}

/**
 * Starts a master and workers. They end with this process, however it ends.
 *
 * @throws {LocalClusterError} when one of them ends right away.
 */
export async function startLocalCluster(
  options: LocalClusterOptions,
): Promise<LocalCluster> {
  const directory = await Deno.makeTempDir({ prefix: "sparkts-cluster-" });
  const processes: ManagedProcess[] = [];
  const stop = async () => {
    const [master, ...workers] = processes;
    // The workers first: they would complain of a master that is gone.
    await Promise.all(workers.map((each) => each.terminate({ grace: GRACE })));
    await master?.terminate({ grace: GRACE });
    await Deno.remove(directory, { recursive: true });
  };
  const start = async (args: string[]): Promise<string> => {
    const daemon = startDaemon([...args, ...options.flags], directory);
    processes.push(daemon);
    return await firstLine(daemon, args[0]);
  };
  try {
    const masterUrl = await start(["master", "--host", HOST, "--port", "0"]);
    await Promise.all(
      Array.from({ length: options.workers }, (_, i) =>
        start([
          "worker",
          "--master",
          masterUrl,
          "--host",
          HOST,
          "--cores",
          String(options.coresPerWorker),
          "--memory",
          `${options.memoryPerWorker}m`,
          "--work-dir",
          `${directory}/worker-${i}`,
        ])),
    );
    return { masterUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startDaemon(args: string[], cwd: string): ManagedProcess {
  const { command, args: all } = selfCommand(args);
  return spawnProcess({
    command,
    args: all,
    cwd,
    env: { [EXIT_WITH_PARENT]: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  });
}

/** A daemon's URL, which it writes when it listens. */
async function firstLine(
  daemon: ManagedProcess,
  name: string,
): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = daemon.stdout!.getReader();
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) {
      const { code } = await daemon.status;
      throw new LocalClusterError(
        `The ${name} of the local cluster ended with exit code ${code} before it was up.`,
      );
    }
    text += decoder.decode(value, { stream: true });
  }
  // It writes nothing more; what it would is not to block it.
  reader.cancel().catch(() => {});
  return text.slice(0, text.indexOf("\n"));
}
