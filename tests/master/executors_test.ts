import { assertEquals, assertMatch } from "@std/assert";
import { driverAt, MasterHarness, type TestApp } from "./harness.ts";

/** A worker at which every executor of every application fails at once. */
function failEachExecutor(harness: MasterHarness, atMost = 1_000): void {
  for (let launched = 0; launched < atMost; launched++) {
    const launch = harness.sentOf("LaunchExecutor")[launched];
    if (launch === undefined) return;
    harness.report(launch.appId, launch.execId, "FAILED", {
      message: "Error running executor: no such file",
    });
  }
}

function running(harness: MasterHarness, app: TestApp): number[] {
  return harness.app(app).executors.filter(({ state }) => state === "RUNNING")
    .map(({ id }) => id);
}

Deno.test("master: a launch tells worker and driver at the same moment", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp({ maxCores: 3, memory: 512 });
  const [launch, ...others] = harness.sentOf("LaunchExecutor", worker);
  assertEquals(others, []);
  const { appDesc, ...rest } = launch;
  assertEquals(rest, {
    type: "LaunchExecutor",
    masterUrl: "spark://master:7077",
    appId: app.id,
    execId: 0,
    resourceProfileId: 0,
    cores: 3,
    memory: 512,
    resources: {},
  });
  assertEquals([appDesc.name, appDesc.maxCores], ["test", 3]);
  assertEquals(harness.sentOf("ExecutorAdded", app), [{
    type: "ExecutorAdded",
    id: 0,
    workerId: worker.id,
    hostPort: "host:10001",
    cores: 3,
    memory: 512,
  }]);
  assertEquals(harness.app(app).executors[0].state, "LAUNCHING");
  assertEquals(harness.worker(worker).coresUsed, 3);
  assertEquals(harness.worker(worker).memoryUsed, 512);
});

Deno.test("master: the driver hears what becomes of an executor", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  const app = harness.registerApp();
  harness.report(app.id, 0, "RUNNING");
  harness.report(app.id, 0, "EXITED", {
    message: "Command exited with code 3",
    exitStatus: 3,
  });
  assertEquals(harness.sentOf("ExecutorUpdated", app), [
    {
      type: "ExecutorUpdated",
      id: 0,
      state: "RUNNING",
      message: null,
      exitStatus: null,
      workerHost: null,
    },
    {
      type: "ExecutorUpdated",
      id: 0,
      state: "EXITED",
      message: "Command exited with code 3",
      exitStatus: 3,
      workerHost: null,
    },
  ]);
});

for (const state of ["KILLED", "FAILED", "LOST", "EXITED"] as const) {
  Deno.test(`master: an executor that is ${state} gives its cores back and is replaced`, () => {
    const harness = new MasterHarness();
    const worker = harness.registerWorker();
    const app = harness.registerApp();
    harness.report(app.id, 0, "RUNNING");
    harness.report(app.id, 0, state);
    const { executors, removedExecutors } = harness.app(app);
    assertEquals(executors.map(({ id, state }) => [id, state]), [
      [1, "LAUNCHING"],
    ]);
    assertEquals(removedExecutors.map(({ id, state }) => [id, state]), [
      [0, state],
    ]);
    assertEquals(harness.worker(worker).coresUsed, 10);
  });
}

Deno.test("master: a report on an unknown executor is answered and only logged", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  const app = harness.registerApp();
  harness.clear();
  harness.report(app.id, 7, "FAILED");
  harness.report("nobody", 0, "RUNNING");
  assertEquals(harness.sent, []);
  assertEquals(harness.warnings().length, 2);
  assertMatch(harness.warnings()[0], /unknown executor .*\/7/);
});

Deno.test("master: the end of an executor that it took away itself is no news", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  const app = harness.registerApp();
  harness.killExecutors(app, [0]);
  harness.report(app.id, 0, "KILLED");
  const [{ id }] = harness.app(app).executors;
  harness.tell({ type: "UnregisterApplication", appId: app.id });
  harness.report(app.id, id, "KILLED");
  assertEquals(harness.warnings(), []);
  harness.report(app.id, 7, "KILLED");
  assertEquals(harness.warnings().length, 1);
});

Deno.test("master: RUNNING follows only LAUNCHING, and a repeated report changes nothing", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  const app = harness.registerApp();
  harness.report(app.id, 0, "RUNNING");
  harness.clear();
  harness.report(app.id, 0, "RUNNING");
  harness.report(app.id, 0, "LAUNCHING");
  assertEquals(harness.sent, []);
  assertEquals(harness.warnings().length, 2);
  assertEquals(running(harness, app), [0]);
});

