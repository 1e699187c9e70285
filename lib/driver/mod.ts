/**
 * The driver's side of an application: `SparkContext` and what it stands on.
 *
 * @module
 */
export { JobCancelledError, JobFailedError } from "./job_errors.ts";
export type {
  LocalExecutor,
  LocalExecutorEvents,
  StartLocalExecutor,
} from "./local_backend.ts";
export { type MasterUrl, parseMasterUrl } from "./master_url.ts";
export { type ContextTarget, SparkContext } from "./spark_context.ts";
export { ApplicationRefusedError } from "./standalone_backend.ts";
