import type { Figure } from "./figure.ts";
import { atMost, median, plain, runTimed, submit } from "./measure.ts";

const RUNS = 7;

/**
 * From the command to its exit: a cluster of processes for two empty tasks, in
 * terms of what Deno takes to start and do nothing.
 */
export async function benchStartup(): Promise<Figure[]> {
  const evals: number[] = [];
  const jobs: number[] = [];
  // By turns, so that what else the machine does falls on both.
  for (let i = 0; i < RUNS; i++) {
    evals.push((await runTimed(Deno.execPath(), ["eval", "1"])).milliseconds);
    const job = await submit("local-cluster[1,1,512]", "two_tasks.ts");
    jobs.push(job.milliseconds);
  }
  const ratio = median(jobs) / median(evals);
  return [
    atMost("Cluster and two empty tasks, by `deno eval 1`", ratio, "×", 25),
    plain("  the cluster and its job", median(jobs), "ms"),
    plain("  deno eval 1", median(evals), "ms"),
  ];
}
