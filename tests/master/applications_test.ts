import { assertEquals, assertMatch } from "@std/assert";
import {
  appDescription,
  driverAt,
  MASTER_ADDRESS,
  MasterHarness,
  START,
} from "./harness.ts";

Deno.test("master: an application that registers is answered, then gets executors", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  harness.clear();
  const app = harness.registerApp();
  assertEquals(harness.sent.map(({ message }) => message.type), [
    "RegisteredApplication",
    "LaunchExecutor",
    "ExecutorAdded",
  ]);
  assertEquals(harness.sentOf("RegisteredApplication", app), [{
    type: "RegisteredApplication",
    appId: app.id,
    master: { address: MASTER_ADDRESS, name: "Master" },
  }]);
});

Deno.test("master: an application waits until it has an executor", () => {
  const harness = new MasterHarness();
  const app = harness.registerApp();
  assertEquals(harness.app(app).state, "WAITING");
  harness.registerWorker();
  assertEquals(harness.app(app).state, "RUNNING");
});

Deno.test("master: a standby master drops an application without an answer", () => {
  const harness = new MasterHarness({}, { initialState: "STANDBY" });
  harness.tell({
    type: "RegisterApplication",
    appDescription: appDescription(),
    driver: driverAt(1),
  });
  assertEquals(harness.sent, []);
  assertEquals(harness.state().activeApps, []);
  assertEquals(harness.state().status, "STANDBY");
});

Deno.test("master: a recovering master takes an application in and places nothing yet", () => {
  const harness = new MasterHarness({}, { initialState: "RECOVERING" });
  harness.registerWorker();
  const app = harness.registerApp();
  assertEquals(harness.app(app).state, "WAITING");
  assertEquals(harness.sentOf("LaunchExecutor"), []);
});

// Found by the simulation: the answer to a registration came so late that the
// driver had registered again. Spark's master answers that with a fresh id
// that it does not know itself; here it is the id that the application has.
Deno.test("master: a driver that registers again keeps its application and its id", () => {
  const harness = new MasterHarness();
  const first = harness.registerApp();
  const second = harness.registerApp();
  assertEquals(first.id, "app-20261130223351-0000");
  assertEquals(second.id, first.id);
  assertEquals(harness.state().activeApps.map(({ id }) => id), [first.id]);
  const other = harness.registerApp({ driver: driverAt(2) });
  assertEquals(other.id, "app-20261130223351-0001");
});

// Found by the simulation: the connection broke after the registration, and
// with the answer the driver missed that it had been granted executors.
Deno.test("master: a driver that registers again is told of its executors again", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp();
  const [added] = harness.sentOf("ExecutorAdded", app);
  harness.clear();
  harness.registerApp();
  assertEquals(harness.sent.map(({ message }) => message.type), [
    "RegisteredApplication",
    "ExecutorAdded",
  ]);
  assertEquals(harness.sentOf("ExecutorAdded", app), [added]);
  assertEquals(harness.sentOf("LaunchExecutor", worker), []);
});

// Found by the simulation: a driver with a fixed port vanished, and another
// one was there before the master saw the old connection end.
Deno.test("master: a driver that brings another application ends the one before at its address", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const first = harness.registerApp({ name: "first" });
  harness.clear();
  const second = harness.registerApp({ name: "second" });
  assertEquals(harness.app(first).state, "FINISHED");
  assertEquals(harness.sentOf("KillExecutor", worker).length, 1);
  assertEquals(harness.sentOf("ApplicationRemoved"), []);
  assertEquals(
    harness.state().activeApps.map(({ id, name }) => [id, name]),
    [[second.id, "second"]],
  );
  assertEquals(
    harness.sentOf("LaunchExecutor", worker).map(({ appId }) => appId),
    [second.id],
  );
});

Deno.test("master: a driver that registers again under its application's name keeps it", () => {
  const harness = new MasterHarness({
    "spark.master.useAppNameAsAppId.enabled": "true",
  });
  harness.registerApp({ name: "job" });
  assertEquals(harness.registerApp({ name: "job" }).id, "job");
  assertEquals(harness.state().activeApps.length, 1);
  assertEquals(harness.sentOf("ApplicationRemoved"), []);
});

for (
  const [what, description] of [
    ["no cores at all", { maxCores: 0 }],
    ["executors of no cores", { coresPerExecutor: 0 }],
    ["executors of half a core", { coresPerExecutor: 0.5 }],
    ["executors without memory", { memory: 0 }],
    ["fewer than no executors", { initialExecutorLimit: -1 }],
  ] as const
) {
  Deno.test(`master: an application that asks for ${what} is refused with the reason`, () => {
    const harness = new MasterHarness();
    harness.registerWorker();
    const driver = driverAt(1);
    harness.tell({
      type: "RegisterApplication",
      appDescription: appDescription(description),
      driver,
    });
    const [removed] = harness.sentOf("ApplicationRemoved", { driver });
    assertMatch(removed.message, /^FAILED: ./);
    assertEquals(harness.sentOf("RegisteredApplication"), []);
    assertEquals(harness.state().activeApps, []);
  });
}

