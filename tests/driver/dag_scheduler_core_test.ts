import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { MissingOutputError } from "../../lib/driver/dag_scheduler_core.ts";
import {
  cogrouped,
  mapped,
  shuffled,
  shuffleIdOf,
  source,
  Stages,
  unionOf,
} from "./dag_harness.ts";
import { failureOf, ofType } from "./task_harness.ts";

// DAGSchedulerSuite

Deno.test("dag: a job without a shuffle is one stage, its results in the order asked", () => {
  const stages = new Stages();
  const job = stages.run(mapped(source(4)), [3, 1, 2]);
  assertEquals(stages.submitted.length, 1);
  assertEquals(stages.last.partitions, [3, 1, 2]);
  for (const partition of [2, 3, 1]) stages.succeed(stages.last, partition);
  assertEquals(stages.done.get(job), [3, 1, 2]);
});

Deno.test("dag: a job for no partitions is done at once", () => {
  const stages = new Stages();
  const job = stages.run(source(2), []);
  assertEquals(stages.done.get(job), []);
  assertEquals(stages.submitted, []);
});

Deno.test("dag: a stage runs only when all map outputs that it reads are there", () => {
  const stages = new Stages();
  const middle = shuffled(source(2), 3);
  const job = stages.run(shuffled(mapped(middle), 1));
  assertEquals(stages.submitted.map((s) => s.partitions), [[0, 1]]);
  stages.succeed(stages.last, 1);
  assertEquals(stages.submitted.length, 1);
  stages.succeed(stages.last, 0);
  assertEquals(stages.last.partitions, [0, 1, 2]);
  stages.finish(stages.last);
  assertEquals(stages.last.partitions, [0]);
  assertEquals(stages.last.stage.target.type, "result");
  stages.finish(stages.last);
  assertEquals(stages.done.get(job), [0]);
});

Deno.test("dag: both sides of a cogroup run at once, and the result after both", () => {
  const stages = new Stages();
  const job = stages.run(cogrouped(source(1), source(2), 2));
  assertEquals(stages.submitted.map((s) => s.partitions), [[0], [0, 1]]);
  const [left, right] = stages.submitted;
  stages.finish(right);
  assertEquals(stages.submitted.length, 2);
  stages.finish(left);
  stages.finish(stages.last);
  assertEquals(stages.done.get(job), [0, 1]);
});

Deno.test("dag: a union is one stage over the partitions of all, after the shuffles of each", () => {
  const stages = new Stages();
  const job = stages.run(unionOf(source(2), shuffled(source(1), 3), source(1)));
  assertEquals(stages.submitted.map((s) => s.partitions), [[0]]);
  stages.finish(stages.last);
  assertEquals(stages.last.partitions, [0, 1, 2, 3, 4, 5]);
  stages.finish(stages.last);
  assertEquals(stages.done.get(job), [0, 1, 2, 3, 4, 5]);
});

Deno.test("dag: a later job over the same shuffle skips the stage that is done", () => {
  const stages = new Stages();
  const data = shuffled(source(2), 1);
  stages.run(data);
  stages.finish(stages.last);
  stages.finish(stages.last);
  const job = stages.run(data);
  assertEquals(stages.submitted.length, 3);
  assertEquals(stages.last.stage.target.type, "result");
  stages.finish(stages.last);
  assertEquals(stages.done.get(job), [0]);
});

Deno.test("dag: two jobs that wait for one shuffle run it once", () => {
  const stages = new Stages();
  const data = shuffled(source(2), 1);
  const first = stages.run(data);
  const second = stages.run(data);
  assertEquals(stages.submitted.length, 1);
  stages.finish(stages.last);
  assertEquals(stages.submitted.length, 3);
  for (const each of stages.submitted.slice(1)) stages.finish(each);
  assertEquals([stages.done.get(first), stages.done.get(second)], [[0], [0]]);
});

