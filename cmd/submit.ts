import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  APP_NAME,
  CORES_MAX,
  EXECUTOR_CORES,
  EXECUTOR_MEMORY,
  LOG_LEVEL,
  MASTER,
} from "../lib/conf/settings.ts";
import type { SparkConf } from "../lib/conf/spark_conf.ts";
import type { Megabytes } from "../lib/conf/units.ts";
import {
  type LocalCluster,
  startLocalCluster,
} from "../lib/driver/local_cluster.ts";
import { type MasterUrl, parseMasterUrl } from "../lib/driver/master_url.ts";
import type { ContextTarget, SparkContext } from "../lib/driver/mod.ts";
import { describeError, getLogger, writeLogLine } from "../lib/log.ts";
import { parseMasterUrls } from "../lib/messages/addresses.ts";
import { onShutdownSignal } from "../lib/process/signals.ts";
import {
  type Command,
  CONF,
  HELP,
  type ParsedFlags,
  PROPERTIES_FILE,
  UsageError,
  VERBOSE,
} from "./flags.ts";
import { CommandError, Exit, readConf, runCommand } from "./run.ts";

const log = getLogger("SparkSubmit");

const COMMAND: Command = {
  synopsis: "submit [options] APP.ts [application arguments]",
  summary: [
    "Runs an application: a module whose default export is",
    "`async function main(sc: SparkContext, args: string[])`.",
  ].join("\n"),
  stopEarly: true,
  flags: [
    {
      name: "master",
      value: "URL",
      doc: "spark://HOST:PORT, local[N], local[*] (the default) or " +
        "local-cluster[WORKERS,CORES,MIB].",
    },
    {
      name: "name",
      value: "NAME",
      doc: "The application's name; default: its file's (spark.app.name).",
    },
    {
      name: "executor-cores",
      value: "N",
      doc: "Cores of one executor (spark.executor.cores).",
    },
    {
      name: "executor-memory",
      value: "SIZE",
      doc: "Memory of one executor, as 2g (spark.executor.memory, 1g).",
    },
    {
      name: "total-executor-cores",
      value: "N",
      doc: "Cores of all executors together (spark.cores.max).",
    },
    CONF,
    PROPERTIES_FILE,
    VERBOSE,
    HELP,
  ],
};

/** What a shell makes of a process that a signal ended. */
const EXIT_OF_SIGNAL = {
  SIGHUP: 129,
  SIGINT: Exit.Interrupted,
  SIGTERM: 143,
} as const;

type Main = (sc: SparkContext, args: string[]) => unknown;

/** Which setting a flag is. */
const SETTING_FLAGS = {
  "master": MASTER,
  "name": APP_NAME,
  "executor-cores": EXECUTOR_CORES,
  "executor-memory": EXECUTOR_MEMORY,
  "total-executor-cores": CORES_MAX,
} as const;

export function submit(args: readonly string[]): Promise<number> {
  return runCommand(COMMAND, args, async (flags) => {
    const [app, ...appArgs] = flags.arguments;
    if (app === undefined) throw new UsageError("No application is given");
    const conf = readConf(flags, "WARN");
    for (const [flag, setting] of Object.entries(SETTING_FLAGS)) {
      const text = flags.text(flag);
      if (text !== undefined) conf.set(setting.key, text);
    }
    conf.setIfMissing(MASTER.key, Deno.env.get("MASTER") || "local[*]");
    conf.setIfMissing(APP_NAME.key, nameOf(app));
    const master = parseMasterUrl(
      conf.get(MASTER)!,
      navigator.hardwareConcurrency,
    );
    checkResources(conf, master);
    return await new Submission(flags, conf, master).run(app, appArgs);
  });
}

/** Settings that make no sense should be told before anything is started. */
function checkResources(conf: SparkConf, master: MasterUrl): void {
  for (const setting of [EXECUTOR_CORES, CORES_MAX]) {
    const value = conf.get(setting);
    if (value !== undefined && value < 1) {
      throw new UsageError(
        `${setting.key} must be at least 1, and is ${value}`,
      );
    }
  }
  if (master.type === "local-cluster") {
    conf.setIfMissing(EXECUTOR_MEMORY.key, `${master.memory}m`);
    const asked: Megabytes = conf.get(EXECUTOR_MEMORY);
    if (asked > master.memory) {
      throw new UsageError(
        `Asked to launch cluster with ${master.memory} MiB/worker but requested ${asked} MiB/executor`,
      );
    }
  }
  if (conf.get(EXECUTOR_MEMORY) < 1) {
    throw new UsageError(
      `${EXECUTOR_MEMORY.key} must be at least 1 MiB, and is "${
        conf.getText(EXECUTOR_MEMORY)
      }"`,
    );
  }
}

/** One run of an application, with all that it starts. */
class Submission {
  readonly #flags: ParsedFlags;
  readonly #conf: SparkConf;
  readonly #master: MasterUrl;
  readonly #interrupted = Promise.withResolvers<number>();
  readonly #starts = new AbortController();
  #isInterrupted = false;
  #starting: Promise<SparkContext> | undefined;
  #cluster: Promise<LocalCluster> | undefined;

