import { assertEquals, assertMatch } from "@std/assert";
import type { ExecutorReport } from "../../lib/messages/deploy.ts";
import type { MasterState } from "../../lib/messages/states.ts";
import {
  driverAt,
  MASTER_ADDRESS,
  MasterHarness,
  workerRegistration,
} from "./harness.ts";

const TIMEOUT = 60_000;

function report(appId: string, execId: number): ExecutorReport {
  return {
    appId,
    execId,
    resourceProfileId: 0,
    cores: 1,
    memory: 128,
    state: "RUNNING",
  };
}

Deno.test("master: a worker that registers is answered and shown", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker({ cores: 4, memory: 2048 });
  assertEquals(harness.sentOf("RegisteredWorker", worker), [{
    type: "RegisteredWorker",
    master: { address: MASTER_ADDRESS, name: "Master" },
    masterWebUiUrl: "http://master:8080",
    masterAddress: MASTER_ADDRESS,
    duplicate: false,
    registration: 1,
  }]);
  assertEquals(harness.worker(worker), {
    id: worker.id,
    host: "host",
    port: 10_001,
    webUiAddress: "http://host:8081",
    cores: 4,
    coresUsed: 0,
    memory: 2048,
    memoryUsed: 0,
    state: "ALIVE",
    lastHeartbeat: harness.now,
  });
});

// RecoverySuite 46353
Deno.test("master: a worker that registers with a standby master is only told so", () => {
  const harness = new MasterHarness({}, { initialState: "STANDBY" });
  const worker = harness.registerWorker();
  assertEquals(harness.sent.map(({ message }) => message.type), [
    "MasterInStandby",
  ]);
  assertEquals(harness.sentOf("MasterInStandby", worker).length, 1);
  assertEquals(harness.state().workers, []);
  assertEquals(harness.core.tables.workerById.size, 0);
});

// RecoverySuite 46353
Deno.test("master: a recovering master takes a new worker in", () => {
  const harness = new MasterHarness({}, { initialState: "RECOVERING" });
  const worker = harness.registerWorker();
  assertEquals(harness.sentOf("RegisteredWorker", worker)[0].duplicate, false);
  assertEquals(harness.sentOf("MasterInStandby"), []);
  assertEquals(harness.state().workers.length, 1);
  assertEquals(harness.core.tables.workerById.size, 1);
});

// RecoverySuite 46353
Deno.test("master: a recovering master knows an UNKNOWN worker that registers again", () => {
  const harness = new MasterHarness({}, { initialState: "RECOVERING" });
  const worker = harness.registerWorker();
  harness.core.tables.workerById.get(worker.id)!.state = "UNKNOWN";
  harness.clear();
  harness.registerWorker();
  assertEquals(
    harness.sentOf("RegisteredWorker").map(({ duplicate }) => duplicate),
    [true],
  );
  assertEquals(harness.core.state satisfies MasterState, "RECOVERING");
  assertEquals(harness.worker(worker).state, "ALIVE");
});

// RecoverySuite 20529
Deno.test("master: a worker hears back the master address that it dialled", () => {
  const harness = new MasterHarness();
  const masterAddress = { host: "localhost2", port: 10_000 };
  harness.registerWorker({ masterAddress });
  assertEquals(
    harness.sentOf("RegisteredWorker")[0].masterAddress,
    masterAddress,
  );
});

Deno.test("master: a known worker id is a duplicate and changes nothing", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker({ cores: 4 });
  harness.advance(1_000);
  const before = harness.worker(worker);
  harness.registerWorker({ cores: 8 });
  assertEquals(
    harness.sentOf("RegisteredWorker").map(({ duplicate }) => duplicate),
    [false, true],
  );
  assertEquals(harness.worker(worker), before);
});

Deno.test("master: another worker at the address of a live one is refused", () => {
  const harness = new MasterHarness();
  harness.registerWorker({ id: "first" });
  harness.clear();
  const second = harness.registerWorker({ id: "second" });
  assertEquals(harness.sentOf("RegisterWorkerFailed", second), [{
    type: "RegisterWorkerFailed",
    message: "Attempted to re-register worker at same address: host:10001",
  }]);
  assertEquals(harness.sentOf("RegisteredWorker"), []);
  assertEquals(harness.state().workers.map(({ id }) => id), ["first"]);
});

