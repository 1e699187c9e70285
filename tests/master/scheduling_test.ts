import { assertEquals, assertMatch } from "@std/assert";
import {
  driverAt,
  MasterHarness,
  resourceProfile,
  type TestApp,
} from "./harness.ts";

function coresByPort(harness: MasterHarness): Record<number, number> {
  return Object.fromEntries(
    harness.state().workers.map(({ port, coresUsed }) => [port, coresUsed]),
  );
}

function countByProfile(
  harness: MasterHarness,
  app: TestApp,
  profiles: readonly number[],
): number[] {
  const { executors } = harness.app(app);
  return profiles.map((id) =>
    executors.filter(({ resourceProfileId }) => resourceProfileId === id).length
  );
}

Deno.test("master: executors are spread out, unless the settings say otherwise", () => {
  for (
    const [key, value, expected] of [
      ["spark.deploy.spreadOutApps", "true", { 1: 2, 2: 2 }],
      ["spark.deploy.spreadOutApps", "false", { 1: 0, 2: 4 }],
      ["spark.deploy.spreadOut", "false", { 1: 0, 2: 4 }],
    ] as const
  ) {
    const harness = new MasterHarness({ [key]: value });
    harness.registerWorker({ port: 1 });
    harness.registerWorker({ port: 2 });
    harness.registerApp({ maxCores: 4 });
    assertEquals(coresByPort(harness), expected, `${key}=${value}`);
  }
});

Deno.test("master: an application without a limit of its own takes the default cores", () => {
  const harness = new MasterHarness({ "spark.deploy.defaultCores": "3" });
  harness.registerWorker();
  const first = harness.registerApp({ driver: driverAt(1) });
  const second = harness.registerApp({ driver: driverAt(2), maxCores: 5 });
  assertEquals(harness.app(first).coresGranted, 3);
  assertEquals(harness.app(second).coresGranted, 5);
});

Deno.test("master: applications are served in the order in which they came", () => {
  const harness = new MasterHarness();
  const first = harness.registerApp({ driver: driverAt(1), maxCores: 8 });
  const second = harness.registerApp({ driver: driverAt(2), maxCores: 8 });
  const third = harness.registerApp({ driver: driverAt(3), maxCores: 8 });
  harness.registerWorker({ cores: 10 });
  assertEquals(
    [first, second, third].map((app) => harness.app(app).coresGranted),
    [8, 2, 0],
  );
});

Deno.test("master: an application that does not fit does not hold up the next", () => {
  const harness = new MasterHarness();
  const big = harness.registerApp({ driver: driverAt(1), memory: 4096 });
  const small = harness.registerApp({ driver: driverAt(2), memory: 512 });
  harness.registerWorker({ memory: 1024 });
  assertEquals(harness.app(big).executors, []);
  assertEquals(harness.app(small).executors.length, 1);
});

Deno.test("master: an executor that needs more cores than may be granted is not started", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  const app = harness.registerApp({ maxCores: 7, coresPerExecutor: 3 });
  assertEquals(harness.app(app).executors.map(({ cores }) => cores), [3, 3]);
  assertEquals(harness.app(app).coresGranted, 6);
});

Deno.test("master: each executor takes memory of its own", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker({ cores: 10, memory: 1024 });
  const app = harness.registerApp({ coresPerExecutor: 1, memory: 300 });
  assertEquals(harness.app(app).executors.length, 3);
  assertEquals(harness.worker(worker).memoryUsed, 900);
});

Deno.test("master: a worker that grows free later gives an application a second executor there", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker({ cores: 4 });
  const first = harness.registerApp({ driver: driverAt(1), maxCores: 2 });
  const second = harness.registerApp({ driver: driverAt(2) });
  harness.tell({ type: "UnregisterApplication", appId: first.id });
  assertEquals(harness.app(second).executors.map(({ cores }) => cores), [2, 2]);
  assertEquals(harness.worker(worker).coresUsed, 4);
});

Deno.test("master: only workers that are ALIVE are used", () => {
  for (const state of ["DECOMMISSIONED", "UNKNOWN"] as const) {
    const harness = new MasterHarness();
    const worker = harness.registerWorker();
    harness.core.tables.workerById.get(worker.id)!.state = state;
    harness.registerApp();
    assertEquals(harness.sentOf("LaunchExecutor"), []);
  }
});

Deno.test("master: it warns when the only application has no executor and no worker has room", () => {
  const harness = new MasterHarness();
  const warned = () => harness.warnings().join("\n");
  const app = harness.registerApp({ coresPerExecutor: 4, memory: 2048 });
  assertMatch(
    warned(),
    /app-\S+ gets no executor: none of the 0 workers .* \(4 cores, 2\.0 GiB\)/,
  );
  harness.clear();
  harness.registerWorker({ port: 1, cores: 3, memory: 4096 });
  assertMatch(warned(), /none of the 1 workers/);
  harness.clear();
  harness.registerWorker({ port: 2, cores: 4, memory: 4096 });
  assertEquals(harness.app(app).executors.length, 1);
  assertEquals(warned(), "");
});

Deno.test("master: it warns of no application that waits behind another or wants nothing", () => {
  const harness = new MasterHarness();
  harness.registerApp({ driver: driverAt(1), initialExecutorLimit: 0 });
  assertEquals(harness.warnings(), []);
  harness.registerApp({ driver: driverAt(2) });
  assertEquals(harness.warnings(), []);
});

