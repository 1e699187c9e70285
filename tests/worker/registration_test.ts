import { assert, assertEquals } from "@std/assert";
import {
  MASTER,
  OTHER_MASTER,
  registered,
  WORKER,
  WorkerHarness,
} from "./harness.ts";

const BOTH = ["master:7077", "standby:7077"];

function worker(conf: Record<string, string> = {}, registrationFactor = 1) {
  return new WorkerHarness(conf, {
    masters: [MASTER, OTHER_MASTER],
    registrationFactor,
  });
}

Deno.test("worker: at the start it registers with every master given", () => {
  const w = worker().handle({ type: "start" });
  assertEquals(w.dialled(), BOTH);
  assertEquals(w.told("RegisterWorker")[1].message, {
    type: "RegisterWorker",
    id: "worker-1",
    host: "worker",
    port: 4000,
    worker: { name: "Worker", address: WORKER },
    cores: 8,
    memory: 8_192,
    workerWebUiUrl: "",
    masterAddress: OTHER_MASTER,
    resources: {},
  });
  assertEquals([...w.timers], [["registration", 10_000]]);
});

Deno.test("worker: 6 attempts about 10 s apart and 10 more about 60 s apart, then it exits 1", () => {
  const w = worker({}, 0.5).handle({ type: "start" });
  const pauses = [w.timers.get("registration")];
  for (let attempt = 1; attempt <= 16; attempt++) {
    w.fire("registration");
    assertEquals(w.dialled(), BOTH, `attempt ${attempt}`);
    pauses.push(w.timers.get("registration"));
  }
  const seconds = (n: number, count: number) => Array(count).fill(n * 1_000);
  assertEquals(pauses, [...seconds(5, 6), ...seconds(30, 11)]);
  w.fire("registration");
  assertEquals(w.dialled(), []);
  assertEquals(w.of("exit").map(({ code }) => code), [1]);
});

Deno.test("worker: the numbers of attempts are settings, and the first is capped by the whole", () => {
  const w = worker({
    "spark.worker.initialRegistrationRetries": "9",
    "spark.worker.maxRegistrationRetries": "2",
  }).handle({ type: "start" });
  w.fire("registration");
  assertEquals(w.timers.get("registration"), 10_000);
  w.fire("registration");
  assertEquals(w.of("exit"), []);
  w.fire("registration");
  assertEquals(w.of("exit").length, 1);
});

Deno.test("worker: once registered it sends what runs here, and heartbeats from then on", () => {
  const w = worker().register();
  assertEquals(w.timers.get("registration"), undefined);
  assertEquals(w.timers.get("heartbeat"), 15_000);
  assertEquals(w.timers.get("cleanup"), 1_800_000);
  const heartbeat = {
    type: "Heartbeat" as const,
    workerId: "worker-1",
    worker: { name: "Worker", address: WORKER },
  };
  assertEquals(w.told("Heartbeat").map(({ message }) => message), [heartbeat]);
  assertEquals(w.told("WorkerLatestState").map(({ message }) => message), [{
    type: "WorkerLatestState",
    registration: 1,
    id: "worker-1",
    executors: [],
    driverIds: [],
  }]);
  w.fire("heartbeat");
  assertEquals(w.told("Heartbeat").length, 1);
  assertEquals(w.timers.get("heartbeat"), 15_000);
});

// The master takes for lost what the latest state does not name: so what ended
// while there was no master must have been told before, with its exit code.
Deno.test("worker: registered again it tells what ended meanwhile, and only then what runs", () => {
  const w = worker().register().launch(0).answerAll().launch(1).answerAll();
  w.handle({ type: "disconnected", address: MASTER });
  w.change(0, "EXITED", { exitStatus: 1 });
  assertEquals(w.of("ask"), []);
  w.receive(registered({ registration: 7 }));
  assertEquals(
    w.effects.flatMap((effect) =>
      effect.type === "send" || effect.type === "ask"
        ? [effect.message.type]
        : []
    ),
    ["ExecutorStateChanged", "WorkerLatestState"],
  );
  const [{ message }] = w.told("WorkerLatestState");
  assertEquals(message.registration, 7);
  assertEquals(message.executors.map(({ execId }) => execId), [1]);
});

// WorkerSuite (SPARK-54312)
Deno.test("worker: a second RegisteredWorker doesn't double heartbeats and clean-ups", () => {
  const w = worker();
  w.handle({ type: "start" });
  assertEquals([...w.timers.keys()], ["registration"]);
  w.receive(registered());
  assertEquals([...w.timers.keys()], ["heartbeat", "cleanup"]);
  w.receive(registered({ duplicate: true }));
  assertEquals(w.of("setTimer"), []);
  assertEquals(w.told("Heartbeat"), []);
  assertEquals(w.told("WorkerLatestState").length, 1);
  assertEquals(w.complaints(), [
    "Duplicate registration at master spark://master:7077",
  ]);
});

Deno.test("worker: no clean-up where it is turned off", () => {
  const w = worker({ "spark.worker.cleanup.enabled": "false" }).register();
  assertEquals([...w.timers.keys()], ["heartbeat"]);
});

Deno.test("worker: a failed registration ends it with 1, but not once it was registered", () => {
  const failure = { type: "RegisterWorkerFailed", message: "no" } as const;
  const fresh = worker().handle({ type: "start" }).receive(failure);
  assertEquals(fresh.of("exit"), [{
    type: "exit",
    code: 1,
    reason: "Worker registration failed: no",
  }]);
  const known = worker().register();
  known.handle({ type: "disconnected", address: MASTER });
  known.receive(failure);
  assertEquals(known.effects, []);
});