  constructor(flags: ParsedFlags, conf: SparkConf, master: MasterUrl) {
    this.#flags = flags;
    this.#conf = conf;
    this.#master = master;
  }

  async run(app: string, args: string[]): Promise<number> {
    const removeListeners = onShutdownSignal((signal) => {
      log.warn(`Received ${signal}: stopping the application`);
      this.#isInterrupted = true;
      this.#interrupted.resolve(EXIT_OF_SIGNAL[signal]);
      this.#starts.abort();
    });
    try {
      return await Promise.race([
        this.#interrupted.promise,
        this.#runApplication(app, args),
      ]);
    } finally {
      await this.#stop();
      removeListeners();
    }
  }

  async #runApplication(app: string, args: string[]): Promise<number> {
    const path = existingFile(app);
    // The cluster's processes start while the driver's modules, which are only
    // imported below for that, and the application are loaded.
    if (this.#master.type === "local-cluster") {
      this.#cluster = this.#startCluster(this.#master);
      this.#cluster.catch(() => {});
    }
    const main = await loadMain(path);
    this.#starting = this.#startContext();
    const sc = await this.#starting;
    try {
      await Promise.race([
        main(sc, args),
        sc.dead.then((reason) => {
          throw new CommandError(reason);
        }),
      ]);
      return Exit.Done;
    } catch (error) {
      await this.#explain(error);
      return Exit.Failed;
    }
  }

  async #startContext(): Promise<SparkContext> {
    const { SparkContext } = await import("../lib/driver/mod.ts");
    return await SparkContext.start(this.#conf, await this.#target(), {
      signal: this.#starts.signal,
    });
  }

  async #target(): Promise<ContextTarget> {
    const master = this.#master;
    switch (master.type) {
      case "local": {
        const { startLocalExecutor } = await import("./local_executor.ts");
        return {
          type: "local",
          threads: master.threads,
          startExecutor: startLocalExecutor,
        };
      }
      case "local-cluster": {
        const { masterUrl } = await this.#cluster!;
        this.#conf.setIfMissing("spark.driver.host", "127.0.0.1");
        return { type: "spark", masters: parseMasterUrls(masterUrl) };
      }
      case "spark":
        return master;
    }
  }

  #startCluster(
    { workers, cores, memory }: Extract<MasterUrl, { type: "local-cluster" }>,
  ): Promise<LocalCluster> {
    const level = this.#conf.get(LOG_LEVEL);
    return startLocalCluster({
      workers,
      coresPerWorker: cores,
      memoryPerWorker: memory,
      flags: [
        ...this.#conf.entries()
          .filter(([key]) => /^spark\.(deploy|worker|master)\./.test(key)),
        // Daemons that serve this application alone need not tell it, in the
        // middle of its own output, that it ends and they with it.
        [LOG_LEVEL.key, level === "WARN" ? "ERROR" : level],
      ].flatMap(([key, value]) => ["--conf", `${key}=${value}`]),
    });
  }

  async #stop(): Promise<void> {
    // What is still starting must be there before it can be stopped.
    const context = await this.#starting?.catch(() => undefined);
    await context?.stop();
    const cluster = await this.#cluster?.catch(() => undefined);
    await cluster?.stop();
  }

  /** The application's own error: where it was thrown is what is wanted. */
  async #explain(error: unknown): Promise<void> {
    const { JobFailedError } = await import("../lib/driver/mod.ts");
    if (error instanceof JobFailedError && !this.#flags.isOn("verbose")) {
      writeBlock(error.message);
    } else if (isOurs(error)) {
      writeLogLine(`sparkts: ${describeError(error)}`);
    } else {
      writeBlock(`Uncaught ${stackOf(error)}`);
    }
  }
}

/** Errors of sparkts whose message is all that helps. */
function isOurs(error: unknown): boolean {
  return error instanceof CommandError ||
    (error instanceof Error &&
      /^(InputPath|Output|Glob|ClosureCapture|Broadcast|EmptyCollection|UnsendableValue|ApplicationRefused|JobCancelled)/
        .test(error.name));
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return Deno.inspect(error);
  const cause = error.cause === undefined
    ? ""
    : `\nCaused by: ${stackOf(error.cause)}`;
  return (error.stack ?? String(error)) + cause;
}

function writeBlock(text: string): void {
  for (const line of text.split("\n")) writeLogLine(line);
}

function existingFile(app: string): string {
  const path = resolve(app);
  try {
    const { isFile } = Deno.statSync(path);
    if (isFile) return path;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new CommandError(`Application file does not exist: ${app}`);
    }
    throw error;
  }
  throw new CommandError(`Application is not a file: ${app}`);
}

async function loadMain(path: string): Promise<Main> {
  let module: { default?: unknown };
  try {
    module = await import(pathToFileURL(path).href);
  } catch (cause) {
    throw new CommandError(
      `Cannot load the application ${path}: ${describeError(cause)}`,
      { cause },
    );
  }
  if (typeof module.default !== "function") {
    throw new CommandError(
      `The application ${path} has no main function: its default export must be one, \`export default async function main(sc, args)\`.`,
    );
  }
  return module.default as Main;
}

function nameOf(app: string): string {
  return app.slice(app.lastIndexOf("/") + 1);
}