Deno.test("dag: cancelling a job cancels only stages that no other job needs", () => {
  const stages = new Stages();
  const shared = shuffled(source(2), 1);
  const first = stages.run(cogrouped(shared, source(1), 1));
  const second = stages.run(shared);
  const [sharedMap, own] = stages.submitted;
  stages.cancel(first);
  assertEquals(stages.failed.get(first), "cancelled");
  assertEquals(stages.cancelled, [own.stage.stageId]);
  stages.finish(sharedMap);
  stages.finish(stages.last);
  assertEquals(stages.done.get(second), [0]);
  assertEquals(stages.cancel(second), []);
});

Deno.test("dag: a stage that was cancelled half done runs only the rest for a later job", () => {
  const stages = new Stages();
  const data = shuffled(source(3), 1);
  const first = stages.run(data);
  stages.succeed(stages.last, 1);
  stages.cancel(first);
  const second = stages.run(data);
  assertEquals(stages.last.partitions, [0, 2]);
  stages.finish(stages.last);
  stages.finish(stages.last);
  assertEquals(stages.done.get(second), [0]);
});

Deno.test("dag: a fetch failure runs the lost map outputs again, then the rest of the stage", () => {
  const stages = new Stages();
  const data = shuffled(source(2), 3);
  const job = stages.run(data);
  const map = stages.last;
  stages.succeed(map, 0, "1");
  stages.succeed(map, 1, "2");
  const reduce = stages.last;
  stages.succeed(reduce, 0);
  stages.fetchFailed(reduce, shuffleIdOf(data), "2");
  assertEquals(stages.last.stage.stageId, map.stage.stageId);
  assertEquals(stages.last.partitions, [1]);
  stages.finish(stages.last, "3");
  assertEquals(stages.last.stage.stageId, reduce.stage.stageId);
  assertEquals(stages.last.set.stageAttempt, 1);
  assertEquals(stages.last.partitions, [1, 2]);
  stages.finish(stages.last);
  assertEquals(stages.done.get(job), [0, 1, 2]);
});

Deno.test("dag: a second fetch failure of the same try changes nothing more", () => {
  const stages = new Stages();
  const data = shuffled(source(1), 2);
  stages.run(data);
  stages.finish(stages.last);
  const reduce = stages.last;
  stages.fetchFailed(reduce, shuffleIdOf(data), "1");
  const count = stages.submitted.length;
  assertEquals(stages.fetchFailed(reduce, shuffleIdOf(data), "1"), []);
  assertEquals(stages.submitted.length, count);
});

Deno.test("dag: what still ran of a failed try counts when it succeeds", () => {
  const stages = new Stages();
  const data = shuffled(source(1), 2);
  const job = stages.run(data);
  stages.finish(stages.last);
  const old = stages.last;
  stages.fetchFailed(old, shuffleIdOf(data), "1");
  stages.succeed(old, 1);
  stages.finish(stages.last);
  assertEquals(stages.last.partitions, [0]);
  stages.finish(stages.last);
  assertEquals(stages.done.get(job), [0, 1]);
});

Deno.test("dag: four tries in a row that end for lost outputs fail the job", () => {
  const stages = new Stages();
  const data = shuffled(source(1), 1);
  const job = stages.run(data);
  for (let i = 0; i < 4; i++) {
    assertEquals(stages.failed.size, 0);
    stages.finish(stages.last);
    stages.fetchFailed(stages.last, shuffleIdOf(data), "1");
  }
  assertStringIncludes(
    stages.failed.get(job)!,
    "has failed the maximum allowable number of times: 4. Most recent failure reason: Cannot fetch",
  );
});

Deno.test("dag: the count of failed tries starts anew once the stage has succeeded", () => {
  const stages = new Stages({ maxStageAttempts: 2 });
  const first = shuffled(source(1), 1);
  const second = shuffled(first, 1);
  for (let round = 0; round < 3; round++) {
    const job = stages.run(second);
    stages.finish(stages.last);
    stages.fetchFailed(stages.last, shuffleIdOf(first), "1");
    stages.finish(stages.last);
    stages.finish(stages.last);
    stages.finish(stages.last);
    assertEquals(stages.done.get(job), [0], `round ${round}`);
    stages.lose("1");
  }
});

