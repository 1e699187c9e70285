// StandaloneDynamicAllocationSuite: 2 workers of 10 cores and 2048 MiB,
// executors of 256 MiB.
import { assertEquals, assertMatch } from "@std/assert";
import { UNLIMITED } from "../../lib/conf/settings.ts";
import {
  MasterHarness,
  resourceProfile,
  type TestApp,
  type TestAppOptions,
} from "./harness.ts";

/**
 * An application that asks as Spark's driver does: before it gives executors
 * back it lowers the total that it wants by as many.
 */
class Driver {
  readonly harness = new MasterHarness();
  readonly app: TestApp;
  #total = 0;

  constructor(options: TestAppOptions = {}) {
    for (const port of [1, 2]) {
      this.harness.registerWorker({ port, cores: 10, memory: 2048 });
    }
    this.app = this.harness.registerApp({ memory: 256, ...options });
  }

  get ids(): number[] {
    return this.harness.app(this.app).executors.map(({ id }) => id);
  }

  /** Executors that there are, and the limit that the master has. */
  get figures(): [executors: number, limit: number] {
    const app = this.harness.core.tables.applications.get(this.app.id)!;
    return [this.ids.length, app.targetOf(0)];
  }

  get cores(): number[] {
    return this.harness.app(this.app).executors.map(({ cores }) => cores);
  }

  request(more: number): void {
    this.#setTotal(this.#total + more);
  }

  kill(ids: readonly number[]): void {
    this.#setTotal(Math.max(this.#total - ids.length, 0));
    assertEquals(this.harness.killExecutors(this.app, ids), true);
  }

  killAll(): void {
    this.kill(this.ids);
  }

  #setTotal(total: number): void {
    this.#total = total;
    const answer = this.harness.requestExecutors(this.app, [
      resourceProfile(0, 256),
      total,
    ]);
    assertEquals(answer, true);
  }
}

Deno.test("master: dynamic allocation, one executor a worker", () => {
  const driver = new Driver();
  assertEquals(driver.figures, [2, UNLIMITED]);
  driver.killAll();
  assertEquals(driver.figures, [0, 0]);
  driver.request(1);
  assertEquals(driver.figures, [1, 1]);
  driver.request(1);
  assertEquals(driver.figures, [2, 2]);
  driver.request(1);
  assertEquals(driver.figures, [2, 3]);
  driver.killAll();
  assertEquals(driver.figures, [1, 1]);
  driver.killAll();
  assertEquals(driver.figures, [0, 0]);
  driver.request(1_000);
  assertEquals(driver.figures, [2, 1_000]);
});

Deno.test("master: dynamic allocation, at most 8 cores", () => {
  const driver = new Driver({ maxCores: 8 });
  assertEquals(driver.cores, [4, 4]);
  driver.killAll();
  assertEquals(driver.figures, [0, 0]);
  driver.request(1);
  assertEquals([driver.figures, driver.cores], [[1, 1], [8]]);
  driver.request(1);
  assertEquals(driver.figures, [1, 2]);
  driver.request(1);
  assertEquals(driver.figures, [1, 3]);
  driver.killAll();
  assertEquals([driver.figures, driver.cores], [[2, 2], [4, 4]]);
  driver.killAll();
  assertEquals(driver.figures, [0, 0]);
  driver.request(1_000);
  assertEquals([driver.figures, driver.cores], [[2, 1_000], [4, 4]]);
});

Deno.test("master: dynamic allocation, 2 cores an executor", () => {
  const driver = new Driver({ coresPerExecutor: 2 });
  assertEquals(driver.figures, [10, UNLIMITED]);
  driver.killAll();
  assertEquals(driver.figures, [0, 0]);
  driver.request(1);
  assertEquals(driver.figures, [1, 1]);
  driver.request(3);
  assertEquals(driver.figures, [4, 4]);
  driver.request(10);
  assertEquals(driver.figures, [10, 14]);
  driver.kill(driver.ids.slice(0, 2));
  assertEquals(driver.figures, [10, 12]);
  driver.kill(driver.ids.slice(0, 4));
  assertEquals(driver.figures, [8, 8]);
  driver.killAll();
  assertEquals(driver.figures, [0, 0]);
  driver.request(1_000);
  assertEquals(driver.figures, [10, 1_000]);
});

Deno.test("master: the initial limit comes with the application", () => {
  const driver = new Driver({ initialExecutorLimit: 1 });
  assertEquals(driver.figures, [1, 1]);
});

Deno.test("master: killed executors are ended on their workers and do not come back", () => {
  const driver = new Driver();
  const before = driver.ids;
  driver.killAll();
  assertEquals(
    driver.harness.sentOf("KillExecutor").map(({ execId }) => execId).sort(),
    before,
  );
  assertEquals(driver.harness.state().workers.map((w) => w.coresUsed), [0, 0]);
  driver.request(2);
  assertEquals(driver.ids.filter((id) => before.includes(id)), []);
});

Deno.test("master: a lower total kills no executor", () => {
  const driver = new Driver({ coresPerExecutor: 2 });
  driver.request(3);
  assertEquals(driver.figures, [10, 3]);
  assertEquals(driver.harness.sentOf("KillExecutor"), []);
});

Deno.test("master: executor ids that are unknown or no numbers are passed over", () => {
  const driver = new Driver();
  const { harness, app } = driver;
  assertEquals(harness.killExecutors(app, [`${app.id}/0`, "x", 77]), true);
  assertEquals(driver.ids, [0, 1]);
  assertMatch(harness.warnings().join(), /does not have: .*\/0, x, 77/);
  assertEquals(harness.sentOf("KillExecutor"), []);
});

Deno.test("master: the same executor asked twice is killed once", () => {
  const driver = new Driver();
  assertEquals(driver.harness.killExecutors(driver.app, [0, 0]), true);
  assertEquals(driver.harness.sentOf("KillExecutor").length, 1);
});

Deno.test("master: an unknown application can neither ask for executors nor kill them", () => {
  const harness = new MasterHarness();
  const nobody = { id: "nobody", driver: new Driver().app.driver };
  assertEquals(
    harness.requestExecutors(nobody, [resourceProfile(0, 1), 1]),
    false,
  );
  assertEquals(harness.killExecutors(nobody, [0]), false);
});

Deno.test("master: a target that a driver repeats is logged once, and again when it changes", () => {
  const harness = new MasterHarness();
  const app = harness.registerApp();
  const [plain, other] = [resourceProfile(0, 256), resourceProfile(1, 256)];
  harness.clear();
  const ask = (first: number, second: number) =>
    harness.requestExecutors(
      app,
      [plain, first],
      [other, second],
    );
  ask(3, 0);
  ask(3, 0);
  ask(3, 2);
  const wanted = harness.logs.map(({ message }) =>
    /wants (\d+) executors in all of resource profile (\d+)/.exec(message)
  ).filter((match) => match !== null).map(([, total, id]) => [id, total]);
  assertEquals(wanted, [["0", "3"], ["1", "0"], ["1", "2"]]);
});
