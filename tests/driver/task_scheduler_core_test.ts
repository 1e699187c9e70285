import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { STARVATION_TIMER } from "../../lib/driver/task_scheduler_events.ts";
import {
  failureOf,
  fetchFailure,
  type Launch,
  launches,
  ofType,
  Tasks,
  taskSet,
} from "./task_harness.ts";

// TaskSchedulerImplSuite, TaskSetManagerSuite

Deno.test("task scheduler: tasks wait for executors, and all cores are used", () => {
  const tasks = new Tasks();
  assertEquals(tasks.submit(taskSet(3)), []);
  assertEquals(tasks.add("1", 2).map(({ partition }) => partition), [0, 1]);
  const [first] = tasks.running.values();
  assertEquals(launches(tasks.succeed(first)).map((l) => l.partition), [2]);
});

Deno.test("task scheduler: zero or too few cores for spark.task.cpus run nothing", () => {
  const tasks = new Tasks({ taskCpus: 2 });
  tasks.submit(taskSet(5));
  assertEquals(tasks.add("none", 0), []);
  assertEquals(tasks.add("one", 1), []);
  assertEquals(tasks.add("five", 5).length, 2);
});

Deno.test("task scheduler: the tasks of a set spread over the executors", () => {
  const tasks = new Tasks();
  tasks.add("1", 4);
  tasks.add("2", 4);
  const launched = tasks.submit(taskSet(4));
  assertEquals(
    Object.groupBy(launched, ({ executorId }) => executorId)["1"]?.length,
    2,
  );
});

Deno.test("task scheduler: single tasks do not all go to the same executor", () => {
  const tasks = new Tasks();
  tasks.add("1");
  tasks.add("2");
  const used = new Set<string>();
  for (let stageId = 0; stageId < 10; stageId++) {
    const [launch] = tasks.submit(taskSet(1, { stageId }));
    used.add(launch.executorId);
    tasks.succeed(launch);
  }
  assertEquals([...used].sort(), ["1", "2"]);
});

Deno.test("task scheduler: sets of an earlier job and then of an earlier stage go first", () => {
  const tasks = new Tasks();
  tasks.submit(taskSet(1, { stageId: 5, jobId: 2 }));
  tasks.submit(taskSet(1, { stageId: 4, jobId: 1 }));
  tasks.submit(taskSet(1, { stageId: 3, jobId: 1 }));
  let launched = tasks.add("1");
  const order: number[] = [];
  while (launched.length > 0) {
    order.push(launched[0].taskSet.stageId);
    launched = launches(tasks.succeed(launched[0]));
  }
  assertEquals(order, [3, 4, 5]);
});

Deno.test("task scheduler: a task goes where it prefers if there is a free core, else anywhere", () => {
  const tasks = new Tasks();
  tasks.add("1");
  tasks.add("2");
  tasks.add("3");
  const launched = tasks.submit(taskSet([["3"], ["3"], []]));
  const where = new Map(launched.map((l) => [l.partition, l.executorId]));
  assertEquals(where.get(0), "3");
  assertEquals(launched.length, 3);
});

Deno.test("task scheduler: a task that failed is tried on another executor", () => {
  const tasks = new Tasks();
  const [first] = (tasks.submit(taskSet(1)), tasks.add("1"));
  assertEquals(tasks.add("2"), []);
  const [second] = launches(tasks.fail(first));
  assertEquals([second.executorId, second.attempt], ["2", 1]);
});

Deno.test("task scheduler: it waits for the other executor while that is busy", () => {
  const tasks = new Tasks();
  tasks.add("1");
  tasks.add("2");
  const launched = tasks.submit(taskSet(2));
  const [a, b] = launched;
  assertEquals(launches(tasks.fail(a)), []);
  const [again] = launches(tasks.succeed(b));
  assertEquals(again.executorId, b.executorId);
});

Deno.test("task scheduler: with no other executor it is tried on the same again", () => {
  const tasks = new Tasks();
  tasks.add("1");
  let [launch] = tasks.submit(taskSet(1));
  for (let attempt = 1; attempt < 4; attempt++) {
    [launch] = launches(tasks.fail(launch));
    assertEquals([launch.executorId, launch.attempt], ["1", attempt]);
  }
});