Deno.test("dag: a lost executor's outputs are dropped, and made again only when they are needed", () => {
  const stages = new Stages();
  const data = shuffled(source(3), 1);
  stages.run(data);
  stages.succeed(stages.last, 0, "1");
  stages.succeed(stages.last, 1, "2");
  stages.succeed(stages.last, 2, "2");
  stages.finish(stages.last);
  const count = stages.submitted.length;
  stages.lose("2");
  assertEquals(stages.submitted.length, count);
  const missing = assertThrows(
    () => stages.core.outputsOf(shuffleIdOf(data)),
    MissingOutputError,
  );
  assertEquals(missing.mapIndex, 1);
  const job = stages.run(data);
  assertEquals(stages.last.partitions, [1, 2]);
  stages.finish(stages.last);
  assertEquals(stages.core.outputsOf(shuffleIdOf(data)).length, 3);
  stages.finish(stages.last);
  assertEquals(stages.done.get(job), [0]);
});

Deno.test("dag: a map stage that runs makes up for what was lost, and for nothing else", () => {
  const stages = new Stages();
  const job = stages.run(shuffled(source(3), 1));
  const map = stages.last;
  stages.succeed(map, 0, "1");
  stages.succeed(map, 1, "2");
  stages.lose("1");
  assertEquals(stages.last.partitions, [0, 2]);
  stages.finish(stages.last, "2");
  stages.finish(stages.last, "2");
  assertEquals(stages.done.get(job), [0]);
});

Deno.test("dag: a map stage whose own input was lost with its outputs waits for that first", () => {
  const stages = new Stages();
  const first = shuffled(source(1), 2);
  const job = stages.run(shuffled(first, 1));
  const map = stages.last;
  stages.finish(map, "1");
  const middle = stages.last;
  stages.succeed(middle, 0, "1");
  stages.lose("1");
  assertEquals(stages.last.stage.dataSet, map.stage.dataSet);
  stages.finish(stages.last, "2");
  assertEquals(stages.last.stage.stageId, middle.stage.stageId);
  assertEquals(stages.last.partitions, [0, 1]);
  stages.finish(stages.last, "2");
  stages.finish(stages.last, "2");
  assertEquals(stages.done.get(job), [0]);
});

Deno.test("dag: outputs that are lost while their reader waits for another shuffle are made again", () => {
  const stages = new Stages();
  const job = stages.run(cogrouped(source(1), source(1), 1));
  const [left, right] = stages.submitted;
  stages.finish(left, "1");
  stages.lose("1");
  stages.finish(right, "2");
  assertEquals(stages.last.stage.stageId, left.stage.stageId);
  stages.finish(stages.last, "2");
  stages.finish(stages.last, "2");
  assertEquals(stages.done.get(job), [0]);
});

Deno.test("dag: a shared stage that runs again for one job is not cancelled under the other", () => {
  const stages = new Stages();
  const shared = shuffled(source(1), 1);
  const downstream = shuffled(shared, 1);
  const first = stages.run(downstream);
  const second = stages.run(downstream);
  stages.finish(stages.last);
  const middle = stages.last;
  stages.fetchFailed(middle, shuffleIdOf(shared), "1");
  stages.cancel(first);
  stages.finish(stages.last);
  stages.finish(stages.last);
  stages.finish(stages.last);
  assertEquals(stages.done.get(second), [0]);
});

Deno.test("dag: a job that fails while a stage of it waits cancels what is left of that stage's tasks", () => {
  const stages = new Stages();
  const data = shuffled(source(1), 2);
  const job = stages.run(data);
  stages.finish(stages.last);
  const reduce = stages.last;
  stages.fetchFailed(reduce, shuffleIdOf(data), "1");
  stages.cancel(job);
  assert(stages.cancelled.includes(reduce.stage.stageId));
});