Deno.test("worker: a master in standby changes nothing", () => {
  const w = worker().handle({ type: "start" });
  w.receive({ type: "MasterInStandby" }, OTHER_MASTER);
  assertEquals(w.effects, []);
  assertEquals([...w.timers.keys()], ["registration"]);
});

Deno.test("worker: after its master is lost it tries that one only, and one attempt is pending", () => {
  const w = worker().register();
  w.handle({ type: "disconnected", address: MASTER });
  assertEquals(w.dialled(), BOTH);
  assertEquals(w.timers.get("registration"), 10_000);
  w.handle({ type: "disconnected", address: MASTER });
  assertEquals(w.dialled(), []);
  w.receive({ type: "ReconnectWorker", masterUrl: "spark://master:7077" });
  assertEquals(w.dialled(), []);
  w.fire("registration");
  assertEquals(w.dialled(), ["master:7077"]);
  w.fire("heartbeat");
  assertEquals(w.told("Heartbeat"), [], "nobody hears it");
  w.receive(registered({ duplicate: true }));
  assertEquals(w.timers.get("registration"), undefined);
  w.fire("heartbeat");
  assertEquals(w.told("Heartbeat").length, 1);
});

Deno.test("worker: another process's disconnect is none of its business", () => {
  const w = worker().register();
  w.handle({ type: "disconnected", address: OTHER_MASTER });
  assertEquals(w.effects, []);
});

Deno.test("worker: attempts are counted anew after each loss", () => {
  const w = worker({ "spark.worker.maxRegistrationRetries": "2" }).register();
  for (let loss = 0; loss < 3; loss++) {
    w.handle({ type: "disconnected", address: MASTER });
    w.fire("registration").fire("registration");
    assertEquals(w.dialled(), ["master:7077"]);
    w.receive(registered());
  }
});

Deno.test("worker: ReconnectWorker makes it register again", () => {
  const w = worker().register();
  w.receive({ type: "ReconnectWorker", masterUrl: "spark://master:7077" });
  assertEquals(w.dialled(), BOTH);
});

Deno.test("worker: it answers where it reached the master, and knows it by the name it gives itself", () => {
  const reachedAt = { host: "localhost2", port: 10_000 };
  const w = worker().register({ masterAddress: reachedAt });
  assertEquals(w.told("Heartbeat")[0].to.address, reachedAt);
  assertEquals(w.core.describe().masterUrl, "spark://master:7077");
  w.launch(0);
  assertEquals(w.core.describe().coresUsed, 2);
  for (const address of [MASTER, reachedAt]) {
    const other = worker().register({ masterAddress: reachedAt });
    other.handle({ type: "disconnected", address });
    assert(other.timers.has("registration"));
  }
});

Deno.test("worker: preferConfiguredMasterAddress decides where a lost master is dialled", () => {
  const reachedAt = { host: "localhost2", port: 10_000 };
  for (
    const [prefer, expected] of [
      ["false", "master:7077"],
      ["true", "localhost2:10000"],
    ]
  ) {
    const w = worker({ "spark.worker.preferConfiguredMasterAddress": prefer })
      .register({ masterAddress: reachedAt });
    w.handle({ type: "disconnected", address: MASTER }).fire("registration");
    assertEquals(w.dialled(), [expected]);
  }
});

Deno.test("worker: it tells a new master what runs here, and obeys that one from then on", () => {
  const w = worker().register().launch(3);
  w.handle({ type: "disconnected", address: MASTER });
  const master = { name: "Master", address: OTHER_MASTER };
  w.receive({ type: "MasterChanged", master, masterWebUiUrl: "" });
  assertEquals(w.told("WorkerSchedulerStateResponse"), [{
    to: master,
    message: {
      type: "WorkerSchedulerStateResponse",
      id: "worker-1",
      execResponses: [{
        desc: {
          appId: "app-1",
          execId: 3,
          resourceProfileId: 0,
          cores: 2,
          memory: 1_024,
          state: "RUNNING",
        },
        resources: {},
      }],
      driverResponses: [],
    },
  }]);
  assertEquals(w.timers.get("registration"), undefined);
  assertEquals(w.core.describe().masterUrl, "spark://standby:7077");
  w.fire("heartbeat");
  assertEquals(w.told("Heartbeat")[0].to, master);
});

Deno.test("worker: a new master that means an earlier process here is registered with", () => {
  const w = worker().handle({ type: "start" });
  const master = { name: "Master", address: OTHER_MASTER };
  w.receive({ type: "MasterChanged", master, masterWebUiUrl: "" });
  assertEquals(w.dialled(), ["standby:7077"]);
  assertEquals(w.told("WorkerSchedulerStateResponse"), []);
  assert(w.timers.has("registration"), "it goes on trying");
});

Deno.test("worker: an unknown message is refused to those who ask", () => {
  const w = worker().register();
  const message = { type: "Nonsense" } as unknown as {
    type: "MasterInStandby";
  };
  w.handle({ type: "message", message, sender: MASTER, reply: 5 });
  assertEquals(w.effects, [{
    type: "replyFailure",
    to: 5,
    error: "The worker takes no Nonsense.",
  }]);
});
