/**
 * Writes a child's output into a file, which may roll (Spark: `FileAppender`,
 * `RollingFileAppender`).
 *
 * What was read is written before more is read. So a child that writes faster
 * than the disk blocks on its pipe, and nothing piles up here.
 *
 * @module
 */
import {
  EXECUTOR_LOGS_ROLLING_ENABLE_COMPRESSION,
  EXECUTOR_LOGS_ROLLING_MAX_RETAINED_FILES,
  EXECUTOR_LOGS_ROLLING_MAX_SIZE,
  EXECUTOR_LOGS_ROLLING_STRATEGY,
  EXECUTOR_LOGS_ROLLING_TIME_INTERVAL,
} from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import type { Bytes, Milliseconds } from "../conf/units.ts";
import { getLogger, type Logger } from "../log.ts";
import { removeOldest, rollFile } from "./rolled_files.ts";
import {
  parseRollingInterval,
  parseRollingSize,
  type RollingPolicy,
  SizeBasedRollingPolicy,
  TimeBasedRollingPolicy,
} from "./rolling_policy.ts";

const DEFAULT_BUFFER_SIZE: Bytes = 8_192;

export interface FileAppenderOptions {
  /** When to roll; default: never. */
  readonly policy?: RollingPolicy | null;
  /** How many rolled files are kept; less than 1: all. Default: -1. */
  readonly maxRetainedFiles?: number;
  /** Whether rolled files are compressed with gzip. Default: false. */
  readonly compress?: boolean;
  /** The most that is written between two looks at the policy. */
  readonly bufferSize?: Bytes;
  /** The current time; default: the system's. */
  readonly clock?: () => Milliseconds;
  readonly log?: Logger;
}

/** Copies a stream into a file until the stream ends or it is stopped. */
export class FileAppender {
  readonly #path: string;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #policy: RollingPolicy | null;
  readonly #maxRetainedFiles: number;
  readonly #compress: boolean;
  readonly #bufferSize: Bytes;
  readonly #clock: () => Milliseconds;
  readonly #log: Logger;
  #file: Deno.FsFile | null = null;
  #stopped = false;
  #lost = 0;

  /** Settles, never with an error, when the last byte is in the file. */
  readonly done: Promise<void>;

  constructor(
    input: ReadableStream<Uint8Array<ArrayBuffer>>,
    path: string,
    options: FileAppenderOptions = {},
  ) {
    this.#reader = input.getReader();
    this.#path = path;
    this.#policy = options.policy ?? null;
    this.#maxRetainedFiles = options.maxRetainedFiles ?? -1;
    this.#compress = options.compress ?? false;
    this.#bufferSize = options.bufferSize ?? DEFAULT_BUFFER_SIZE;
    this.#clock = options.clock ?? Date.now;
    this.#log = options.log ?? getLogger("FileAppender");
    this.done = this.#run();
  }

  /** The kind of rolling, for those who show it. */
  get rolling(): "none" | "time" | "size" {
    return this.#policy?.kind ?? "none";
  }

  /** The policy that decides when to roll. */
  get policy(): RollingPolicy | null {
    return this.#policy;
  }

  /** Reads no more, closes the stream, and waits for the file to be closed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    try {
      await this.#reader.cancel();
    } catch (error) {
      this.#log.debug(`The stream for ${this.#path} was broken`, error);
    }
    await this.done;
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        await this.#append(value);
      }
    } catch (error) {
      if (!this.#stopped) {
        this.#log.error(`Cannot read what ${this.#path} is to hold`, error);
      }
    } finally {
      this.#reportRecovery();
      this.#close();
    }
  }

  async #append(chunk: Uint8Array): Promise<void> {
    const step = this.#policy ? this.#bufferSize : chunk.length;
    for (let start = 0; start < chunk.length; start += step) {
      const part = chunk.subarray(start, start + step);
      try {
        if (this.#policy?.shouldRoll(part.length, this.#clock())) {
          await this.#roll(this.#policy);
        }
        await this.#write(part);
      } catch (error) {
        this.#lose(part.length, error);
      }
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#file ??= await Deno.open(this.#path, {
      append: true,
      create: true,
    });
    for (let start = 0; start < bytes.length;) {
      start += await this.#file.write(bytes.subarray(start));
    }
    this.#policy?.written(bytes.length);
    this.#reportRecovery();
  }

  async #roll(policy: RollingPolicy): Promise<void> {
    this.#close();
    const now = this.#clock();
    // A roll that fails is tried again at the next boundary, not at each write.
    policy.rolled(now);
    try {
      await rollFile(this.#path, policy.suffix(now), this.#compress);
      if (this.#maxRetainedFiles > 0) {
        await removeOldest(this.#path, this.#maxRetainedFiles);
      }
    } catch (error) {
      this.#log.error(`Cannot roll the log file ${this.#path}`, error);
    }
  }

  /** A full disk must not stop the child: its output is dropped meanwhile. */
  #lose(bytes: number, error: unknown): void {
    if (this.#lost === 0) {
      this.#log.error(
        `Cannot write to ${this.#path}: output is dropped until it works again`,
        error,
      );
    }
    this.#lost += bytes;
  }

  #reportRecovery(): void {
    if (this.#lost === 0) return;
    this.#log.error(
      `${this.#lost} bytes of output for ${this.#path} were lost`,
    );
    this.#lost = 0;
  }

  #close(): void {
    this.#file?.close();
    this.#file = null;
  }
}

/**
 * The appender that the `spark.executor.logs.rolling.*` settings ask for. A
 * strategy, interval or size that can't be read is warned about, and the file
 * then doesn't roll.
 */
export function createFileAppender(
  input: ReadableStream<Uint8Array<ArrayBuffer>>,
  path: string,
  conf: SparkConf,
  options: Pick<FileAppenderOptions, "clock" | "log"> = {},
): FileAppender {
  const { clock = Date.now, log = getLogger("FileAppender") } = options;
  return new FileAppender(input, path, {
    policy: choosePolicy(path, conf, clock(), log),
    maxRetainedFiles: conf.get(EXECUTOR_LOGS_ROLLING_MAX_RETAINED_FILES),
    compress: conf.get(EXECUTOR_LOGS_ROLLING_ENABLE_COMPRESSION),
    clock,
    log,
  });
}

function choosePolicy(
  path: string,
  conf: SparkConf,
  now: Milliseconds,
  log: Logger,
): RollingPolicy | null {
  const strategy = conf.get(EXECUTOR_LOGS_ROLLING_STRATEGY);
  switch (strategy) {
    case "":
      return null;
    case "time": {
      const text = conf.get(EXECUTOR_LOGS_ROLLING_TIME_INTERVAL);
      const parsed = parseRollingInterval(text);
      if (parsed) {
        const { interval, precision } = parsed;
        return new TimeBasedRollingPolicy(interval, precision, now, { log });
      }
      log.warn(
        `The log file ${path} doesn't roll: the interval "${text}" is none of daily, hourly, minutely and a number of seconds`,
      );
      return null;
    }
    case "size": {
      const text = conf.get(EXECUTOR_LOGS_ROLLING_MAX_SIZE);
      const size = parseRollingSize(text);
      if (size !== undefined) {
        return new SizeBasedRollingPolicy(size, sizeOf(path), { log });
      }
      log.warn(
        `The log file ${path} doesn't roll: the size "${text}" is not a number of bytes`,
      );
      return null;
    }
    default:
      log.warn(
        `The log file ${path} doesn't roll: the strategy "${strategy}" is neither time nor size`,
      );
      return null;
  }
}

function sizeOf(path: string): Bytes {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}
