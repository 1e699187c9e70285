/**
 * The program of the task threads of a context in a test's process: what
 * `main.ts` does in a thread, without the rest of it to check and to load.
 *
 * @module
 */
import { isMainThread } from "node:worker_threads";
import { runTaskThread } from "../../lib/executor/task_thread.ts";

if (!isMainThread) runTaskThread();