Deno.test("master: an application that unregisters is finished, and every worker cleans up", () => {
  const harness = new MasterHarness({ "spark.deploy.spreadOutApps": "false" });
  const idle = harness.registerWorker({ port: 1 });
  const busy = harness.registerWorker({ port: 2 });
  const dead = harness.registerWorker({ port: 3 });
  harness.disconnect(dead.endpoint.address);
  const app = harness.registerApp({ maxCores: 4 });
  assertEquals(harness.worker(busy).coresUsed, 4);
  harness.clear();
  harness.advance(5_000);
  harness.tell({ type: "UnregisterApplication", appId: app.id });
  assertEquals(harness.sentOf("KillExecutor"), [{
    type: "KillExecutor",
    masterUrl: "spark://master:7077",
    appId: app.id,
    execId: 0,
  }]);
  assertEquals(harness.sentOf("KillExecutor", busy).length, 1);
  for (const worker of [idle, busy]) {
    assertEquals(harness.sentOf("ApplicationFinished", worker), [
      { type: "ApplicationFinished", id: app.id },
    ]);
  }
  assertEquals(harness.sentOf("ApplicationFinished", dead), []);
  assertEquals(harness.sentOf("ApplicationRemoved"), []);
  assertEquals(harness.worker(busy).coresUsed, 0);
  const { state, endTime, executors } = harness.app(app);
  assertEquals([state, endTime], ["FINISHED", START + 5_000]);
  assertEquals(executors.map(({ state }) => state), ["KILLED"]);
  assertEquals(harness.state().activeApps, []);
});

Deno.test("master: an application whose driver is gone is finished", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp();
  harness.disconnect(app.driver.address);
  assertEquals(harness.app(app).state, "FINISHED");
  assertEquals(harness.sentOf("KillExecutor", worker).length, 1);
  assertEquals(harness.sentOf("ApplicationRemoved"), []);
});

Deno.test("master: what an ended application had goes to the next one at once", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const first = harness.registerApp({ driver: driverAt(1) });
  const second = harness.registerApp({ driver: driverAt(2) });
  assertEquals(harness.app(second).coresGranted, 0);
  harness.tell({ type: "UnregisterApplication", appId: first.id });
  assertEquals(harness.app(second).coresGranted, 10);
  assertEquals(
    harness.sentOf("LaunchExecutor", worker).map(({ appId }) => appId),
    [first.id, second.id],
  );
});

Deno.test("master: a driver may register again once its application has ended", () => {
  const harness = new MasterHarness();
  const first = harness.registerApp();
  harness.tell({ type: "UnregisterApplication", appId: first.id });
  const second = harness.registerApp();
  assertEquals(harness.state().activeApps.map(({ id }) => id), [second.id]);
});

Deno.test("master: an application that is not there can unregister in vain", () => {
  const harness = new MasterHarness();
  harness.tell({ type: "UnregisterApplication", appId: "nobody" });
  assertEquals(harness.sent, []);
});

Deno.test("master: a tenth of the ended applications makes room for one more", () => {
  const harness = new MasterHarness({
    "spark.deploy.retainedApplications": "20",
  });
  const kept = () => harness.state().completedApps.map(({ name }) => name);
  const run = (name: string) => {
    const app = harness.registerApp({ name });
    harness.tell({ type: "UnregisterApplication", appId: app.id });
  };
  for (let n = 0; n < 20; n++) run(`app${n}`);
  assertEquals([kept().length, kept()[0]], [20, "app0"]);
  run("app20");
  assertEquals([kept().length, kept()[0], kept().at(-1)], [
    19,
    "app2",
    "app20",
  ]);
});

Deno.test("master: of few ended applications one at a time makes room", () => {
  const harness = new MasterHarness({
    "spark.deploy.retainedApplications": "2",
  });
  for (const name of ["a", "b", "c"]) {
    const app = harness.registerApp({ name });
    harness.tell({ type: "UnregisterApplication", appId: app.id });
  }
  assertEquals(harness.state().completedApps.map(({ name }) => name), [
    "b",
    "c",
  ]);
});

Deno.test("master: its state tells of its applications", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp({
    name: "count",
    maxCores: 4,
    coresPerExecutor: 2,
  });
  harness.report(app.id, 0, "RUNNING");
  const executor = {
    workerId: worker.id,
    cores: 2,
    memory: 128,
    resourceProfileId: 0,
  };
  assertEquals(harness.app(app), {
    id: app.id,
    name: "count",
    user: "someone",
    startTime: START,
    endTime: null,
    state: "RUNNING",
    coresGranted: 4,
    memoryPerExecutor: 128,
    executors: [
      { id: 0, ...executor, state: "RUNNING" },
      { id: 1, ...executor, state: "LAUNCHING" },
    ],
    removedExecutors: [],
  });
  const { type, host, port, status } = harness.state();
  assertEquals({ type, host, port, status }, {
    type: "MasterStateResponse",
    host: "master",
    port: 7077,
    status: "ALIVE",
  });
});

Deno.test("master: an ask of what is only sent fails, and so does an unknown one", () => {
  const harness = new MasterHarness();
  const ask = (message: unknown) =>
    harness.handle({
      type: "message",
      message: message as { type: "UnregisterApplication"; appId: string },
      sender: driverAt(1).address,
      reply: 7,
    }).filter(({ type }) => type === "reply" || type === "replyFailure");
  for (
    const message of [
      { type: "UnregisterApplication", appId: "nobody" },
      { type: "Nonsense" },
      {},
    ]
  ) {
    const [failure, ...rest] = ask(message);
    assertEquals(rest, []);
    assertEquals(failure.type, "replyFailure");
  }
});
