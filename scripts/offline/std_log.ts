/**
 * Stands in for `@std/log` where JSR can't be reached: exactly what `lib/log.ts` uses of it,
 * with the names, types and behaviour of 0.224.
 *
 * @module
 */

/** The levels by name; a record passes where its level is at least the threshold. */
export const LogLevels = {
  NOTSET: 0,
  DEBUG: 10,
  INFO: 20,
  WARN: 30,
  ERROR: 40,
  CRITICAL: 50,
} as const;

/** The name of a level. */
export type LevelName = keyof typeof LogLevels;

/** The number of a level. */
export type LogLevel = typeof LogLevels[LevelName];

/** What a {@linkcode LogRecord} is made from. */
export interface LogRecordOptions {
  msg: string;
  args: unknown[];
  level: LogLevel;
  loggerName: string;
}

/** One message on its way to the handlers, stamped with the time it was made. */
export class LogRecord {
  readonly msg: string;
  readonly args: unknown[];
  readonly level: LogLevel;
  readonly levelName: string;
  readonly loggerName: string;
  readonly datetime: Date = new Date();

  constructor(options: LogRecordOptions) {
    this.msg = options.msg;
    this.args = [...options.args];
    this.level = options.level;
    this.levelName = nameOf(options.level);
    this.loggerName = options.loggerName;
  }
}

/** Makes the text of a record. */
export type FormatterFunction = (logRecord: LogRecord) => string;

/** Options for {@linkcode BaseHandler}. */
export interface BaseHandlerOptions {
  /** @default {`LEVEL message`} */
  formatter?: FormatterFunction;
}

/** Where records end: drops those below its level, formats the others, gives them to `log`. */
export abstract class BaseHandler {
  #levelName: LevelName;
  formatter: FormatterFunction;

  constructor(levelName: LevelName, options: BaseHandlerOptions = {}) {
    this.#levelName = levelName;
    this.formatter = options.formatter ??
      ((record) => `${record.levelName} ${record.msg}`);
  }

  get level(): LogLevel {
    return LogLevels[this.#levelName];
  }

  get levelName(): LevelName {
    return this.#levelName;
  }

  set levelName(levelName: LevelName) {
    this.#levelName = levelName;
  }

  handle(logRecord: LogRecord): void {
    if (this.level > logRecord.level) return;
    this.log(this.format(logRecord));
  }

  format(logRecord: LogRecord): string {
    return this.formatter(logRecord);
  }

  abstract log(msg: string): void;
}

/** Options for {@linkcode Logger}. */
export interface LoggerOptions {
  handlers?: BaseHandler[];
}

/** Makes records under one name and hands those that pass its level to its handlers. */
export class Logger {
  readonly level: LogLevel;
  readonly loggerName: string;
  handlers: BaseHandler[];

  constructor(
    loggerName: string,
    levelName: LevelName,
    options: LoggerOptions = {},
  ) {
    this.loggerName = loggerName;
    this.level = LogLevels[levelName];
    this.handlers = options.handlers ?? [];
  }

  debug(msg: string, ...args: unknown[]): string {
    return this.#log(LogLevels.DEBUG, msg, args);
  }

  info(msg: string, ...args: unknown[]): string {
    return this.#log(LogLevels.INFO, msg, args);
  }

  warn(msg: string, ...args: unknown[]): string {
    return this.#log(LogLevels.WARN, msg, args);
  }

  error(msg: string, ...args: unknown[]): string {
    return this.#log(LogLevels.ERROR, msg, args);
  }

  #log(level: LogLevel, msg: string, args: unknown[]): string {
    if (this.level > level) return msg;
    const record = new LogRecord({
      msg,
      args,
      level,
      loggerName: this.loggerName,
    });
    for (const handler of this.handlers) handler.handle(record);
    return msg;
  }
}

function nameOf(level: LogLevel): LevelName {
  for (const [name, value] of Object.entries(LogLevels)) {
    if (value === level) return name as LevelName;
  }
  throw new Error(`Cannot get log level: no name for level: ${level}`);
}
