import { normalizeHost } from "../messages/addresses.ts";

/** What `sparkts executor` is started with. */
export interface ExecutorArguments {
  readonly driverUrl: string;
  /** Null when the driver is to give one. */
  readonly executorId: string | null;
  readonly bindAddress: string;
  readonly hostname: string;
  readonly cores: number;
  readonly resourcesFile: string | null;
  readonly appId: string;
  readonly workerUrl: string | null;
  readonly resourceProfileId: number;
  readonly podName: string | null;
}

/** The command line is wrong; the message is what to print before the usage. */
export class ExecutorUsageError extends Error {
  override name = "ExecutorUsageError";
}

/** The options, exactly as Spark's executor backends take them. */
const OPTIONS: Readonly<Record<string, string>> = {
  "--driver-url": "<driverUrl>",
  "--executor-id": "<executorId>",
  "--bind-address": "<bindAddress>",
  "--hostname": "<hostname>",
  "--cores": "<cores>",
  "--resourcesFile": "<fileWithJSONResourceInformation>",
  "--app-id": "<appid>",
  "--worker-url": "<workerUrl>",
  "--resourceProfileId": "<id>",
  "--podName": "<podName>",
};

export const EXECUTOR_USAGE = [
  "Usage: sparkts executor [options]",
  "",
  "Started by a worker, not by hand: runs the tasks of one application.",
  "",
  "Options are:",
  ...Object.entries(OPTIONS).map(([name, value]) => `  ${name} ${value}`),
].join("\n");

/**
 * Reads the executor's command line (Spark: `parseArguments` of
 * `KubernetesExecutorBackend` and `CoarseGrainedExecutorBackend`).
 *
 * @throws {ExecutorUsageError} for an unknown option or a missing value.
 */
export function parseExecutorArguments(
  args: readonly string[],
  localHostname: () => string,
): ExecutorArguments {
  const values = new Map<string, string>();
  for (let i = 0; i < args.length; i += 2) {
    if (!Object.hasOwn(OPTIONS, args[i]) || i + 1 === args.length) {
      throw new ExecutorUsageError(
        `Unrecognized options: ${args.slice(i).join(" ")}`,
      );
    }
    values.set(args[i], args[i + 1]);
  }
  const cores = wholeNumber(values, "--cores", 0);
  const driverUrl = required(values, "--driver-url");
  const executorId = required(values, "--executor-id");
  const appId = required(values, "--app-id");
  if (cores <= 0) {
    throw new ExecutorUsageError(
      `--cores must be at least 1, and is ${
        values.get("--cores") ?? "missing"
      }`,
    );
  }
  const hostname = normalizeHost(values.get("--hostname") ?? localHostname());
  return {
    driverUrl,
    executorId: executorId === "" || executorId === "EXECID"
      ? null
      : executorId,
    bindAddress: values.get("--bind-address") ?? hostname,
    hostname,
    cores,
    resourcesFile: values.get("--resourcesFile") ?? null,
    appId,
    workerUrl: values.get("--worker-url") ?? null,
    resourceProfileId: wholeNumber(values, "--resourceProfileId", 0),
    podName: values.get("--podName") ?? null,
  };
}

function required(values: Map<string, string>, option: string): string {
  const value = values.get(option);
  if (value === undefined) throw new ExecutorUsageError(`${option} is missing`);
  return value;
}

function wholeNumber(
  values: Map<string, string>,
  option: string,
  fallback: number,
): number {
  const text = values.get(option);
  if (text === undefined) return fallback;
  if (!/^-?\d{1,9}$/.test(text)) {
    throw new ExecutorUsageError(`${option} is no whole number: ${text}`);
  }
  return Number(text);
}
