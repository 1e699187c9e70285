/**
 * The one entry of sparkts: the command line, and the threads that it starts
 * of itself.
 *
 * @module
 */
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const { main } = await import("./cmd/main.ts");
  Deno.exit(await main(Deno.args));
} else {
  const { runTaskThread } = await import("./lib/executor/task_thread.ts");
  runTaskThread();
}