Deno.test("master: another worker at the address of an UNKNOWN one replaces it", () => {
  const harness = new MasterHarness({}, { initialState: "RECOVERING" });
  const first = harness.registerWorker({ id: "first" });
  const app = harness.registerApp();
  harness.core.tables.workerById.get(first.id)!.state = "UNKNOWN";
  const second = harness.registerWorker({ id: "second" });
  assertEquals(harness.sentOf("WorkerRemoved", app), [{
    type: "WorkerRemoved",
    id: "first",
    host: "host",
    message: "Worker replaced by a new worker with same address",
  }]);
  assertEquals(harness.worker(first).state, "DEAD");
  assertEquals(harness.worker(second).state, "ALIVE");
});

Deno.test("master: a worker drops the dead one of its host and port from the display", () => {
  const harness = new MasterHarness();
  const first = harness.registerWorker({ id: "first" });
  const other = harness.registerWorker({ id: "other", port: 10_002 });
  harness.disconnect(first.endpoint.address);
  harness.disconnect(other.endpoint.address);
  harness.registerWorker({ id: "second" });
  assertEquals(
    harness.state().workers.map(({ id, state }) => [id, state]),
    [["other", "DEAD"], ["second", "ALIVE"]],
  );
});

for (const cores of [0, -1, 1.5, NaN, 100_001]) {
  Deno.test(`master: a worker that offers ${cores} cores is refused`, () => {
    const harness = new MasterHarness();
    const worker = harness.registerWorker({ cores });
    assertEquals(harness.sentOf("RegisterWorkerFailed", worker).length, 1);
    assertEquals(harness.state().workers, []);
  });
}

// MasterSuite 13604
Deno.test("master: executors that a worker reports and the master does not know are killed", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker({ memory: 128 });
  harness.tell({
    type: "WorkerLatestState",
    registration: 1,
    id: worker.id,
    executors: [report("0", 0), report("1", 1), report("2", 2)],
    driverIds: [],
  });
  assertEquals(
    harness.sentOf("KillExecutor", worker),
    ["0", "1", "2"].map((appId, execId) => ({
      type: "KillExecutor" as const,
      masterUrl: "spark://master:7077",
      appId,
      execId,
    })),
  );
});

Deno.test("master: a reported executor that the master knows goes on", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp();
  harness.tell({
    type: "WorkerLatestState",
    registration: 1,
    id: worker.id,
    executors: [report(app.id, 0), report(app.id, 7)],
    driverIds: [],
  });
  assertEquals(
    harness.sentOf("KillExecutor").map(({ execId }) => execId),
    [7],
  );
  assertEquals(harness.sentOf("ApplicationFinished"), []);
});

Deno.test("master: an executor that the master has on another worker is killed on this one", () => {
  const harness = new MasterHarness({ "spark.deploy.spreadOutApps": "false" });
  const app = harness.registerApp({ maxCores: 1 });
  const here = harness.registerWorker({ port: 1 });
  const there = harness.registerWorker({ port: 2 });
  assertEquals(harness.app(app).executors[0].workerId, here.id);
  harness.tell({
    type: "WorkerLatestState",
    registration: 1,
    id: there.id,
    executors: [report(app.id, 0)],
    driverIds: [],
  });
  assertEquals(harness.sentOf("KillExecutor", there).length, 1);
  assertEquals(harness.app(app).executors.length, 1);
});

Deno.test("master: a worker that comes back is told of the applications that ended meanwhile", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp();
  harness.disconnect(worker.endpoint.address);
  harness.tell({ type: "UnregisterApplication", appId: app.id });
  harness.registerWorker();
  harness.clear();
  harness.tell({
    type: "WorkerLatestState",
    registration: 1,
    id: worker.id,
    executors: [report(app.id, 0), report(app.id, 1)],
    driverIds: [],
  });
  assertEquals(harness.sentOf("KillExecutor", worker).length, 2);
  assertEquals(harness.sentOf("ApplicationFinished", worker), [
    { type: "ApplicationFinished", id: app.id },
  ]);
});

