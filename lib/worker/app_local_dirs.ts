import type { SparkConf } from "../conf/spark_conf.ts";
import { getLogger, type Logger } from "../log.ts";
import type { ApplicationId } from "../messages/deploy.ts";
import {
  createDirectories,
  getOrCreateLocalRootDirs,
} from "../process/local_dirs.ts";

/**
 * The local directories of the applications that have executors here, made
 * once for each (`SPARK_EXECUTOR_DIRS`). They belong to this worker process:
 * `close` removes them all.
 */
export class AppLocalDirs {
  readonly #conf: SparkConf;
  readonly #log: Logger;
  readonly #apps = new Map<ApplicationId, Promise<string[]>>();
  #roots: Promise<string[]> | undefined;

  constructor(conf: SparkConf, log: Logger = getLogger("Worker")) {
    this.#conf = conf;
    this.#log = log;
  }

  /**
   * The directories of an application, one at least.
   *
   * @throws {LocalDirsError} when none can be made; the next call tries again.
   */
  get(appId: ApplicationId): Promise<string[]> {
    let dirs = this.#apps.get(appId);
    if (dirs === undefined) {
      dirs = this.#create();
      this.#apps.set(appId, dirs);
      dirs.catch(() => this.#apps.delete(appId));
    }
    return dirs;
  }

  /** Removes the directories of an application that has ended. */
  async remove(appId: ApplicationId): Promise<void> {
    const dirs = this.#apps.get(appId);
    this.#apps.delete(appId);
    await this.#removeAll(dirs);
  }

  /** Removes all directories that were made. */
  async close(): Promise<void> {
    this.#apps.clear();
    const roots = this.#roots;
    this.#roots = undefined;
    await this.#removeAll(roots);
  }

  async #create(): Promise<string[]> {
    this.#roots ??= getOrCreateLocalRootDirs(this.#conf, { log: this.#log });
    let roots: string[];
    try {
      roots = await this.#roots;
    } catch (error) {
      this.#roots = undefined;
      throw error;
    }
    return await createDirectories(roots, "executor", this.#log);
  }

  async #removeAll(making: Promise<string[]> | undefined): Promise<void> {
    // What could not be made was reported to whoever asked for it.
    for (const dir of await making?.catch(() => []) ?? []) {
      try {
        await Deno.remove(dir, { recursive: true });
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) continue;
        this.#log.warn(`Cannot remove the local directory ${dir}`, error);
      }
    }
  }
}
