import { join } from "node:path";
import {
  InvalidSettingError,
  type Megabytes,
  parseBytes,
  toMegabytes,
} from "../conf/units.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import { normalizeHost } from "../messages/addresses.ts";
import type { MachineFacts } from "./machine_facts.ts";

/** The texts of the flags that were given. */
export interface WorkerFlags {
  /** `-h`, `--host` */
  readonly host?: string;
  /** `-p`, `--port` */
  readonly port?: string;
  /** `--webui-port` */
  readonly webUiPort?: string;
  /** `-c`, `--cores` */
  readonly cores?: string;
  /** `-m`, `--memory`: with a unit, as in 10000M or 5G */
  readonly memory?: string;
  /** `-d`, `--work-dir` */
  readonly workDir?: string;
}

export interface WorkerArguments {
  readonly host: string;
  readonly port: number;
  readonly webUiPort: number;
  readonly cores: number;
  readonly memory: Megabytes;
  readonly workDir: string;
}

export interface WorkerArgumentsInput {
  readonly flags: WorkerFlags;
  /** Looks up environment variables. */
  readonly env: (name: string) => string | undefined;
  readonly conf: SparkConf;
  readonly machine: MachineFacts;
}

/** What was asked of the worker makes no sense. */
export class WorkerArgumentsError extends Error {
  override name = "WorkerArgumentsError";
}

const DEFAULT_WEB_UI_PORT = 8081;
/** What the operating system and the worker itself are left with. */
const RESERVED_MEMORY: Megabytes = 1_024;
const LEAST_DEFAULT_MEMORY: Megabytes = 1_024;

/**
 * What the worker offers and where, from its flags, else the environment's
 * `SPARK_WORKER_*`, else the machine; `spark.worker.ui.port` wins over all of
 * them (Spark: `WorkerArguments`).
 *
 * @throws {WorkerArgumentsError} naming the flag or variable that is wrong.
 */
export function resolveWorkerArguments(
  { flags, env, conf, machine }: WorkerArgumentsInput,
): WorkerArguments {
  function choose(
    flag: keyof WorkerFlags,
    flagName: string,
    variable: string,
  ): Given | undefined {
    const given = flags[flag];
    if (given !== undefined) return { text: given, from: flagName };
    const text = env(variable);
    return text ? { text, from: variable } : undefined;
  }
  const port = choose("port", "--port", "SPARK_WORKER_PORT");
  const webUiPort = given(conf.getText(UI_PORT), UI_PORT) ??
    choose("webUiPort", "--webui-port", "SPARK_WORKER_WEBUI_PORT");
  const cores = choose("cores", "--cores", "SPARK_WORKER_CORES");
  const memory = choose("memory", "--memory", "SPARK_WORKER_MEMORY");
  return {
    host: resolveHost(flags, env, machine),
    port: port ? readPort(port) : 0,
    webUiPort: webUiPort ? readPort(webUiPort) : DEFAULT_WEB_UI_PORT,
    cores: cores ? readCores(cores) : machine.cores,
    memory: memory ? readMemory(memory) : defaultMemory(machine),
    workDir: choose("workDir", "--work-dir", "SPARK_WORKER_DIR")?.text ??
      join(env("SPARK_HOME") || ".", "work"),
  };
}

const UI_PORT = "spark.worker.ui.port";

interface Given {
  readonly text: string;
  /** The flag, variable or setting that it comes from. */
  readonly from: string;
}

function given(text: string | undefined, from: string): Given | undefined {
  return text === undefined ? undefined : { text, from };
}

function resolveHost(
  flags: WorkerFlags,
  env: (name: string) => string | undefined,
  machine: MachineFacts,
): string {
  const host = flags.host ||
    env("SPARK_LOCAL_HOSTNAME") || env("SPARK_LOCAL_IP") || machine.hostname;
  try {
    return normalizeHost(host);
  } catch (cause) {
    throw new WorkerArgumentsError(
      `Cannot use the host "${host}": it is neither a name nor an address.`,
      { cause },
    );
  }
}

function readPort({ text, from }: Given): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new WorkerArgumentsError(
    `Cannot use ${from} "${text}": it is not a port.`,
  );
}

function readCores({ text, from }: Given): number {
  const cores = Number(text);
  if (/^\d{1,9}$/.test(text) && cores > 0) return cores;
  throw new WorkerArgumentsError(
    `Cannot use ${from} "${text}": it is not a number of cores.`,
  );
}

/** A number without a unit is in bytes, which never makes up a whole MiB. */
function readMemory({ text, from }: Given): Megabytes {
  let memory: Megabytes;
  try {
    memory = toMegabytes(parseBytes(text, "b"));
  } catch (cause) {
    if (!(cause instanceof InvalidSettingError)) throw cause;
    throw new WorkerArgumentsError(`Cannot use ${from}: ${cause.message}.`, {
      cause,
    });
  }
  if (memory > 0) return memory;
  throw new WorkerArgumentsError(
    `Cannot use ${from} "${text}": it is less than 1 MiB; is an M or G missing at its end?`,
  );
}

function defaultMemory({ memory }: MachineFacts): Megabytes {
  return Math.max(
    toMegabytes(memory) - RESERVED_MEMORY,
    LEAST_DEFAULT_MEMORY,
  );
}
