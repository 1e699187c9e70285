import { delimiter, join } from "node:path";
import { UI_REVERSE_PROXY } from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import type { Milliseconds } from "../conf/units.ts";
import { describeError, getLogger, type Logger } from "../log.ts";
import { formatEndpointUri } from "../messages/addresses.ts";
import type { ExecutorState } from "../messages/states.ts";
import { settlesWithin } from "../process/delay.ts";
import {
  createFileAppender,
  type FileAppender,
} from "../process/file_appender.ts";
import { EXIT_WITH_PARENT } from "../process/parent_watch.ts";
import { type ManagedProcess, spawnProcess } from "../process/spawn.ts";
import {
  type BuiltCommand,
  type CommandBuilders,
  commandEnvironment,
  type CommandVariables,
  formatCommand,
} from "./command_builder.ts";
import { DEFAULT_COMMAND_BUILDERS } from "./command_builders.ts";
import {
  type ExecutorChanged,
  type ExecutorLaunchFailed,
  type ExecutorOrphaned,
  fullId,
  type KillExecutorEffect,
  type LaunchExecutorEffect,
} from "./events.ts";
import type { WorkerIdentity } from "./master_link.ts";

/** Where an executor lives on disk. */
export interface ExecutorDirs {
  /** Its working directory, which holds its log files. */
  readonly executorDir: string;
  /** For shuffle files and the like; shared by the application's executors. */
  readonly appLocalDirs: readonly string[];
}

export interface ExecutorRunnerOptions {
  readonly launch: LaunchExecutorEffect;
  readonly worker: Pick<WorkerIdentity, "id" | "self" | "webUiUrl">;
  readonly conf: SparkConf;
  /** Makes the directories; its failure is one of the launch. */
  readonly prepare: () => Promise<ExecutorDirs>;
  /** Takes what becomes of the executor. */
  readonly tell: (
    event: ExecutorChanged | ExecutorLaunchFailed | ExecutorOrphaned,
  ) => void;
  readonly builders?: CommandBuilders;
  /** Between SIGTERM and SIGKILL. Default: 10 s, as in Spark. */
  readonly terminateGrace?: Milliseconds;
  readonly log?: Logger;
}

const EXECUTOR_TERMINATE_TIMEOUT: Milliseconds = 10_000;
/** How long output that is still in the pipes may take to be written. */
const DRAIN_TIME: Milliseconds = 2_000;

/**
 * Runs one executor's process, from the making of its directories to the last
 * line of its log (Spark: `ExecutorRunner`).
 *
 * It tells RUNNING once the process is there, and exactly one final state once
 * the process and all that it started are gone. Or the launch failed, and that
 * is all it tells.
 */
export class ExecutorRunner {
  readonly #options: ExecutorRunnerOptions;
  readonly #log: Logger;
  readonly #killed = Promise.withResolvers<void>();
  #kill: KillExecutorEffect["reason"] | null = null;

  /** Settles, never with an error, once nothing of the executor runs. */
  readonly done: Promise<void>;

  /** Starts at once. */
  constructor(options: ExecutorRunnerOptions) {
    this.#options = options;
    this.#log = options.log ?? getLogger("ExecutorRunner");
    this.done = this.#run();
  }

  /**
   * Ends the executor, also one whose process isn't there yet. The first
   * reason counts.
   */
  kill(reason: KillExecutorEffect["reason"]): void {
    this.#kill ??= reason;
    this.#killed.resolve();
  }