// WorkerSelectionSuite
for (
  const [policy, spreadOut, filledUp] of [
    ["CORES_FREE_ASC", [10001, 10002], [10001]],
    ["cores_free_desc", [10002, 10003], [10003]],
    ["MEMORY_FREE_ASC", [10001, 10003], [10001]],
    ["WORKER_ID", [10001, 10002], [10001]],
  ] as const
) {
  Deno.test(`master: spark.deploy.workerSelectionPolicy=${policy} says which workers are used`, () => {
    for (
      const [spread, expected] of [["true", spreadOut], ["false", filledUp]]
    ) {
      const harness = new MasterHarness({
        "spark.deploy.workerSelectionPolicy": policy,
        "spark.deploy.spreadOutApps": spread as string,
      });
      harness.registerWorker({ port: 10001, cores: 5, memory: 1280 });
      harness.registerWorker({ port: 10002, cores: 6, memory: 5120 });
      harness.registerWorker({ port: 10003, cores: 7, memory: 3840 });
      harness.registerApp({ maxCores: 4, coresPerExecutor: 2 });
      assertEquals(
        harness.state().workers.filter(({ coresUsed }) => coresUsed > 0)
          .map(({ port }) => port).sort(),
        [...expected as readonly number[]],
      );
    }
  });
}

// ResourceProfilesSuite, ResourceProfilesMaxCoresSuite
for (
  const [suite, maxCores, expected] of [
    ["without a limit of cores", null, [1, 0, 0, 1, 2]],
    ["with at most 4 cores", 4, [1, 0, 0, 1, 1]],
  ] as const
) {
  Deno.test(`master: a resource profile that cannot be placed does not hold up later ones, ${suite}`, () => {
    const harness = new MasterHarness();
    for (const port of [1, 2, 3]) {
      harness.registerWorker({ port, cores: 2, memory: 512 });
    }
    const app = harness.registerApp({
      memory: 128,
      maxCores,
      initialExecutorLimit: 0,
    });
    assertEquals(harness.app(app).executors, []);
    const answer = harness.requestExecutors(
      app,
      [resourceProfile(0, 128), 1],
      [resourceProfile(1, 256, 3), 1],
      [resourceProfile(2, 1024, 1), 1],
      [resourceProfile(3, 256, 1), 1],
      [resourceProfile(4, 256, 1), 2],
    );
    assertEquals(answer, true);
    assertEquals(countByProfile(harness, app, [0, 1, 2, 3, 4]), [...expected]);
    const third = harness.app(app).executors.filter(({ resourceProfileId }) =>
      resourceProfileId === 3
    );
    assertEquals(third.map(({ cores, memory }) => [cores, memory]), [[1, 256]]);
    const launches = harness.sentOf("LaunchExecutor");
    assertEquals(
      launches.filter((launch) => launch.resourceProfileId === 3)
        .map(({ execId, cores, memory }) => [execId, cores, memory]),
      [[third[0].id, 1, 256]],
    );
    assertEquals(launches.length, harness.app(app).executors.length);
  });
}

// ResourceProfilesSuite
Deno.test("master: what a profile leaves open comes from the default one, but no custom resources", () => {
  const harness = new MasterHarness();
  const app = harness.registerApp({ memory: 128, coresPerExecutor: 4 });
  harness.requestExecutors(
    app,
    [{
      id: 1,
      coresPerExecutor: null,
      memoryPerExecutor: null,
      resourcesPerExecutor: [{ name: "fpga", amount: 2 }],
    }, 1],
    [{
      id: 2,
      coresPerExecutor: 2,
      memoryPerExecutor: 256,
      resourcesPerExecutor: [
        { name: "gpu", amount: 3 },
        { name: "fpga", amount: 3 },
      ],
    }, 1],
  );
  assertEquals(harness.core.tables.applications.get(app.id)!.profiles, [
    resourceProfile(0, 128, 4),
    {
      id: 1,
      coresPerExecutor: 4,
      memoryPerExecutor: 128,
      resourcesPerExecutor: [{ name: "fpga", amount: 2 }],
    },
    {
      id: 2,
      coresPerExecutor: 2,
      memoryPerExecutor: 256,
      resourcesPerExecutor: [
        { name: "fpga", amount: 3 },
        { name: "gpu", amount: 3 },
      ],
    },
  ]);
});

Deno.test("master: a profile of executors without cores is refused", () => {
  const harness = new MasterHarness();
  harness.registerWorker();
  const app = harness.registerApp({ initialExecutorLimit: 0 });
  assertEquals(
    harness.requestExecutors(app, [resourceProfile(0, 128), 1], [
      resourceProfile(1, 128, 0),
      1,
    ]),
    false,
  );
  assertEquals(harness.app(app).executors, []);
});

Deno.test("master: an application may have so many resource profiles and no more", () => {
  const harness = new MasterHarness();
  const app = harness.registerApp({ initialExecutorLimit: 0 });
  for (let id = 1; id < 1_000; id++) {
    assertEquals(
      harness.requestExecutors(app, [resourceProfile(id, 1, 1), 0]),
      true,
    );
  }
  assertEquals(
    harness.requestExecutors(app, [resourceProfile(1_000, 1, 1), 0]),
    false,
  );
});
