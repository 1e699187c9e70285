import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { WorkerEvent } from "../../lib/worker/events.ts";
import {
  launchExecutor,
  MASTER,
  MASTER_URL,
  registered,
  WorkerHarness,
} from "./harness.ts";

const message = (
  message: Extract<WorkerEvent, { type: "message" }>["message"],
): WorkerEvent => ({ type: "message", message, sender: MASTER, reply: null });

const executor = fc.record({
  appId: fc.constantFrom("app-1", "app-2"),
  execId: fc.nat(3),
});

const event: fc.Arbitrary<WorkerEvent> = fc.oneof(
  executor.map((key) => message(launchExecutor(key.execId, key))),
  executor.map((key) =>
    message({ type: "KillExecutor", masterUrl: MASTER_URL, ...key })
  ),
  executor.map(({ appId }) =>
    message({ type: "ApplicationFinished", id: appId })
  ),
  fc.constant(message(registered())),
  fc.constant(
    message({ type: "ReconnectWorker", masterUrl: MASTER_URL }),
  ),
  fc.constant<WorkerEvent>({ type: "disconnected", address: MASTER }),
  fc.record({
    key: executor,
    state: fc.constantFrom("RUNNING", "EXITED", "KILLED", "FAILED"),
  }).map(({ key, state }): WorkerEvent => ({
    type: "executorChanged",
    ...key,
    state: state as "RUNNING",
    message: null,
    exitStatus: null,
    pid: null,
  })),
  executor.map((key): WorkerEvent => ({
    type: "executorLaunchFailed",
    ...key,
    error: "no",
  })),
);

Deno.test("worker: whatever the order of events, its sums are right and it always comes to an end", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const w = new WorkerHarness({
        "spark.worker.ui.retainedExecutors": "3",
      }).handle({ type: "start" });
      for (const event of events) w.handle(event); // checks the invariants
      w.handle({ type: "shutdown", reason: "test" });
      const exits = w.of("exit");
      for (const { appId, execId } of w.core.describe().executors) {
        w.change(execId, "FAILED", { appId });
        exits.push(...w.of("exit"));
      }
      assertEquals(w.core.describe().coresUsed, 0);
      if (w.timers.has("farewell")) {
        exits.push(...w.fire("farewell").of("exit"));
      }
      assertEquals(exits.length, 1);
    }),
    { numRuns: 300 },
  );
});
