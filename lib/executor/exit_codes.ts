/** Exit codes of an executor (Spark: `ExecutorExitCode`, `SparkExitCode`). */
export const ExitCode = {
  Done: 0,
  /** The driver is gone, or it refused the executor. */
  Failed: 1,
  UncaughtException: 50,
  UncaughtExceptionTwice: 51,
  OutOfMemory: 52,
  NoLocalDirectory: 53,
  HeartbeatFailed: 56,
  /** A killed task would not end. */
  TaskReaper: 57,
} as const;