Deno.test("task scheduler: a task that has failed on every executor is tried on any of them", () => {
  const tasks = new Tasks();
  tasks.add("1");
  tasks.add("2");
  let [launch] = tasks.submit(taskSet(1));
  for (let i = 0; i < 3; i++) {
    const next = launches(tasks.fail(launch));
    assertEquals(next.length, 1, `after failure ${i + 1}`);
    launch = next[0];
  }
  assertEquals(ofType(tasks.fail(launch), "taskSetFailed").length, 1);
});

Deno.test("task scheduler: a suspended executor is no other one to wait for", () => {
  const tasks = new Tasks();
  tasks.add("1");
  tasks.add("2");
  const [launch] = tasks.submit(taskSet(1));
  const other = launch.executorId === "1" ? "2" : "1";
  tasks.handle({ type: "executorSuspended", executorId: other });
  const [again] = launches(tasks.fail(launch));
  assertEquals(again.executorId, launch.executorId);
});

Deno.test("task scheduler: four failures of one task fail its set, with the last failure; others are killed", () => {
  const tasks = new Tasks();
  tasks.add("1", 2);
  const [first, other] = tasks.submit(taskSet(2));
  let launch = first;
  for (let i = 1; i < 4; i++) {
    const effects = tasks.fail(launch, { message: `failure ${i}` });
    assertEquals(ofType(effects, "taskSetFailed"), []);
    [launch] = launches(effects);
  }
  const effects = tasks.fail(launch, { message: "failure 4" });
  const [failed] = ofType(effects, "taskSetFailed");
  assertEquals(failed.failure.message, "failure 4");
  assertStringIncludes(
    failed.reason,
    "Task 0 in stage 0 failed 4 times, most recent failure: Lost task 0.3",
  );
  assertEquals(ofType(effects, "kill").map((k) => k.taskId), [other.taskId]);
  assertEquals(tasks.running.size, 1);
  assertEquals(ofType(tasks.fail(other), "taskSetFailed"), []);
});

Deno.test("task scheduler: failures of different tasks are counted apart", () => {
  const tasks = new Tasks();
  tasks.add("1", 3);
  for (let launched = tasks.submit(taskSet(3)), round = 0; round < 3; round++) {
    const next: Launch[] = [];
    for (const launch of launched) {
      const effects = tasks.fail(launch);
      assertEquals(ofType(effects, "taskSetFailed"), []);
      next.push(...launches(effects));
    }
    launched = next;
  }
});

Deno.test("task scheduler: kills and losses that the application did not cause do not count", () => {
  const tasks = new Tasks({ maxFailures: 1 });
  tasks.add("1");
  let [launch] = tasks.submit(taskSet(1));
  for (let i = 0; i < 6; i++) {
    [launch] = launches(tasks.fail(launch, { reason: "killed" }));
  }
  tasks.started(launch);
  assertEquals(ofType(tasks.lose("1", false), "taskSetFailed"), []);
  [launch] = tasks.add("2");
  assertEquals(launch.attempt, 7);
});

Deno.test("task scheduler: a loss while a task is only launching does not count; once it runs it does", () => {
  const tasks = new Tasks({ maxFailures: 1 });
  tasks.submit(taskSet(1));
  tasks.add("1");
  assertEquals(ofType(tasks.lose("1"), "taskSetFailed"), []);
  const [launch] = tasks.add("2");
  tasks.started(launch);
  const [failed] = ofType(tasks.lose("2"), "taskSetFailed");
  assertStringIncludes(
    failed.failure.message,
    "ExecutorLostFailure (executor 2 exited): gone",
  );
});

Deno.test("task scheduler: a lost executor's tasks run elsewhere, and its late words change nothing", () => {
  const tasks = new Tasks();
  tasks.add("1");
  const [lost] = tasks.submit(taskSet(1));
  tasks.lose("1");
  const [again] = tasks.add("2");
  assertEquals(again.partition, 0);
  assertEquals(tasks.succeed(lost), []);
  assertEquals(ofType(tasks.succeed(again), "taskSucceeded").length, 1);
  assertEquals(tasks.succeed(again), []);
});

