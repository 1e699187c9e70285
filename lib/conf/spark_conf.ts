import type { Setting } from "./setting.ts";
import { InvalidSettingError } from "./units.ts";

/**
 * The settings of one application or daemon: text by key, read through the
 * typed table in `settings.ts`.
 *
 * @example
 * ```ts
 * import { SparkConf } from "./spark_conf.ts";
 * import { EXECUTOR_MEMORY } from "./settings.ts";
 *
 * const conf = new SparkConf({ "spark.executor.memory": "2g" });
 * conf.get(EXECUTOR_MEMORY); // 2048, in MiB
 * ```
 */
export class SparkConf {
  readonly #values = new Map<string, string>();

  constructor(
    values: Iterable<[string, string]> | Record<string, string> = [],
  ) {
    const entries = Symbol.iterator in values
      ? values as Iterable<[string, string]>
      : Object.entries(values);
    for (const [key, value] of entries) this.set(key, value);
  }

  set(key: string, value: string): this {
    this.#values.set(key, value);
    return this;
  }

  setIfMissing(key: string, value: string): this {
    if (!this.#values.has(key)) this.#values.set(key, value);
    return this;
  }

  /** Whether the setting was given, under its key or an earlier name. */
  contains(setting: string | Setting<unknown>): boolean {
    return this.getText(setting) !== undefined;
  }

  /** The text that was given, without defaults. */
  getText(setting: string | Setting<unknown>): string | undefined {
    if (typeof setting === "string") return this.#values.get(setting);
    for (const key of [setting.key, ...setting.alternatives]) {
      const text = this.#values.get(key);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /**
   * The value of a setting, or its default.
   *
   * @throws {InvalidSettingError} naming the key, when the text doesn't fit.
   */
  get<T>(setting: Setting<T>): T {
    const text = this.getText(setting) ?? setting.defaultText;
    if (text === undefined) return undefined as T;
    try {
      return setting.parse(text);
    } catch (cause) {
      if (!(cause instanceof InvalidSettingError)) throw cause;
      throw new InvalidSettingError(
        `Cannot read ${setting.key}: ${cause.message}.`,
        { cause },
      );
    }
  }

  /** Every setting that was given, in the order of their keys. */
  entries(): [string, string][] {
    return [...this.#values].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
  }

  clone(): SparkConf {
    return new SparkConf(this.#values);
  }
}

/**
 * Whether an executor must have this setting before it can reach the driver,
 * so that what the worker's side gave wins over what the driver sends
 * (Spark: `SparkConf.isExecutorStartupConf`). The secret is not among them: it
 * would be seen on a command line.
 */
export function isExecutorStartupSetting(key: string): boolean {
  if (key === "spark.authenticate.secret") return false;
  return /^spark\.(auth|ssl|rpc|network)/.test(key) ||
    (key.startsWith("spark.") && key.endsWith(".port")) ||
    key.startsWith("spark.port.");
}
