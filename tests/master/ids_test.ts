import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { InvalidSettingError } from "../../lib/conf/units.ts";
import { ApplicationIds } from "../../lib/master/ids.ts";
import { MasterHarness, START } from "./harness.ts";

const DEFAULTS = {
  pattern: "app-%s-%04d",
  modulo: undefined,
  fromName: false,
} as const;

function register(harness: MasterHarness, name: string, port: number): string {
  const driver = { address: { host: "driver", port }, name: "AppClient" };
  return harness.registerApp({ name, driver }).id;
}

Deno.test("master ids: an application is named for the local time and a counter from 0", () => {
  const harness = new MasterHarness();
  assertEquals(register(harness, "a", 1), "app-20261130223351-0000");
  harness.advance(9_000);
  assertEquals(register(harness, "b", 2), "app-20261130223400-0001");
});

// MasterSuite 45754
Deno.test("master ids: the pattern may name its argument", () => {
  const harness = new MasterHarness({
    "spark.deploy.appIdPattern": "my-app-%2$05d",
  });
  assertEquals(register(harness, "a", 1), "my-app-00000");
  assertEquals(register(harness, "b", 2), "my-app-00001");
});

// MasterSuite 45754
for (
  const [pattern, reason] of [
    ["my app", "Whitespace is not allowed"],
    ["app-%d-%04d", "not a number"],
    ["app-%s-%x", "not a conversion"],
    ["app-%s-%s-%s", "argument 3"],
  ]
) {
  Deno.test(`master ids: the pattern "${pattern}" stops the start`, () => {
    const error = assertThrows(
      () => new MasterHarness({ "spark.deploy.appIdPattern": pattern }),
      InvalidSettingError,
      reason,
    );
    assertMatch(error.message, /spark\.deploy\.appIdPattern/);
  });
}

// MasterSuite 45756
Deno.test("master ids: the name of an application can be its id", () => {
  const harness = new MasterHarness({
    "spark.master.useAppNameAsAppId.enabled": "true",
  });
  assertEquals(register(harness, " spark - 45756 ", 1), "spark-45756");
});

Deno.test("master ids: a second application of the same name is refused while the first runs", () => {
  const harness = new MasterHarness({
    "spark.master.useAppNameAsAppId.enabled": "true",
  });
  const first = harness.registerApp({ name: "job" });
  const driver = { address: { host: "driver", port: 2 }, name: "AppClient" };
  assertThrows(() => harness.registerApp({ name: "Job", driver }));
  assertEquals(harness.sentOf("ApplicationRemoved", { driver }).length, 1);
  assertEquals(harness.state().activeApps.map(({ id }) => id), ["job"]);
  harness.tell({ type: "UnregisterApplication", appId: first.id });
  assertEquals(harness.registerApp({ name: "Job", driver }).id, "job");
});

Deno.test("master ids: the counter starts again at the modulo and passes over what is taken", () => {
  const ids = new ApplicationIds({
    ...DEFAULTS,
    pattern: "%2$d",
    modulo: 1_000,
  });
  const taken = new Map<string, unknown>();
  for (let n = 0; n < 1_000; n++) {
    assertEquals(ids.next("a", START, taken), String(n));
  }
  taken.set("0", {}).set("1", {});
  assertEquals(ids.next("a", START, taken), "2");
});

Deno.test("master ids: a pattern without the counter gives an id once", () => {
  const ids = new ApplicationIds({ ...DEFAULTS, pattern: "the-app" });
  assertEquals(ids.next("a", START, new Map()), "the-app");
  assertEquals(ids.next("a", START, new Map([["the-app", 1]])), undefined);
});

Deno.test("master ids: an empty name falls back to the pattern", () => {
  const ids = new ApplicationIds({ ...DEFAULTS, fromName: true });
  assertEquals(ids.next(" \t", START, new Map()), "app-20261130223351-0000");
});

Deno.test("master ids: a modulo below 1000 stops the start", () => {
  assertThrows(
    () => new MasterHarness({ "spark.deploy.appNumberModulo": "999" }),
    InvalidSettingError,
    "spark.deploy.appNumberModulo",
  );
});