Deno.test("task scheduler: a suspended executor gets no tasks; when it is lost its tasks run again", () => {
  const tasks = new Tasks();
  tasks.add("1", 2);
  tasks.submit(taskSet(1));
  tasks.handle({ type: "executorSuspended", executorId: "1" });
  assertEquals(tasks.submit(taskSet(1, { stageId: 1 })), []);
  assertEquals(tasks.add("2", 2).map((l) => l.taskSet.stageId), [1]);
  assertEquals(launches(tasks.lose("1")).map((l) => l.taskSet.stageId), [0]);
});

Deno.test("task scheduler: a fetch failure ends the try once, does not count, and lets the rest run on", () => {
  const tasks = new Tasks({ maxFailures: 1 });
  tasks.add("1", 3);
  const [a, b, c] = tasks.submit(taskSet(4));
  const failure = fetchFailure(7, "9");
  const effects = tasks.fail(a, failure);
  assertEquals(ofType(effects, "fetchFailed").map((e) => e.failure), [failure]);
  assertEquals(launches(effects), []);
  assertEquals(ofType(effects, "kill"), []);
  assertEquals(ofType(tasks.fail(b, failure), "fetchFailed"), []);
  // A zombie's success is still worth something.
  assertEquals(ofType(tasks.succeed(c), "taskSucceeded").length, 1);
  assertEquals(tasks.core.progress, []);
});

Deno.test("task scheduler: a newer try at a stage makes the older one a zombie", () => {
  const tasks = new Tasks();
  tasks.add("1");
  const [old] = tasks.submit(taskSet(2));
  tasks.submit(taskSet(1, { stageAttempt: 1 }));
  const [next] = launches(tasks.succeed(old));
  assertEquals(next.taskSet.stageAttempt, 1);
  assertEquals(launches(tasks.succeed(next)), []);
});

Deno.test("task scheduler: a cancelled stage's tasks are killed and none starts any more", () => {
  const tasks = new Tasks();
  tasks.add("1", 2);
  const launched = tasks.submit(taskSet(5));
  const effects = tasks.handle({ type: "cancel", stageId: 0, reason: "why" });
  assertEquals(
    ofType(effects, "kill").map(({ taskId, reason }) => [taskId, reason]),
    launched.map(({ taskId }) => [taskId, "why"]),
  );
  for (const launch of launched) {
    const ended = tasks.fail(launch, { reason: "killed", message: "why" });
    assertEquals(ended.filter(({ type }) => type !== "clearTimer"), []);
  }
  assertEquals(tasks.core.progress, []);
});

Deno.test("task scheduler: tasks wait until enough executors are there, or it was waited long enough", () => {
  const tasks = new Tasks({ ready: false });
  tasks.add("1");
  assertEquals(tasks.submit(taskSet(1)), []);
  assertEquals(launches(tasks.handle({ type: "resourcesReady" })).length, 1);
});

Deno.test("task scheduler: it says that tasks starve, again and again, until one runs", () => {
  const tasks = new Tasks({ starvationTimeout: 15 });
  const timer = STARVATION_TIMER;
  const submitted = tasks.handle({ type: "submit", taskSet: taskSet(1) });
  const set = { type: "setTimer", timer, after: 15 } as const;
  assertEquals(submitted, [set]);
  const fired = { type: "timer", timer } as const;
  assertEquals(tasks.handle(fired), [{ type: "starving" }, set]);
  assertEquals(tasks.handle(fired), [{ type: "starving" }, set]);
  const added = tasks.handle({
    type: "executorAdded",
    executorId: "1",
    host: "h",
    cores: 1,
  });
  assertEquals(ofType(added, "clearTimer").length, 1);
});

Deno.test("task scheduler: no one is told of starving when the stage was cancelled meanwhile", () => {
  const tasks = new Tasks();
  tasks.submit(taskSet(1));
  const effects = tasks.handle({ type: "cancel", stageId: 0, reason: "" });
  assertEquals(ofType(effects, "clearTimer").length, 1);
  const timer = STARVATION_TIMER;
  assertEquals(tasks.handle({ type: "timer", timer }), []);
});

