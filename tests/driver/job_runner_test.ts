import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import {
  JobCancelledError,
  JobFailedError,
} from "../../lib/driver/job_errors.ts";
import { setLogLevel } from "../../lib/log.ts";
import type { DataSet } from "../../lib/rdd/lineage.ts";
import {
  cogrouped,
  COLLECT,
  mapped,
  shuffled,
  source,
  unionOf,
} from "./dag_harness.ts";
import { FakeCluster, turns } from "./fake_cluster.ts";

function lineages(): DataSet[] {
  const shared = shuffled(source(3), 2);
  return [
    mapped(source(4)),
    shared,
    shuffled(mapped(shared), 3),
    cogrouped(shared, source(2), 2),
    unionOf(shared, source(1), shuffled(shared, 2)),
    shuffled(cogrouped(shared, shuffled(shared, 1), 3), 2),
  ];
}

async function finishAll(cluster: FakeCluster): Promise<void> {
  for (let quiet = 0, rounds = 0; quiet < 3; rounds++) {
    assert(rounds < 10_000, "it goes on for ever");
    const [taskId] = cluster.running.keys();
    if (taskId === undefined) quiet++;
    else {
      quiet = 0;
      cluster.finish(taskId);
    }
    await turns();
  }
}

function resultsOf(cluster: FakeCluster, dataSet: DataSet): Promise<number[]> {
  const results = cluster.runner.run(dataSet, COLLECT).then((all) =>
    all.map((bytes) => bytes[0])
  );
  results.catch(() => {});
  return results;
}

Deno.test("job runner: whatever executors and tasks do, every job ends, and with the right partitions", async () => {
  setLogLevel("OFF");
  const counts = lineages().map(({ lineage }) => lineage.type);
  assertEquals(counts.length, 6);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(9), fc.nat(1000), fc.nat(12)), {
        maxLength: 120,
        size: "max",
      }),
      async (steps) => {
        // So many losses may end four tries in a row, which is no hang.
        const cluster = new FakeCluster({
          "spark.stage.maxConsecutiveAttempts": "1000",
        });
        const data = lineages();
        const partitions = [4, 2, 3, 2, 5, 2];
        const jobs: Promise<void>[] = [];
        let exceptions = 0;
        const start = (which: number) => {
          const index = which % data.length;
          const job = resultsOf(cluster, data[index]).then((results) => {
            const expected = Array.from(
              { length: partitions[index] },
              (_, i) => i,
            );
            assertEquals(results, expected);
          }, (error) => {
            assert(error instanceof JobFailedError && exceptions >= 4, error);
          });
          jobs.push(job);
        };
        cluster.add();
        for (const [what, which, wait] of steps) {
          const tasks = [...cluster.running.keys()];
          const executors = [...cluster.executors];
          const task = tasks[which % tasks.length];
          if (what === 0) start(which);
          else if (what === 1) cluster.add();
          else if (what === 2 && executors.length > 0) {
            cluster.lose(executors[which % executors.length]);
          } else if (what === 3 && executors.length > 0) {
            cluster.runner.executorSuspended(
              executors[which % executors.length],
            );
          } else if (what === 4 && task !== undefined) {
            exceptions++;
            cluster.fail(task);
          } else if (task !== undefined) cluster.finish(task);
          await turns(wait);
        }
        // From here on all is well.
        cluster.add();
        for (const id of [...cluster.executors].slice(0, -1)) cluster.lose(id);
        const finished = Promise.all(jobs);
        await finishAll(cluster);
        assertEquals(cluster.runner.progress, []);
        let ended = false;
        finished.then(() => ended = true);
        await turns();
        if (!ended) cluster.runner.stop("it hangs");
        await finished;
        assert(ended, "a job hangs");
        assertEquals(cluster.problems, []);
        cluster.runner.stop("done");
      },
    ),
    { numRuns: 150 },
  );
  setLogLevel("INFO");
});

Deno.test("job runner: tasks that wait while the outputs they read are lost make the stage run again", async () => {
  setLogLevel("OFF");
  const cluster = new FakeCluster();
  const first = cluster.add(1);
  const job = resultsOf(cluster, shuffled(source(1), 3));
  await turns();
  cluster.finish([...cluster.running.keys()][0]);
  await turns();
  cluster.add(1);
  await turns();
  cluster.lose(first);
  await finishAll(cluster);
  assertEquals(await job, [0, 1, 2]);
  assertEquals(cluster.problems, []);
  cluster.runner.stop("done");
  setLogLevel("INFO");
});

