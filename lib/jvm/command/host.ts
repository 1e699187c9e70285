/** What a command line depends on of the host that it is for. */
export interface JavaHost {
  /** A variable of the worker's own environment. */
  env(name: string): string | undefined;
  /** The same path wherever a process runs: an executor has its own folder. */
  absolute(path: string): string;
  isDirectory(path: string): boolean;
  /** Whether there is a file that this user may execute. */
  isExecutable(path: string): boolean;
  /** The names in a directory; empty when it can't be read. */
  list(path: string): readonly string[];
  /** A file's text; undefined when it can't be read. */
  readText(path: string): string | undefined;
}

/** The host has no Java, or no Spark, to start executors of Spark with. */
export class JavaSetupError extends Error {
  override name = "JavaSetupError";
}