Deno.test("task scheduler: progress tells tasks, finished and running of each stage", () => {
  const tasks = new Tasks();
  tasks.add("1", 2);
  const [first] = tasks.submit(taskSet(4, { stageId: 3 }));
  tasks.succeed(first);
  assertEquals(tasks.core.progress, [
    { stageId: 3, tasks: 4, finished: 1, running: 2 },
  ]);
  assertEquals([tasks.core.totalCores, tasks.core.executorCount], [2, 1]);
});

Deno.test("task scheduler: 5,000 tasks that prefer an executor which is not there are scheduled in seconds at most", () => {
  const tasks = new Tasks();
  tasks.add("far", 8);
  const started = performance.now();
  const launched = tasks.submit(
    taskSet(new Array<string[]>(5_000).fill(["near"])),
  );
  let count = 0;
  while (launched.length > 0) {
    count++;
    launched.push(...launches(tasks.succeed(launched.shift()!)));
  }
  assertEquals(count, 5_000);
  assert(performance.now() - started < 3_000);
});

type Step = readonly [what: number, which: number];

Deno.test("task scheduler: whatever happens, the books add up and every set ends once", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(9), fc.nat(1000)), {
        maxLength: 150,
        size: "max",
      }),
      (steps: Step[]) => {
        const tasks = new Tasks();
        const executors = new Set<string>();
        const suspended = new Set<string>();
        const open = new Map<number, Set<number>>();
        let nextExecutor = 0;
        let nextStage = 0;
        const see = (effects: ReturnType<Tasks["handle"]>) => {
          for (const effect of effects) {
            if (effect.type === "launch") {
              assert(executors.has(effect.executorId));
              assert(!suspended.has(effect.executorId));
            } else if (effect.type === "taskSucceeded") {
              open.get(effect.taskSet.stageId)?.delete(effect.partition);
            } else if (
              effect.type === "taskSetFailed" || effect.type === "fetchFailed"
            ) {
              assert(open.delete(effect.taskSet.stageId), "it ended before");
            }
          }
        };
        const add = () => {
          const executorId = `${nextExecutor++}`;
          executors.add(executorId);
          see(tasks.handle({
            type: "executorAdded",
            executorId,
            host: "h",
            cores: 2,
          }));
        };
        const pick = <T>(from: Iterable<T>, which: number): T | undefined => {
          const all = [...from];
          return all.length === 0 ? undefined : all[which % all.length];
        };
        for (const [what, which] of steps) {
          const launch = pick(tasks.running.values(), which);
          const executorId = pick(executors, which);
          if (what === 0) add();
          else if (what === 1) {
            const stageId = nextStage++;
            open.set(stageId, new Set([0, 1, 2]));
            const prefer = executorId === undefined ? [] : [executorId];
            const set = taskSet([prefer, [], []], { stageId, jobId: which });
            see(tasks.handle({ type: "submit", taskSet: set }));
          } else if (what === 2 && executorId !== undefined) {
            executors.delete(executorId);
            suspended.delete(executorId);
            see(tasks.lose(executorId, which % 2 === 0));
          } else if (what === 3 && executorId !== undefined) {
            suspended.add(executorId);
            see(tasks.handle({ type: "executorSuspended", executorId }));
          } else if (what === 4 && open.size > 0) {
            const stageId = pick(open.keys(), which)!;
            open.delete(stageId);
            see(tasks.handle({ type: "cancel", stageId, reason: "" }));
          } else if (launch !== undefined) {
            if (what === 5) tasks.started(launch);
            else if (what === 6) see(tasks.fail(launch, failureOf()));
            else if (what === 7) {
              see(tasks.fail(launch, fetchFailure(0, "x")));
            } else see(tasks.succeed(launch));
          }
        }
        // In quiet times everything ends.
        add();
        for (const id of suspended) {
          executors.delete(id);
          see(tasks.lose(id));
        }
        suspended.clear();
        for (let i = 0; tasks.running.size > 0; i++) {
          assert(i < 10_000, "it goes on for ever");
          const [launch] = tasks.running.values();
          see(tasks.succeed(launch));
        }
        for (const [stageId, rest] of open) {
          assertEquals(rest.size, 0, `stage ${stageId} hangs`);
        }
        assertEquals(tasks.core.progress, []);
      },
    ),
    { numRuns: 200 },
  );
});