Deno.test("job runner: a stage that is tried anew while its code is captured runs its newest try", async () => {
  setLogLevel("OFF");
  const cluster = new FakeCluster();
  const one = cluster.add(1);
  const two = cluster.add(1);
  const data = shuffled(source(2), 1);
  const done = resultsOf(cluster, data);
  await finishAll(cluster);
  await done;
  // Half of the map outputs must be made again; then the other half is lost.
  cluster.add(1);
  cluster.lose(one);
  const captured = Promise.withResolvers<void>();
  cluster.capturing = captured.promise;
  const job = resultsOf(cluster, data);
  await turns();
  cluster.lose(two);
  await turns();
  captured.resolve();
  await finishAll(cluster);
  assertEquals(await job, [0]);
  assertEquals(cluster.problems, []);
  cluster.runner.stop("done");
  setLogLevel("INFO");
});

Deno.test("job runner: a job that is stopped while its code is captured starts no task", async () => {
  const cluster = new FakeCluster();
  cluster.add();
  const captured = Promise.withResolvers<void>();
  cluster.capturing = captured.promise;
  const job = resultsOf(cluster, source(2));
  await turns();
  cluster.runner.stop("SparkContext was shut down");
  captured.resolve();
  await turns();
  const error = await assertRejects(() => job, JobCancelledError);
  assertEquals(error.message, "SparkContext was shut down");
  assertEquals(cluster.launched, 0);
  await assertRejects(() => resultsOf(cluster, source(1)), JobCancelledError);
});

Deno.test("job runner: the cores of a failed job are free for the next one, its code is forgotten", async () => {
  setLogLevel("OFF");
  const cluster = new FakeCluster({ "spark.task.maxFailures": "1" });
  cluster.add(2);
  const failing = resultsOf(cluster, cogrouped(source(2), source(2), 1));
  await turns();
  cluster.fail([...cluster.running.keys()][0]);
  const error = await assertRejects(() => failing, JobFailedError);
  assert(error.message.includes("boom"));
  const next = resultsOf(cluster, source(4));
  await turns();
  assertEquals(cluster.running.size, 2);
  await finishAll(cluster);
  assertEquals(await next, [0, 1, 2, 3]);
  assertEquals(cluster.removed.toSorted((a, b) => a - b), [0, 1, 3]);
  cluster.runner.stop("done");
  setLogLevel("INFO");
});

// TaskSchedulerImplSuite: "Failed to serialize task"
Deno.test("job runner: a task that can't be sent fails its job, and the next one runs", async () => {
  setLogLevel("OFF");
  const cluster = new FakeCluster();
  cluster.add(1);
  cluster.refusal = new Error("it is too large");
  const error = await assertRejects(
    () => resultsOf(cluster, source(2)),
    JobFailedError,
  );
  assertEquals(
    error.message,
    "Failed to send task 0 of stage 0: it is too large",
  );
  cluster.refusal = undefined;
  const next = resultsOf(cluster, source(2));
  await turns();
  await finishAll(cluster);
  assertEquals(await next, [0, 1]);
  cluster.runner.stop("done");
  setLogLevel("INFO");
});

Deno.test("job runner: tasks wait for the cores that are to come, and then start", async () => {
  const cluster = new FakeCluster({}, 3);
  cluster.add(2);
  const job = resultsOf(cluster, source(2));
  await turns();
  assertEquals(cluster.launched, 0);
  cluster.add(2);
  await turns();
  assertEquals(cluster.launched, 2);
  await finishAll(cluster);
  assertEquals(await job, [0, 1]);
  cluster.runner.stop("done");
});

Deno.test("job runner: tasks start with fewer cores when it was waited for long enough", async () => {
  const cluster = new FakeCluster({
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "1ms",
  }, 3);
  cluster.add(2);
  const job = resultsOf(cluster, source(1));
  while (cluster.launched === 0) {
    await new Promise((resolve) => setTimeout(resolve));
  }
  await finishAll(cluster);
  assertEquals(await job, [0]);
  cluster.runner.stop("done");
});
