/**
 * The log: one line a message on stderr, in the form of Spark's default log4j layout.
 *
 *     2026-11-30 23:49:12.345 INFO Master: Registering worker 10.0.0.7:40123 with 8 cores
 *
 * @example
 * ```ts
 * const log = getLogger("Worker");
 * log.info("Connecting to master host:7077...");
 * log.warn("Failed to connect to master host:7077", error);
 * ```
 *
 * @module
 */

import {
  BaseHandler,
  type LevelName,
  Logger as StdLogger,
  LogLevels,
  type LogRecord,
} from "@std/log";

/** Longest message, in UTF-16 units; what is beyond is cut off and counted. */
const MAX_MESSAGE_LENGTH = 32_768;

/** Most causes that an error's description follows, and most errors of an `AggregateError`. */
const MAX_CAUSES = 8;

/** Most milliseconds that a line waits for a stderr that takes nothing, before it is dropped. */
const MAX_STDERR_WAIT = 200;

/** Spark's names of log levels (`SparkContext.setLogLevel`). */
export const LOG_LEVELS = [
  "ALL",
  "TRACE",
  "DEBUG",
  "INFO",
  "WARN",
  "ERROR",
  "FATAL",
  "OFF",
] as const;

/** A name of a log level that {@linkcode setLogLevel} takes. */
export type LogLevel = typeof LOG_LEVELS[number];

// Nothing is logged above ERROR, so FATAL and OFF both let nothing through.
const THRESHOLDS: Readonly<Record<LogLevel, LevelName>> = {
  ALL: "NOTSET",
  TRACE: "NOTSET",
  DEBUG: "DEBUG",
  INFO: "INFO",
  WARN: "WARN",
  ERROR: "ERROR",
  FATAL: "CRITICAL",
  OFF: "CRITICAL",
};

/** Takes a log line, without the newline that ends it. */
export type LogSink = (line: string) => void;

let sink: LogSink = writeLogLine;

class SinkHandler extends BaseHandler {
  log(line: string): void {
    sink(line);
  }
}

const handler = new SinkHandler("INFO", { formatter: formatRecord });

/** Logs for one component. Each method writes before it returns, and none throws. */
export class Logger {
  readonly #std: StdLogger;

  /** @param component The name that stands in each line, as Spark's class names do. */
  constructor(component: string) {
    this.#std = new StdLogger(component, "NOTSET", { handlers: [handler] });
  }

  /** Whether {@linkcode Logger.debug} writes, for callers whose message is dear to make. */
  get debugEnabled(): boolean {
    return handler.level <= LogLevels.DEBUG;
  }

  /** Logs what helps to find a fault in sparkts itself. */
  debug(message: string, error?: unknown): void {
    if (this.debugEnabled) this.#std.debug(message, error);
  }

  /** Logs what an operator wants to have seen. */
  info(message: string, error?: unknown): void {
    if (handler.level <= LogLevels.INFO) this.#std.info(message, error);
  }

  /** Logs what is wrong, while the component goes on. */
  warn(message: string, error?: unknown): void {
    if (handler.level <= LogLevels.WARN) this.#std.warn(message, error);
  }

  /** Logs what the component could not do. */
  error(message: string, error?: unknown): void {
    if (handler.level <= LogLevels.ERROR) this.#std.error(message, error);
  }
}

/** The logger of a component, for example `Master` or `TaskSchedulerImpl`. */
export function getLogger(component: string): Logger {
  return new Logger(component);
}

/** Whether a text is the name of a log level, in upper case. */
export function isLogLevel(name: string): name is LogLevel {
  return Object.hasOwn(THRESHOLDS, name);
}

/**
 * Sets the least level that is written, for all loggers of this thread. It is INFO at first.
 * At DEBUG and below, errors are followed by their stacks.
 */
export function setLogLevel(level: LogLevel): void {
  handler.levelName = THRESHOLDS[level];
}

/**
 * Sends log lines elsewhere than to stderr: into a test, or around a progress bar that must
 * clear its line first and then passes the line on to {@linkcode writeLogLine}.
 *
 * @returns A function that puts back what was there before.
 */
export function setLogSink(newSink: LogSink): () => void {
  const previous = sink;
  sink = newSink;
  return () => {
    sink = previous;
  };
}

