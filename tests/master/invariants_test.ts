import { assertThrows } from "@std/assert";
import fc from "fast-check";
import { InvariantError } from "../../lib/master/invariant.ts";
import type { ExecutorState } from "../../lib/messages/states.ts";
import {
  appDescription,
  driverAt,
  MasterHarness,
  resourceProfile,
  workerRegistration,
} from "./harness.ts";

const STATES: readonly ExecutorState[] = [
  "LAUNCHING",
  "RUNNING",
  "KILLED",
  "FAILED",
  "LOST",
  "EXITED",
];

const small = fc.integer({ min: 0, max: 4 });

/** What may happen to a master, with small figures so that they meet. */
const happening = fc.oneof(
  fc.record({
    what: fc.constant("registerWorker" as const),
    id: small,
    port: small,
    cores: fc.integer({ min: 0, max: 8 }),
    memory: fc.integer({ min: 0, max: 1_024 }),
  }),
  fc.record({
    what: fc.constant("registerApp" as const),
    port: small,
    maxCores: fc.option(fc.integer({ min: 0, max: 12 })),
    coresPerExecutor: fc.option(fc.integer({ min: 0, max: 4 })),
    memory: fc.integer({ min: 0, max: 512 }),
    initialExecutorLimit: fc.option(small),
  }),
  fc.record({
    what: fc.constant("report" as const),
    app: small,
    execId: fc.integer({ min: 0, max: 12 }),
    state: fc.constantFrom(...STATES),
    exitStatus: fc.option(fc.constantFrom(0, 1)),
  }),
  fc.record({
    what: fc.constant("request" as const),
    app: small,
    profile: small,
    cores: fc.option(fc.integer({ min: 1, max: 3 })),
    total: small,
  }),
  fc.record({
    what: fc.constant("kill" as const),
    app: small,
    ids: fc.array(small, { maxLength: 3 }),
  }),
  fc.record({ what: fc.constant("unregister" as const), app: small }),
  fc.record({
    what: fc.constant("disconnect" as const),
    host: fc.constantFrom("host", "driver"),
    port: small,
  }),
  fc.record({
    what: fc.constant("heartbeat" as const),
    id: small,
    port: small,
  }),
  fc.record({
    what: fc.constant("latestState" as const),
    registration: fc.nat(20),
    id: small,
    app: small,
    execId: small,
  }),
  fc.record({
    what: fc.constant("advance" as const),
    seconds: fc.constantFrom(1, 30, 120, 1_100),
  }),
);

type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

function carryOut(harness: MasterHarness, happening: Happening): void {
  const worker = (id: number, port: number) =>
    workerRegistration({ id: `worker-${id}`, port });
  switch (happening.what) {
    case "registerWorker": {
      const { cores, memory } = happening;
      return harness.tell({
        ...worker(happening.id, happening.port),
        cores,
        memory,
      });
    }
    case "registerApp": {
      const { what: _, port, ...options } = happening;
      return harness.tell({
        type: "RegisterApplication",
        appDescription: appDescription(options),
        driver: driverAt(port),
      });
    }
    case "report": {
      const { app, execId, state, exitStatus } = happening;
      return harness.report(`app-${app}`, execId, state, { exitStatus });
    }
    case "request": {
      const { app, profile, cores, total } = happening;
      harness.requestExecutors({ id: `app-${app}`, driver: driverAt(0) }, [
        resourceProfile(profile, 100, cores),
        total,
      ]);
      return;
    }
    case "kill":
      harness.killExecutors(
        { id: `app-${happening.app}`, driver: driverAt(0) },
        happening.ids,
      );
      return;
    case "unregister":
      return harness.tell({
        type: "UnregisterApplication",
        appId: `app-${happening.app}`,
      });
    case "disconnect":
      return harness.disconnect(happening);
    case "heartbeat":
      return harness.tell({
        type: "Heartbeat",
        workerId: `worker-${happening.id}`,
        worker: worker(happening.id, happening.port).worker,
      });
    case "latestState":
      return harness.tell({
        type: "WorkerLatestState",
        registration: happening.registration,
        id: `worker-${happening.id}`,
        executors: [{
          appId: `app-${happening.app}`,
          execId: happening.execId,
          resourceProfileId: 0,
          cores: 1,
          memory: 1,
          state: "RUNNING",
        }],
        driverIds: [],
      });
    case "advance":
      return harness.advance(happening.seconds * 1_000);
  }
}

for (const spreadOut of ["true", "false"]) {
  Deno.test(`master: its invariants hold whatever happens (spreadOutApps=${spreadOut})`, () => {
    fc.assert(
      fc.property(
        fc.array(happening, { minLength: 20, maxLength: 80 }),
        (happenings) => {
          const harness = new MasterHarness({
            "spark.deploy.appIdPattern": "app-%2$d",
            "spark.deploy.spreadOutApps": spreadOut,
            "spark.deploy.maxExecutorRetries": "2",
            "spark.deploy.retainedApplications": "3",
          });
          // The harness checks the invariants after each event.
          for (const each of happenings) carryOut(harness, each);
        },
      ),
      { numRuns: 200 },
    );
  });
}

Deno.test("master: a table that contradicts another is found", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  harness.registerApp();
  const entry = harness.core.tables.workerById.get(worker.id)!;
  entry.removeExecutor([...entry.executors.values()][0]);
  assertThrows(
    () => harness.core.checkInvariants(),
    InvariantError,
    "is not on its worker",
  );
});

Deno.test("master: an executor that fits and was not started is found", () => {
  const harness = new MasterHarness();
  const worker = harness.registerWorker();
  const entry = harness.core.tables.workerById.get(worker.id)!;
  entry.state = "UNKNOWN";
  harness.registerApp();
  entry.state = "ALIVE";
  assertThrows(
    () => harness.core.checkInvariants(),
    InvariantError,
    "were not started",
  );
});
