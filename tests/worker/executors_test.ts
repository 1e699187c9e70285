import { assert, assertEquals } from "@std/assert";
import {
  launchExecutor,
  MASTER,
  MASTER_URL,
  registered,
  WorkerHarness,
} from "./harness.ts";

const killExecutor = (execId: number, masterUrl = MASTER_URL) =>
  ({ type: "KillExecutor", masterUrl, appId: "app-1", execId }) as const;
const finishApp = (id = "app-1") =>
  ({ type: "ApplicationFinished", id }) as const;

function worker(conf: Record<string, string> = {}): WorkerHarness {
  return new WorkerHarness(conf).register();
}

function used(w: WorkerHarness): [number, number] {
  const { coresUsed, memoryUsed } = w.core.describe();
  return [coresUsed, memoryUsed];
}

/** What the master was told of executors' states. */
function reports(w: WorkerHarness): string[] {
  return w.told("ExecutorStateChanged").map(({ message: m }) =>
    [m.appId, m.execId, m.state, m.message, m.exitStatus].join(" ")
  );
}

Deno.test("worker: it launches what the active master asks for, and counts it", () => {
  const w = worker().receive(launchExecutor(0, { cores: 3, memory: 2_000 }));
  assertEquals(w.of("launchExecutor").length, 1);
  const { type: _, masterUrl: __, ...asked } = launchExecutor(0, {
    cores: 3,
    memory: 2_000,
  });
  assertEquals(w.of("launchExecutor")[0], { type: "launchExecutor", ...asked });
  assertEquals(used(w), [3, 2_000]);
  assertEquals(reports(w), [], "there is nothing to tell yet");
  w.change(0, "RUNNING", { pid: 77 });
  assertEquals(reports(w), ["app-1 0 RUNNING  "]);
  assertEquals(
    w.core.describe().executors.map(({ pid, state, appName }) => [
      pid,
      state,
      appName,
    ]),
    [[77, "RUNNING", "word count"]],
  );
});

Deno.test("worker: it obeys nobody but the active master", () => {
  const strange = "spark://strange:7077";
  const w = worker().receive(launchExecutor(0, { masterUrl: strange }));
  assertEquals(w.of("launchExecutor"), []);
  assertEquals(w.complaints(), [
    `Invalid Master (${strange}) attempted to launch executor.`,
  ]);
  w.launch(0).receive(killExecutor(0, strange));
  assertEquals(w.of("killExecutor"), []);
  assertEquals(w.complaints().length, 1);
  const unregistered = new WorkerHarness().handle({ type: "start" });
  unregistered.receive(launchExecutor(0, { masterUrl: "" }));
  assertEquals(unregistered.of("launchExecutor"), []);
});

Deno.test("worker: an executor that it has isn't launched a second time", () => {
  const w = worker().launch(0).receive(launchExecutor(0));
  assertEquals(w.of("launchExecutor"), []);
  assertEquals(used(w), [2, 1_024]);
});

Deno.test("worker: a launch that fails leaves nothing counted, and the master learns why", () => {
  const w = worker().receive(launchExecutor(4));
  w.handle({
    type: "executorLaunchFailed",
    appId: "app-1",
    execId: 4,
    error: "Failed to create directory /w/app-1/4",
  });
  assertEquals(used(w), [0, 0]);
  assertEquals(w.core.describe().finishedExecutors, []);
  assertEquals(reports(w), [
    "app-1 4 FAILED Failed to create directory /w/app-1/4 ",
  ]);
});

Deno.test("worker: what an executor held is given back when its process is gone, not when it is killed", () => {
  const w = worker().launch(0).receive(killExecutor(0));
  assertEquals(w.of("killExecutor"), [{
    type: "killExecutor",
    appId: "app-1",
    execId: 0,
    reason: "requested",
  }]);
  assertEquals(used(w), [2, 1_024]);
  w.handle({ type: "executorOrphaned", appId: "app-1", execId: 0 });
  assertEquals(used(w), [2, 1_024]);
  assert(w.complaints()[0].includes("likely be orphaned"));
  w.change(0, "KILLED", { message: "interrupted", exitStatus: 143 });
  assertEquals(used(w), [0, 0]);
  assertEquals(reports(w), ["app-1 0 KILLED interrupted 143"]);
});

