/**
 * The executor: `startExecutor` is the process that a worker launches,
 * `Executor` what runs tasks in it and in a local run, `runTaskThread` what
 * the program's `main` must call when it finds itself a thread.
 *
 * @module
 */
export {
  EXECUTOR_USAGE,
  type ExecutorArguments,
  ExecutorUsageError,
  parseExecutorArguments,
} from "./arguments.ts";
export { type RunningExecutor, startExecutor } from "./backend.ts";
export { ExitCode } from "./exit_codes.ts";