  async #run(): Promise<void> {
    let dirs: ExecutorDirs;
    try {
      dirs = await this.#options.prepare();
    } catch (error) {
      const { appId, execId } = this.#options.launch;
      return this.#options.tell({
        type: "executorLaunchFailed",
        appId,
        execId,
        error: describeError(error),
      });
    }
    try {
      await this.#runProcess(dirs);
    } catch (error) {
      this.#log.error(`Error running executor ${this.#id}`, error);
      this.#tell("FAILED", `Error running executor: ${describeError(error)}`);
    }
  }

  async #runProcess(dirs: ExecutorDirs): Promise<void> {
    const built = await this.#buildCommand(dirs);
    const commandLine = formatCommand(built, this.#options.conf);
    await writeLogHeaders(dirs.executorDir, commandLine);
    if (this.#kill !== null) return this.#tellKilled(null);
    this.#log.info(`Launch command: ${commandLine}`);
    const child = spawnProcess({
      command: built.command,
      args: built.args,
      cwd: dirs.executorDir,
      env: this.#environment(dirs, built),
      stdin: built.exitsWithParent ? "piped" : "null",
      stdout: "piped",
      stderr: "piped",
    });
    let appenders: FileAppender[];
    try {
      appenders = this.#appendLogs(child, dirs.executorDir);
    } catch (error) {
      await child.terminate({ grace: 0 });
      throw error;
    }
    this.#tell("RUNNING", null, null, child.pid);
    await this.#supervise(child, appenders);
  }

  async #supervise(
    child: ManagedProcess,
    appenders: readonly FileAppender[],
  ): Promise<void> {
    await Promise.race([child.status, this.#killed.promise]);
    const killed = this.#kill !== null;
    if (killed) this.#log.info(`Killing the process of executor ${this.#id}`);
    // What an executor that ended by itself has left running goes at once.
    const grace = killed
      ? this.#options.terminateGrace ?? EXECUTOR_TERMINATE_TIMEOUT
      : 0;
    if (await child.terminate({ grace }) === "orphaned") {
      const { appId, execId } = this.#options.launch;
      this.#options.tell({ type: "executorOrphaned", appId, execId });
    }
    const { code } = await child.status;
    await drain(appenders);
    if (killed) return this.#tellKilled(code);
    this.#tell("EXITED", `Command exited with code ${code}`, code);
  }

  #tellKilled(exitStatus: number | null): void {
    if (this.#kill === "shutdown") {
      return this.#tell("FAILED", "Worker shutting down", exitStatus);
    }
    this.#tell(
      "KILLED",
      `Runner thread for executor ${this.#id} interrupted`,
      exitStatus,
    );
  }

  #tell(
    state: ExecutorState,
    message: string | null,
    exitStatus: number | null = null,
    pid: number | null = null,
  ): void {
    const { appId, execId } = this.#options.launch;
    this.#options.tell({
      type: "executorChanged",
      appId,
      execId,
      state,
      message,
      exitStatus,
      pid,
    });
  }

  #buildCommand(
    { executorDir }: ExecutorDirs,
  ): BuiltCommand | Promise<BuiltCommand> {
    const { launch, conf, builders = DEFAULT_COMMAND_BUILDERS } = this.#options;
    const { command } = launch.appDesc;
    return builders[command.kind].build({
      command,
      variables: this.#variables(),
      memory: launch.memory,
      directory: executorDir,
      conf,
    });
  }

  #variables(): CommandVariables {
    const { launch, worker: { self } } = this.#options;
    return {
      WORKER_URL: formatEndpointUri(self),
      EXECUTOR_ID: String(launch.execId),
      HOSTNAME: self.address.host,
      CORES: String(launch.cores),
      APP_ID: launch.appId,
      RESOURCE_PROFILE_ID: String(launch.resourceProfileId),
      USER: launch.appDesc.user,
    };
  }

  #environment(
    { appLocalDirs }: ExecutorDirs,
    built: BuiltCommand,
  ): Record<string, string> {
    const { launch: { appDesc: { command } }, conf } = this.#options;
    return {
      ...commandEnvironment(command, conf, (name) => Deno.env.get(name)),
      ...built.env,
      SPARK_EXECUTOR_DIRS: appLocalDirs.join(delimiter),
      SPARK_LAUNCH_WITH_SCALA: "0",
      ...this.#logUrls(),
      [EXIT_WITH_PARENT]: built.exitsWithParent ? "1" : "0",
    };
  }

  /** Where a page shows the log files; none when the worker has no pages. */
  #logUrls(): Record<string, string> {
    const { launch, worker, conf } = this.#options;
    if (worker.webUiUrl === "") return {};
    const proxy = conf.getText("spark.ui.reverseProxyUrl") ?? "";
    const base = conf.get(UI_REVERSE_PROXY)
      ? `${proxy.replace(/\/$/, "")}/proxy/${worker.id}`
      : worker.webUiUrl;
    const page = `${base}/logPage/?appId=${launch.appId}` +
      `&executorId=${launch.execId}&logType=`;
    return {
      SPARK_LOG_URL_STDOUT: `${page}stdout`,
      SPARK_LOG_URL_STDERR: `${page}stderr`,
    };
  }

  #appendLogs(child: ManagedProcess, directory: string): FileAppender[] {
    const { conf } = this.#options;
    const { stdout, stderr } = child;
    return Object.entries({ stdout, stderr }).flatMap(([name, stream]) =>
      stream ? [createFileAppender(stream, join(directory, name), conf)] : []
    );
  }

  get #id(): string {
    return fullId(this.#options.launch);
  }
}

/** Begins both log files, so that pages find them from the start. */
async function writeLogHeaders(
  directory: string,
  commandLine: string,
): Promise<void> {
  const header = `Spark Executor Command: ${commandLine}\n${
    "=".repeat(40)
  }\n\n`;
  await Deno.writeTextFile(join(directory, "stdout"), "");
  await Deno.writeTextFile(join(directory, "stderr"), header);
}

/** Lets the log files take what is in the pipes, but not for ever. */
async function drain(appenders: readonly FileAppender[]): Promise<void> {
  const written = Promise.all(appenders.map((appender) => appender.done));
  if (await settlesWithin(written, DRAIN_TIME)) return;
  // A process that left the group holds the other end.
  await Promise.all(appenders.map((appender) => appender.stop()));
}
