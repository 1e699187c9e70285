/**
 * The directories for files that live as long as an application or a process
 * (Spark: `Utils.getOrCreateLocalRootDirs`, `Utils.createDirectory`).
 *
 * @module
 */
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { LOCAL_DIR } from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import { describeError, getLogger, type Logger } from "../log.ts";

/** No directory for local files can be made. */
export class LocalDirsError extends Error {
  override name = "LocalDirsError";
}

export interface LocalDirsOptions {
  /** Where environment variables are looked up. Default: this process's. */
  readonly env?: (name: string) => string | undefined;
  readonly log?: Logger;
}

/**
 * The directories under which local files are to be made: those of
 * `SPARK_EXECUTOR_DIRS`, else of `SPARK_LOCAL_DIRS`, else of
 * `spark.local.dir`, else the system's one for temporary files.
 */
export function configuredLocalDirs(
  conf: SparkConf,
  env: (name: string) => string | undefined = getEnv,
): string[] {
  const executorDirs = env("SPARK_EXECUTOR_DIRS");
  if (executorDirs) return split(executorDirs, delimiter);
  const localDirs = env("SPARK_LOCAL_DIRS") || conf.get(LOCAL_DIR);
  return localDirs ? split(localDirs, ",") : [tmpdir()];
}

/**
 * Makes a fresh directory `spark-…` in each of the configured local
 * directories. One that can't be used is skipped with a warning. The caller
 * keeps the answer: each call makes new ones, which are the caller's to
 * remove.
 *
 * @returns Absolute paths, one at least.
 * @throws {LocalDirsError} when none can be made.
 */
export async function getOrCreateLocalRootDirs(
  conf: SparkConf,
  options: LocalDirsOptions = {},
): Promise<string[]> {
  const { env, log = getLogger("Utils") } = options;
  const roots = configuredLocalDirs(conf, env);
  return await createDirectories(roots, "spark", log);
}

/**
 * Makes a fresh directory `prefix-…` in the first of the configured local
 * directories that can be used; the others before it are warned about. It is
 * the caller's to remove.
 *
 * @throws {LocalDirsError} when none can be made.
 */
export async function createLocalDirectory(
  conf: SparkConf,
  prefix: string,
  options: LocalDirsOptions = {},
): Promise<string> {
  const { env, log = getLogger("Utils") } = options;
  const roots = configuredLocalDirs(conf, env);
  for (const root of roots) {
    try {
      return await createDirectory(root, prefix);
    } catch (error) {
      log.warn(`Ignoring the local directory ${root}`, error);
    }
  }
  throw new LocalDirsError(
    `No subfolder can be created in ${roots.join(",")}.`,
  );
}

/**
 * Makes a fresh directory in each of several; those where none can be made
 * are skipped with a warning.
 *
 * @returns Absolute paths, one at least.
 * @throws {LocalDirsError} when none can be made.
 */
export async function createDirectories(
  roots: readonly string[],
  prefix: string,
  log: Logger = getLogger("Utils"),
): Promise<string[]> {
  const made: string[] = [];
  for (const root of roots) {
    try {
      made.push(await createDirectory(root, prefix));
    } catch (error) {
      log.warn(`Ignoring the local directory ${root}`, error);
    }
  }
  if (made.length === 0) {
    throw new LocalDirsError(
      `No subfolder can be created in ${roots.join(",")}.`,
    );
  }
  return made;
}

/**
 * Makes the directory `prefix-<uuid>` in `root`, which is made when it is
 * missing. Only its owner may look into it (mode 700).
 *
 * @returns Its absolute path.
 * @throws {LocalDirsError} when it can't be made.
 */
export async function createDirectory(
  root: string,
  prefix: string,
): Promise<string> {
  const path = join(resolve(root), `${prefix}-${crypto.randomUUID()}`);
  try {
    await Deno.mkdir(resolve(root), { recursive: true });
    await Deno.mkdir(path, { mode: 0o700 });
    return path;
  } catch (cause) {
    throw new LocalDirsError(
      `Cannot create the directory ${path}: ${describeError(cause)}.`,
      { cause },
    );
  }
}

function split(text: string, separator: string): string[] {
  return text.split(separator).map((item) => item.trim()).filter(Boolean);
}

function getEnv(name: string): string | undefined {
  return Deno.env.get(name);
}