// RecoverySuite 27510
Deno.test("master: an executor that fails ten times in a row fails the application", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker({ cores: 10, memory: 3702 });
  const app = harness.registerApp({ maxCores: 4, memory: 1234 });
  failEachExecutor(harness);
  assertEquals(harness.sentOf("LaunchExecutor", worker).length, 10);
  assertEquals(harness.state().activeApps, []);
  assertEquals(harness.app(app).state, "FAILED");
  assertEquals(harness.sentOf("ApplicationRemoved", app), [{
    type: "ApplicationRemoved",
    message: "FAILED: 10 executors failed in a row, the last one being " +
      "executor 9 on host:10001: Error running executor: no such file",
  }]);
  assertEquals(harness.sentOf("ApplicationFinished", worker).length, 1);
});

Deno.test("master: a failure without a message is named by its state and exit status", () => {
  const harness = new MasterHarness({ "spark.deploy.maxExecutorRetries": "1" });
  harness.registerWorker();
  const app = harness.registerApp();
  harness.report(app.id, 0, "EXITED", { exitStatus: 137 });
  assertMatch(
    harness.sentOf("ApplicationRemoved", app)[0].message,
    /executor 0 on host:10001: it was EXITED with exit status 137$/,
  );
});

Deno.test("master: an executor that came to run starts the count of failures anew", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  const app = harness.registerApp();
  failEachExecutor(harness, 9);
  harness.report(app.id, 9, "RUNNING");
  harness.report(app.id, 9, "EXITED", { exitStatus: 1 });
  assertEquals(harness.app(app).state, "RUNNING");
  failEachExecutor(harness);
  assertEquals(harness.app(app).state, "FAILED");
  // 9 before, the one that ran, and 9 more: that one's own failure counts.
  assertEquals(harness.sentOf("LaunchExecutor").length, 19);
});

Deno.test("master: an exit with status 0 is no failure", () => {
  const harness = new MasterHarness({ "spark.deploy.maxExecutorRetries": "2" });
  harness.registerWorker();
  const app = harness.registerApp();
  for (let id = 0; id < 20; id++) {
    harness.report(app.id, id, "EXITED", { exitStatus: 0 });
  }
  assertEquals(harness.app(app).state, "RUNNING");
  assertEquals(harness.sentOf("LaunchExecutor").length, 21);
});

Deno.test("master: an application with a running executor outlives any number of failures", () => {
  const harness = new MasterHarness({ "spark.deploy.maxExecutorRetries": "3" });
  harness.registerWorker({ cores: 2 });
  const app = harness.registerApp({ coresPerExecutor: 1 });
  harness.report(app.id, 0, "RUNNING");
  for (let id = 1; id <= 20; id++) harness.report(app.id, id, "FAILED");
  assertEquals(harness.app(app).state, "RUNNING");
  assertEquals(running(harness, app), [0]);
  // Once nothing of it runs any more, the next failure is the last.
  harness.report(app.id, 0, "EXITED", { exitStatus: 0 });
  assertEquals(harness.app(app).state, "RUNNING");
  harness.report(app.id, 21, "FAILED");
  assertEquals(harness.app(app).state, "FAILED");
});

Deno.test("master: a negative limit of failures is none", () => {
  const harness = new MasterHarness({
    "spark.deploy.maxExecutorRetries": "-1",
  });
  harness.registerWorker();
  const app = harness.registerApp();
  failEachExecutor(harness, 50);
  assertEquals(harness.app(app).state, "RUNNING");
  assertEquals(harness.sentOf("LaunchExecutor").length, 51);
});

Deno.test("master: executors lost with their worker do not count as failures", () => {
  const harness = new MasterHarness({ "spark.deploy.maxExecutorRetries": "1" });
  const app = harness.registerApp();
  for (let port = 1; port <= 5; port++) {
    const worker = harness.registerWorker({ port });
    assertEquals(harness.app(app).executors.length, 1);
    harness.disconnect(worker.endpoint.address);
  }
  assertEquals(harness.app(app).state, "RUNNING");
});

Deno.test("master: a failed application leaves the others alone", () => {
  const harness = new MasterHarness({ "spark.deploy.maxExecutorRetries": "1" });
  harness.registerWorker({ cores: 4 });
  const good = harness.registerApp({ driver: driverAt(1), maxCores: 2 });
  const bad = harness.registerApp({ driver: driverAt(2), maxCores: 2 });
  harness.report(bad.id, 0, "FAILED");
  assertEquals(harness.app(bad).state, "FAILED");
  assertEquals(harness.app(good).executors.length, 1);
  assertEquals(harness.sentOf("ApplicationRemoved", good), []);
});

Deno.test("master: it remembers so many ended executors of an application and no more", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  const app = harness.registerApp();
  for (let id = 0; id < 1_003; id++) {
    harness.report(app.id, id, "EXITED", { exitStatus: 0 });
  }
  const removed = harness.app(app).removedExecutors;
  assertEquals([removed.length, removed[0].id, removed.at(-1)?.id], [
    1_000,
    3,
    1_002,
  ]);
});