Deno.test("worker: killing an executor that it hasn't is a line in the log", () => {
  const w = worker().receive(killExecutor(9));
  assertEquals(w.effects, [{
    type: "log",
    level: "info",
    message: "Asked to kill unknown executor app-1/9",
  }]);
});

// WorkerSuite
Deno.test("worker: of ended executors the newest are kept", () => {
  const w = worker({ "spark.worker.ui.retainedExecutors": "2" });
  for (let id = 0; id < 5; id++) w.launch(id);
  const counts = [];
  for (let id = 0; id < 5; id++) {
    w.change(id, "EXITED", { exitStatus: 0 });
    const { executors, finishedExecutors } = w.core.describe();
    counts.push([executors.length, finishedExecutors.length]);
  }
  assertEquals(counts, [[4, 1], [3, 2], [2, 2], [1, 2], [0, 2]]);
  assertEquals(
    w.core.describe().finishedExecutors.map(({ execId }) => execId),
    [3, 4],
  );
});

Deno.test("worker: ended executors go a tenth of the limit at a time", () => {
  const w = worker({ "spark.worker.ui.retainedExecutors": "20" });
  for (let id = 0; id < 21; id++) {
    w.launch(id, { cores: 0, memory: 0 }).change(id, "EXITED");
  }
  assertEquals(w.core.describe().finishedExecutors.length, 19);
});

Deno.test("worker: an application's directories go once it has ended and nothing of it runs", () => {
  const w = worker().launch(0).launch(1).receive(finishApp());
  assertEquals(w.of("removeAppDirs"), []);
  w.change(0, "EXITED");
  assertEquals(w.of("removeAppDirs"), []);
  w.change(1, "KILLED");
  assertEquals(w.of("removeAppDirs"), [{
    type: "removeAppDirs",
    appId: "app-1",
  }]);
  w.launch(2, { appId: "app-2" }).change(2, "EXITED", { appId: "app-2" });
  assertEquals(w.of("removeAppDirs"), [], "app-2 goes on elsewhere");
  w.receive(finishApp("app-2"));
  assertEquals(w.of("removeAppDirs").length, 1);
  w.receive(launchExecutor(5)).receive(finishApp()).handle({
    type: "executorLaunchFailed",
    appId: "app-1",
    execId: 5,
    error: "no",
  });
  assertEquals(w.of("removeAppDirs").length, 1);
});

Deno.test("worker: the work directory is cleaned after each interval", () => {
  const w = worker({
    "spark.worker.cleanup.interval": "60",
    "spark.worker.cleanup.appDataTtl": "3600",
  });
  assertEquals(w.timers.get("cleanup"), 60_000);
  w.fire("cleanup");
  assertEquals(w.of("cleanWorkDir"), [{
    type: "cleanWorkDir",
    ttl: 3_600_000,
  }]);
  assertEquals(w.timers.get("cleanup"), 60_000);
});

Deno.test("worker: without its master it keeps its executors", () => {
  const w = worker().launch(0);
  w.handle({ type: "disconnected", address: MASTER });
  for (let i = 0; i < 16; i++) w.fire("registration");
  assertEquals(w.of("killExecutor"), []);
  w.receive(registered());
  assertEquals(
    w.told("WorkerLatestState")[0].message.executors.map((e) => e.execId),
    [0],
  );
});

Deno.test("worker: it describes itself to those who ask", () => {
  const w = worker().launch(0).launch(1).change(0, "EXITED");
  const message = { type: "RequestWorkerState" } as const;
  w.handle({ type: "message", message, sender: MASTER, reply: 8 });
  const info = (execId: number, state: string, pid: number | null) => ({
    appId: "app-1",
    appName: "word count",
    execId,
    resourceProfileId: 0,
    cores: 2,
    memory: 1_024,
    state,
    pid,
  });
  assertEquals(w.of("reply") as unknown[], [{
    type: "reply",
    to: 8,
    value: {
      type: "WorkerStateResponse",
      id: "worker-1",
      masterUrl: MASTER_URL,
      cores: 8,
      coresUsed: 2,
      memory: 8_192,
      memoryUsed: 1_024,
      executors: [info(1, "RUNNING", 101)],
      finishedExecutors: [info(0, "EXITED", null)],
    },
  }]);
});

