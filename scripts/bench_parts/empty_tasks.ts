import type { Figure } from "./figure.ts";
import { atLeast, median, REPEATS, submit } from "./measure.ts";

const TASKS = 20_000;

/** How many empty tasks of one stage two executors of a core do a second. */
export async function benchEmptyTasks(): Promise<Figure[]> {
  const { stdout } = await submit(
    "local-cluster[2,1,512]",
    "empty_tasks.ts",
    String(TASKS),
    String(REPEATS),
  );
  const seconds = median(JSON.parse(stdout));
  return [
    atLeast("Empty tasks on two executors", TASKS / seconds, "/s", 5_000),
  ];
}
