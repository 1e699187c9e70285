import { resolve } from "node:path";
import type { Setting } from "../lib/conf/setting.ts";
import { WORKER_JAVA_HOME, WORKER_SPARK_HOME } from "../lib/conf/settings.ts";
import { parseMasterUrls } from "../lib/messages/addresses.ts";
import { localHostname } from "../lib/process/local_host.ts";
import { watchParent } from "../lib/process/parent_watch.ts";
import { onShutdownSignal } from "../lib/process/signals.ts";
import {
  resolveWorkerArguments,
  type WorkerArguments,
  WorkerArgumentsError,
} from "../lib/worker/arguments.ts";
import { readMachineFacts } from "../lib/worker/machine_facts.ts";
import { startWorker } from "../lib/worker/worker.ts";
import type { SparkConf } from "../lib/conf/spark_conf.ts";
import {
  type Command,
  CONF,
  HELP,
  type ParsedFlags,
  PROPERTIES_FILE,
  UsageError,
  VERBOSE,
} from "./flags.ts";
import { readConf, runCommand } from "./run.ts";

const COMMAND: Command = {
  synopsis: "worker --master spark://HOST:PORT[,HOST:PORT...] [options]",
  summary: [
    "Offers this host's cores and memory to a cluster, until it is told to end.",
    "When it listens, it writes its own URL to stdout.",
  ].join("\n"),
  flags: [
    {
      name: "master",
      value: "URL",
      doc: "All masters of the cluster; may also be the only argument.",
    },
    {
      name: "host",
      short: "h",
      value: "HOST",
      doc: "The name or address to be reached at (SPARK_LOCAL_HOSTNAME).",
    },
    {
      name: "port",
      short: "p",
      value: "PORT",
      doc: "The port; default: a free one (SPARK_WORKER_PORT).",
    },
    {
      name: "cores",
      short: "c",
      value: "N",
      doc: "Cores to offer; default: all (SPARK_WORKER_CORES).",
    },
    {
      name: "memory",
      short: "m",
      value: "SIZE",
      doc: "Memory to offer, as 4g; default: all but 1g (SPARK_WORKER_MEMORY).",
    },
    {
      name: "work-dir",
      short: "d",
      value: "DIR",
      doc: "Where executors run and log; default: ./work (SPARK_WORKER_DIR).",
    },
    {
      name: "java-home",
      value: "DIR",
      doc: "The Java for executors of Apache Spark (JAVA_HOME, or PATH).",
    },
    {
      name: "spark-home",
      value: "DIR",
      doc: "The Spark for executors of Apache Spark (SPARK_HOME).",
    },
    PROPERTIES_FILE,
    CONF,
    VERBOSE,
    HELP,
  ],
};

export function worker(args: readonly string[]): Promise<number> {
  return runCommand(COMMAND, args, async (flags) => {
    const masters = parseMasterUrls(masterOf(flags));
    const conf = readConf(flags, "INFO");
    setFromFlag(conf, WORKER_JAVA_HOME, flags.text("java-home"));
    setFromFlag(conf, WORKER_SPARK_HOME, flags.text("spark-home"));
    const { host, port, cores, memory, workDir } = offerOf(flags, conf);
    const started = await startWorker({
      masters,
      host,
      port,
      cores,
      memory,
      workDir,
      conf,
    });
    console.log(started.url);
    const shutdown = () => void started.shutdown();
    onShutdownSignal(shutdown);
    watchParent(shutdown);
    return await started.closed;
  });
}

/** A folder is the same wherever an executor is started. */
function setFromFlag(
  conf: SparkConf,
  { key }: Setting<unknown>,
  folder: string | undefined,
): void {
  if (folder !== undefined) conf.set(key, resolve(folder));
}

function masterOf(flags: ParsedFlags): string {
  const given = [flags.text("master"), ...flags.arguments]
    .filter((url) => url !== undefined);
  if (given.length !== 1) {
    throw new UsageError(
      given.length === 0
        ? "The worker needs a master: --master spark://HOST:PORT"
        : `Only one argument may name the masters: ${given.join(" ")}`,
    );
  }
  return given[0];
}

function offerOf(flags: ParsedFlags, conf: SparkConf): WorkerArguments {
  try {
    return resolveWorkerArguments({
      flags: {
        host: flags.text("host") ?? localHostname(),
        port: flags.text("port"),
        cores: flags.text("cores"),
        memory: flags.text("memory"),
        workDir: flags.text("work-dir"),
      },
      env: (name) => Deno.env.get(name),
      conf,
      machine: readMachineFacts(),
    });
  } catch (error) {
    if (!(error instanceof WorkerArgumentsError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