Deno.test("dag: a stage that fails fails all jobs that need it, and their other stages are cancelled", () => {
  const stages = new Stages();
  const shared = shuffled(source(1), 1);
  const first = stages.run(cogrouped(shared, source(1), 1));
  const second = stages.run(shared);
  const [{ stage }, other] = stages.submitted;
  const failure = failureOf();
  const effects = stages.handle({
    type: "stageFailed",
    stageId: stage.stageId,
    reason: "it failed",
    failure,
    error: undefined,
  });
  assertEquals(
    ofType(effects, "jobFailed").map(({ jobId, reason, failure }) => ({
      jobId,
      reason,
      failure,
    })),
    [first, second].map((jobId) => ({ jobId, reason: "it failed", failure })),
  );
  assert(stages.cancelled.includes(other.stage.stageId));
});

Deno.test("dag: what a partition added counts once, however often it succeeds", () => {
  const stages = new Stages();
  const data = shuffled(source(2), 1);
  stages.run(data);
  const map = stages.last;
  stages.succeed(map, 0, "1");
  assertEquals(stages.succeed(map, 0, "2"), []);
  stages.lose("1");
  stages.finish(stages.last, "2");
  assertEquals(stages.counted, ["0/0", "0/1"]);
});

Deno.test("dag: a duplicate completion does not change a result", () => {
  const stages = new Stages();
  const job = stages.run(source(2));
  const { last } = stages;
  stages.succeed(last, 0, "1", { result: Uint8Array.of(7) });
  stages.succeed(last, 0, "2", { result: Uint8Array.of(8) });
  stages.succeed(last, 1);
  assertEquals(stages.done.get(job), [7, 1]);
  assertEquals(stages.succeed(last, 1), []);
});

Deno.test("dag: results above spark.driver.maxResultSize fail the job; 0 is no limit", () => {
  for (const [maxResultSize, fails] of [[9, true], [10, false], [0, false]]) {
    const stages = new Stages({ maxResultSize: Number(maxResultSize) });
    const job = stages.run(source(2));
    const { last } = stages;
    const result = new Uint8Array(5);
    stages.succeed(last, 0, "1", { result });
    stages.succeed(last, 1, "1", { result });
    assertEquals(stages.failed.has(job), fails);
    if (fails) {
      assertStringIncludes(stages.failed.get(job)!, "2 tasks (10 bytes)");
      assertEquals(stages.cancelled, [last.stage.stageId]);
    }
  }
});

Deno.test("dag: a task is preferred where what it reads is cached, until that executor is lost", () => {
  const stages = new Stages();
  const cached = source(2);
  cached.cached = true;
  stages.run(mapped(cached));
  stages.succeed(stages.last, 0, "1", { cached: [[cached.id, 0]] });
  stages.succeed(stages.last, 1, "2", { cached: [[cached.id, 1]] });
  const preferred = () => stages.last.set.tasks.map((task) => task.preferred);
  stages.run(unionOf(source(1), mapped(cached)));
  assertEquals(preferred(), [[], ["1"], ["2"]]);
  stages.lose("1");
  stages.run(mapped(cached));
  assertEquals(preferred(), [[], ["2"]]);
});

Deno.test("dag: a chain of 40 self-joins is cut into stages without going over any twice", () => {
  const stages = new Stages();
  let data = source(1);
  for (let i = 0; i < 40; i++) data = cogrouped(data, data, 1);
  const job = stages.run(data);
  const ready = stages.submitted;
  for (let at = 0; at < ready.length; at++) stages.finish(ready[at]);
  assertEquals(stages.submitted.length, 81);
  assertEquals(stages.done.get(job), [0]);
});

Deno.test("dag: a forgotten shuffle is written again when it is read again", () => {
  const stages = new Stages();
  const data = shuffled(source(1), 1);
  stages.run(data);
  stages.finish(stages.last);
  stages.finish(stages.last);
  stages.core.forgetShuffle(shuffleIdOf(data));
  const job = stages.run(data);
  stages.finish(stages.last);
  stages.finish(stages.last);
  assertEquals(stages.done.get(job), [0]);
});