// Found by the simulation: the connection broke, and the worker had a new one
// before the master saw the old one end. A LaunchExecutor that went over the
// old one is lost, which "disconnected" never told.
Deno.test("master: an executor that its worker does not report after registering again is lost", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp({ maxCores: 4 });
  harness.registerWorker();
  const [{ registration }] = harness.sentOf("RegisteredWorker", worker)
    .slice(-1);
  harness.clear();
  harness.tell({
    type: "WorkerLatestState",
    registration,
    id: worker.id,
    executors: [],
    driverIds: [],
  });
  assertEquals(harness.sentOf("ExecutorUpdated", app), [{
    type: "ExecutorUpdated",
    id: 0,
    state: "LOST",
    message: `worker ${worker.id} does not run it`,
    exitStatus: null,
    workerHost: null,
  }]);
  assertEquals(
    harness.sentOf("LaunchExecutor", worker).map(({ execId }) => execId),
    [1],
  );
  assertEquals(harness.app(app).coresGranted, 4);
  assertEquals(harness.core.tables.applications.get(app.id)!.retryCount, 0);
});

Deno.test("master: an executor that was launched after the registration may still be on its way", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  harness.registerWorker();
  const app = harness.registerApp({ maxCores: 4 });
  const registrations = harness.sentOf("RegisteredWorker", worker)
    .map(({ registration }) => registration);
  assertEquals(registrations, [1, 2]);
  for (const registration of registrations) {
    harness.tell({
      type: "WorkerLatestState",
      registration,
      id: worker.id,
      executors: [],
      driverIds: [],
    });
  }
  assertEquals(harness.app(app).executors.map(({ id }) => id), [0]);
});

Deno.test("master: a report that follows an earlier registration drops nothing launched since", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp({ maxCores: 4 });
  harness.registerWorker();
  const latestState = (registration: number) =>
    harness.tell({
      type: "WorkerLatestState",
      registration,
      id: worker.id,
      executors: [],
      driverIds: [],
    });
  latestState(1);
  assertEquals(harness.app(app).executors.map(({ id }) => id), [0]);
  latestState(2);
  assertEquals(harness.app(app).executors.map(({ id }) => id), [1]);
});

Deno.test("master: the registrations of a worker that was lost and came back are numbered on", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  harness.disconnect(worker.endpoint.address);
  harness.registerWorker();
  harness.registerWorker({ port: 2 });
  assertEquals(
    harness.sentOf("RegisteredWorker").map(({ registration }) => registration),
    [1, 2, 3],
  );
});

Deno.test("master: the state of an unknown worker is only logged", () => {
  const harness = new MasterHarness();
  harness.tell({
    type: "WorkerLatestState",
    registration: 1,
    id: "nobody",
    executors: [report("0", 0)],
    driverIds: [],
  });
  assertEquals(harness.sent, []);
  assertMatch(harness.warnings().join(), /unknown worker nobody/);
});

Deno.test("master: a heartbeat keeps a worker alive", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  for (let n = 0; n < 20; n++) {
    harness.advance(TIMEOUT / 4);
    harness.heartbeat(worker);
  }
  assertEquals(harness.worker(worker).state, "ALIVE");
  assertEquals(harness.worker(worker).lastHeartbeat, harness.now);
});

Deno.test("master: a heartbeat of a worker that was given up asks it to register again", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  harness.disconnect(worker.endpoint.address);
  harness.clear();
  harness.heartbeat(worker);
  assertEquals(harness.sent.map(({ message }) => message), [
    { type: "ReconnectWorker", masterUrl: "spark://master:7077" },
  ]);
  assertEquals(harness.sentOf("ReconnectWorker", worker).length, 1);
});

// Found by the simulation: a worker stood still until the master had given it
// up and forgotten it, and its connection lived on. Spark's master only logs
// its heartbeats then, and it never finds back.
Deno.test("master: a heartbeat of a worker that was forgotten asks it to register again", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  harness.advance(30 * TIMEOUT);
  assertEquals(harness.state().workers, []);
  harness.clear();
  harness.heartbeat(worker);
  assertEquals(harness.sentOf("ReconnectWorker", worker), [
    { type: "ReconnectWorker", masterUrl: "spark://master:7077" },
  ]);
  assertMatch(harness.warnings().join(), /unknown worker/);
});

Deno.test("master: a heartbeat that comes to a standby master is only logged", () => {
  const harness = new MasterHarness({}, { initialState: "STANDBY" });
  const { id, worker } = workerRegistration();
  harness.tell({ type: "Heartbeat", workerId: id, worker });
  assertEquals(harness.sent, []);
  assertMatch(harness.warnings().join(), /unknown worker/);
});

