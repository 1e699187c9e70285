/**
 * What becomes of the options of the JVM that an application asks for.
 *
 * @module
 */
import { JavaSetupError } from "./host.ts";

const SSL_PREFIX = "-Dspark.ssl.";
const NODE_LOCAL_SSL = "-Dspark.ssl.useNodeLocalConf=";

/** The passwords for TLS of RPC, and the variables in which they travel. */
const RPC_PASSWORDS = {
  "spark.ssl.rpc.keyPassword": "_SPARK_SSL_RPC_KEY_PASSWORD",
  "spark.ssl.rpc.privateKeyPassword": "_SPARK_SSL_RPC_PRIVATE_KEY_PASSWORD",
  "spark.ssl.rpc.keyStorePassword": "_SPARK_SSL_RPC_KEY_STORE_PASSWORD",
  "spark.ssl.rpc.trustStorePassword": "_SPARK_SSL_RPC_TRUST_STORE_PASSWORD",
} as const;

/** Replaces the application's and the executor's id, wherever they stand. */
export function withIds(
  option: string,
  { appId, execId }: { appId: string; execId: string },
): string {
  return option.replaceAll("{{APP_ID}}", appId)
    .replaceAll("{{EXECUTOR_ID}}", execId);
}

/** Other users of the host see a command line, so no secret stays in it. */
export function withoutSecrets(options: readonly string[]): string[] {
  const secrets = ["spark.authenticate.secret", ...Object.keys(RPC_PASSWORDS)];
  return options.filter((option) =>
    !secrets.some((key) => option.startsWith(`-D${key}`))
  );
}

/** The worker's passwords for TLS of RPC, as variables of the executor. */
export function passwordVariables(
  lookUp: (key: string) => string | undefined,
): Record<string, string> {
  if (lookUp("spark.ssl.rpc.enabled")?.trim().toLowerCase() !== "true") {
    return {};
  }
  return Object.fromEntries(
    Object.entries(RPC_PASSWORDS).flatMap(([key, variable]) => {
      const password = lookUp(key);
      return password === undefined ? [] : [[variable, password]];
    }),
  );
}

/** Whether the application wants the worker's own settings of TLS. */
export function usesNodeLocalSsl(options: readonly string[]): boolean {
  return options.some((option) =>
    option.toLowerCase() === `${NODE_LOCAL_SSL}true`.toLowerCase()
  );
}

/**
 * The options with the worker's own `spark.ssl.*` in place of the driver's, if
 * the application wants that (Spark: `Worker.maybeUpdateSSLSettings`).
 */
export function withNodeLocalSsl(
  options: readonly string[],
  workerSettings: Iterable<readonly [string, string]>,
): readonly string[] {
  if (!usesNodeLocalSsl(options)) return options;
  return [
    ...options.filter((option) => !option.startsWith(SSL_PREFIX)),
    ...[...workerSettings]
      .filter(([key]) =>
        key.startsWith("spark.ssl.") && key !== "spark.ssl.useNodeLocalConf"
      )
      .map(([key, value]) => `-D${key}=${value}`),
    `${NODE_LOCAL_SSL}true`,
  ];
}

/**
 * Splits a line into options as a shell would: at white space, except within
 * quotes; a backslash takes the next character as it is.
 *
 * @throws {JavaSetupError} when the line ends within quotes or an escape.
 */
export function splitOptions(line: string): string[] {
  const options: string[] = [];
  let option: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const char = line[i];
    if (char === "\\" && quote !== "'") {
      if (++i === line.length) throw unfinished();
      option = (option ?? "") + line[i];
    } else if (quote !== "") {
      if (char === quote) quote = "";
      else option += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      option ??= "";
    } else if (/\s/.test(char)) {
      if (option !== undefined) options.push(option);
      option = undefined;
    } else {
      option = (option ?? "") + char;
    }
  }
  if (quote !== "") throw unfinished();
  if (option !== undefined) options.push(option);
  return options;
}

function unfinished(): JavaSetupError {
  // Its text may hold a secret, and the reason goes to the driver.
  return new JavaSetupError(
    "Cannot read the java-opts of this worker's Spark: in one of its lines a " +
      "quote or an escape has no end.",
  );
}