/** Writes one line to stderr: the sink that is in place at first. Never throws. */
export function writeLogLine(line: string): void {
  writeToStderr(line + "\n");
}

/**
 * Writes a text to stderr, whole, before it returns. Where stderr is closed, full or takes
 * nothing for 200 ms, the text is dropped: a daemon outlives the reader of its log, and
 * there is no other place to tell of it.
 */
export function writeToStderr(text: string): void {
  let rest = new TextEncoder().encode(text);
  let waited = 0;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(Deno.stderr.writeSync(rest));
    } catch (error) {
      // A pipe that its other end made non-blocking, and that is full: wait for the reader.
      if (!(error instanceof Deno.errors.WouldBlock)) return;
      if (waited++ === MAX_STDERR_WAIT) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/**
 * The reason that an error gives and those of its causes, as one line:
 * `Cannot read conf.json (caused by Permission denied)`. A cause that the reason before it
 * already spells out is left out.
 */
export function describeError(error: unknown): string {
  const reasons: string[] = [];
  for (const link of causeChain(error)) {
    const reason = reasonOf(link);
    if (reasons.at(-1)?.includes(reason)) continue;
    reasons.push(reason);
  }
  return escapeControls(
    reasons.join(" (caused by ") + ")".repeat(Math.max(0, reasons.length - 1)),
  );
}

/**
 * Makes a text safe to stand in a line of a log or on a terminal: control characters, line
 * separators and marks that turn the direction of writing become escapes such as `\n` or
 * `\x1b`.
 */
export function escapeControls(text: string): string {
  return text.replace(
    // deno-lint-ignore no-control-regex -- control characters are what it is for
    /[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g,
    escapeCharacter,
  );
}

function escapeCharacter(character: string): string {
  switch (character) {
    case "\n":
      return "\\n";
    case "\r":
      return "\\r";
    case "\t":
      return "\\t";
  }
  const hex = character.charCodeAt(0).toString(16);
  return hex.length <= 2
    ? `\\x${hex.padStart(2, "0")}`
    : `\\u${hex.padStart(4, "0")}`;
}

function formatRecord(record: LogRecord): string {
  const [error] = record.args;
  let text = escapeControls(record.msg);
  if (error !== undefined) text += `: ${describeError(error)}`;
  if (text.length > MAX_MESSAGE_LENGTH) {
    const more = text.length - MAX_MESSAGE_LENGTH;
    text = `${text.slice(0, MAX_MESSAGE_LENGTH)}... (${more} more characters)`;
  }
  const time = formatTime(record.datetime);
  const line = `${time} ${record.levelName} ${record.loggerName}: ${text}`;
  return handler.level <= LogLevels.DEBUG ? line + formatStacks(error) : line;
}

/** Local time, as `yyyy-MM-dd HH:mm:ss.SSS`. */
function formatTime(time: Date): string {
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${
    two(time.getDate())
  } ${two(time.getHours())}:${two(time.getMinutes())}:${
    two(time.getSeconds())
  }.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

function two(n: number): string {
  return n < 10 ? `0${n}` : String(n);
}

/** The frames of an error and its causes, each on a line that begins with a tab. */
function formatStacks(error: unknown): string {
  let lines = "";
  for (const link of causeChain(error)) {
    if (!(link instanceof Error)) continue;
    if (lines !== "") {
      lines += `\n\tcaused by ${escapeControls(reasonOf(link))}`;
    }
    for (const line of (link.stack ?? "").split("\n")) {
      const frame = line.trim();
      if (frame.startsWith("at ")) lines += `\n\t${escapeControls(frame)}`;
    }
  }
  return lines;
}

/** An error and what caused it, outermost first, each once. */
function causeChain(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let link = error; !chain.includes(link);) {
    chain.push(link);
    if (!(link instanceof Error) || link.cause === undefined) break;
    if (chain.length > MAX_CAUSES) break;
    link = link.cause;
  }
  return chain;
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    const parts = error.errors.slice(0, MAX_CAUSES).map((each) =>
      each instanceof Error ? each.message || each.name : textOf(each)
    );
    return `${error.message || error.name} [${parts.join("; ")}]`;
  }
  return error instanceof Error ? error.message || error.name : textOf(error);
}

/** `String(value)`, which throws for some objects. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