Deno.test("master: a silent worker is lost after the timeout, not at it", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  harness.advance(TIMEOUT);
  assertEquals(harness.worker(worker).state, "ALIVE");
  harness.advance(TIMEOUT);
  assertEquals(harness.worker(worker).state, "DEAD");
  assertMatch(
    harness.warnings().join(),
    /Not receiving heartbeat for 60 seconds/,
  );
});

Deno.test("master: a dead worker is shown for 15 more timeouts", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  harness.advance(16 * TIMEOUT);
  assertEquals(harness.state().workers.map(({ state }) => state), ["DEAD"]);
  harness.advance(TIMEOUT);
  assertEquals(harness.state().workers, []);
});

Deno.test("master: the settings say when a worker is lost and for how long it is shown", () => {
  const harness = new MasterHarness({
    "spark.worker.timeout": "10",
    "spark.dead.worker.persistence": "1",
  });
  harness.registerWorker();
  harness.advance(20_000);
  assertEquals(harness.state().workers.map(({ state }) => state), ["DEAD"]);
  harness.advance(10_000);
  assertEquals(harness.state().workers, []);
});

Deno.test("master: a lost worker takes its executors along, and their drivers are told", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp({ maxCores: 4 });
  const idle = harness.registerApp({ driver: driverAt(2), memory: 4096 });
  const over = harness.registerApp({ driver: driverAt(3), memory: 4096 });
  harness.tell({ type: "UnregisterApplication", appId: over.id });
  harness.report(app.id, 0, "RUNNING");
  harness.clear();
  harness.disconnect(worker.endpoint.address);
  assertEquals(harness.sentOf("ExecutorUpdated"), [{
    type: "ExecutorUpdated",
    id: 0,
    state: "LOST",
    message: "worker lost: host:10001 got disassociated",
    exitStatus: null,
    workerHost: "host",
  }]);
  assertEquals(harness.sentOf("ExecutorUpdated", app).length, 1);
  const removed = {
    type: "WorkerRemoved",
    id: worker.id,
    host: "host",
    message: "host:10001 got disassociated",
  } as const;
  assertEquals(harness.sentOf("WorkerRemoved", app), [removed]);
  assertEquals(harness.sentOf("WorkerRemoved", idle), [removed]);
  assertEquals(harness.sentOf("WorkerRemoved", over), []);
  assertEquals(harness.app(app).executors, []);
  assertEquals(harness.app(app).coresGranted, 0);
  assertEquals(
    harness.app(app).removedExecutors.map(({ state }) => state),
    ["LOST"],
  );
  assertEquals(harness.worker(worker).coresUsed, 0);
});

Deno.test("master: what a lost worker ran is placed on another one at once", () => {
  const harness = new MasterHarness();
  const first = harness.registerWorker({ port: 1 });
  const app = harness.registerApp({ maxCores: 4 });
  const second = harness.registerWorker({ port: 2 });
  assertEquals(harness.sentOf("LaunchExecutor", second), []);
  harness.disconnect(first.endpoint.address);
  assertEquals(
    harness.sentOf("LaunchExecutor", second).map(({ execId, cores }) => [
      execId,
      cores,
    ]),
    [[1, 4]],
  );
  assertEquals(harness.app(app).coresGranted, 4);
});

Deno.test("master: of workers that time out together none gets what the others lost", () => {
  const harness = new MasterHarness();
  harness.registerWorker({ port: 1 });
  harness.registerWorker({ port: 2 });
  harness.registerApp({ maxCores: 4 });
  harness.advance(1_000);
  harness.clear();
  harness.advance(2 * TIMEOUT);
  assertEquals(harness.state().workers.map(({ state }) => state), [
    "DEAD",
    "DEAD",
  ]);
  assertEquals(harness.sentOf("LaunchExecutor"), []);
});

Deno.test("master: a connection that ends and was no worker's or driver's changes nothing", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const app = harness.registerApp();
  harness.clear();
  harness.disconnect({ host: "host", port: 4 });
  assertEquals(harness.sent, []);
  assertEquals(harness.worker(worker).state, "ALIVE");
  assertEquals(harness.app(app).state, "RUNNING");
});