Deno.test("worker: a state that the master didn't get is told again, five times in all, then the worker exits 1", () => {
  const w = worker().launch(0);
  for (let attempt = 1; attempt < 5; attempt++) {
    w.failAll();
    assertEquals(w.of("ask"), []);
    assertEquals(w.timers.get("state:app-1/0"), 120_000);
    w.fire("state:app-1/0");
    assertEquals(reports(w), ["app-1 0 RUNNING  "], `attempt ${attempt}`);
  }
  w.failAll();
  assertEquals(w.of("killExecutor").map(({ reason }) => reason), ["shutdown"]);
  w.change(0, "FAILED", { message: "Worker shutting down", exitStatus: 143 });
  w.failAll();
  assertEquals(w.of("exit").map(({ code }) => code), [1]);
});

Deno.test("worker: after a timeout a state is told again at once", () => {
  const w = worker().launch(0).failAll(true);
  assertEquals(reports(w), ["app-1 0 RUNNING  "]);
  w.answerAll();
  w.change(0, "EXITED").failAll();
  assertEquals(w.timers.get("state:app-1/0"), 120_000);
});

Deno.test("worker: a later state takes the place of one that wasn't confirmed", () => {
  const w = worker().launch(0);
  const [{ token }] = w.of("ask");
  w.change(0, "EXITED", { message: "done", exitStatus: 0 });
  assertEquals(reports(w), ["app-1 0 EXITED done 0"]);
  w.handle({ type: "askFailed", token, error: "late", timedOut: true });
  assertEquals(w.effects, []);
});

Deno.test("worker: what happened without a master is told to the next one, at once", () => {
  const w = worker().launch(0).launch(1).failAll();
  assert(w.timers.has("state:app-1/1"));
  w.handle({ type: "disconnected", address: MASTER });
  w.change(0, "EXITED", { message: "done", exitStatus: 0 });
  assertEquals(reports(w), []);
  w.fire("state:app-1/1");
  assertEquals(reports(w), [], "there is nobody to be told");
  w.receive(registered());
  assertEquals(reports(w), ["app-1 1 RUNNING  ", "app-1 0 EXITED done 0"]);
  w.answerAll().receive(registered());
  assertEquals(reports(w), []);
});

Deno.test("worker: shutting down it kills its executors, tells of their end, and exits", () => {
  const w = worker().launch(0).answerAll().launch(1).answerAll();
  const reason = "SIGTERM";
  w.handle({ type: "shutdown", reason });
  assertEquals(
    w.of("killExecutor").map(({ execId, reason }) => [execId, reason]),
    [[0, "shutdown"], [1, "shutdown"]],
  );
  assertEquals(w.of("exit"), []);
  w.receive(launchExecutor(2));
  assertEquals(w.of("launchExecutor"), []);
  w.change(0, "FAILED").answerAll();
  assertEquals(w.of("exit"), []);
  w.change(1, "FAILED");
  assertEquals(w.of("exit"), [], "the master is yet to confirm");
  assertEquals(w.timers.get("farewell"), 5_000);
  w.answerAll();
  assertEquals(w.of("exit"), [{ type: "exit", code: 0, reason }]);
  assertEquals([...w.timers.keys()], []);
  assertEquals(w.receive(launchExecutor(3)).effects, []);
});

Deno.test("worker: a silent master or an orphan doesn't hold up its end", () => {
  const silent = worker().launch(0).answerAll();
  silent.handle({ type: "shutdown", reason: "SIGTERM" });
  silent.change(0, "FAILED").fire("farewell");
  assertEquals(silent.of("exit").length, 1);
  const orphaned = worker().launch(0).answerAll();
  orphaned.handle({ type: "shutdown", reason: "SIGTERM" });
  orphaned.handle({ type: "executorOrphaned", appId: "app-1", execId: 0 });
  assertEquals(orphaned.of("exit").length, 1);
});

Deno.test("worker: with nothing to end it ends at once, connected or not", () => {
  const w = new WorkerHarness().handle({ type: "start" });
  w.handle({ type: "shutdown", reason: "SIGINT" });
  assertEquals(w.of("exit").length, 1);
  assertEquals([...w.timers.keys()], []);
});
