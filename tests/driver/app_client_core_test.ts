import { assertEquals } from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import {
  AppClientCore,
  type AppClientEffect,
} from "../../lib/driver/app_client_core.ts";
import type { RpcAddress } from "../../lib/messages/addresses.ts";
import type {
  ApplicationDescription,
  MasterChangeAcknowledged,
  ToAppClient,
  UnregisterApplication,
} from "../../lib/messages/deploy.ts";
import { ofType } from "./task_harness.ts";

// AppClientSuite

const A: RpcAddress = { host: "a", port: 7077 };
const B: RpcAddress = { host: "b", port: 7077 };
const SELF = { address: { host: "driver", port: 1 }, name: "AppClient" };
const DESCRIPTION = { name: "app" } as ApplicationDescription;

function client(masters: readonly RpcAddress[] = [A, B]) {
  const core = new AppClientCore({
    masters,
    description: DESCRIPTION,
    self: SELF,
    conf: new SparkConf(),
  });
  return {
    core,
    start: () => core.handle({ type: "start" }),
    retry: () => core.handle({ type: "timer", timer: "registration" }),
    receive: (message: ToAppClient) =>
      core.handle({ type: "message", message, sender: A, reply: null }),
    disconnect: (address: RpcAddress) =>
      core.handle({ type: "disconnected", address }),
    stop: () => core.handle({ type: "stop" }),
  };
}

function masterAt(address: RpcAddress) {
  return { address, name: "Master" };
}

function registered(appId = "app-1"): ToAppClient {
  return { type: "RegisteredApplication", appId, master: masterAt(A) };
}

function changedTo(address: RpcAddress): ToAppClient {
  const master = masterAt(address);
  return { type: "MasterChanged", master, masterWebUiUrl: "" };
}

function withoutLogs(effects: AppClientEffect[]): AppClientEffect[] {
  return effects.filter(({ type }) => type !== "log");
}

Deno.test("app client: it registers with all masters at once, and again every 20 s", () => {
  const { start, retry } = client();
  for (const effects of [start(), retry(), retry()]) {
    assertEquals(withoutLogs(effects), [
      ...[A, B].map((address) => ({
        type: "send" as const,
        to: masterAt(address),
        message: {
          type: "RegisterApplication",
          appDescription: DESCRIPTION,
          driver: SELF,
        },
      })),
      { type: "setTimer", timer: "registration", after: 20_000 },
    ]);
  }
});

Deno.test("app client: after three tries without an answer it gives up, once", () => {
  const { start, retry, stop } = client();
  start();
  retry();
  retry();
  assertEquals(withoutLogs(retry()), [
    { type: "clearTimer", timer: "registration" },
    {
      type: "dead",
      reason:
        "All masters are unresponsive! Giving up. (Tried a:7077, b:7077, 3 times.)",
    },
  ]);
  assertEquals([...retry(), ...stop()], []);
});

Deno.test("app client: once registered it tries no more", () => {
  const { core, start, receive, retry } = client();
  start();
  assertEquals(receive(registered()), [
    { type: "clearTimer", timer: "registration" },
    { type: "connected", appId: "app-1" },
  ]);
  assertEquals(retry(), []);
  assertEquals([core.appId, core.master], ["app-1", masterAt(A)]);
});

Deno.test("app client: the loss of its master is told once, until another has taken over", () => {
  const { start, receive, disconnect } = client();
  start();
  assertEquals(disconnect(A), []);
  receive(registered());
  assertEquals(disconnect(B), []);
  assertEquals(withoutLogs(disconnect(A)), [{ type: "masterLost" }]);
  assertEquals(disconnect(A), []);
  assertEquals(withoutLogs(receive(changedTo(B))), [{
    type: "send",
    to: masterAt(B),
    message: {
      type: "MasterChangeAcknowledged",
      appId: "app-1",
    } as MasterChangeAcknowledged,
  }]);
  assertEquals(disconnect(A), []);
  assertEquals(withoutLogs(disconnect(B)), [{ type: "masterLost" }]);
});

Deno.test("app client: a change of master before it is registered does not end the tries", () => {
  const { start, receive, retry } = client();
  start();
  assertEquals(withoutLogs(receive(changedTo(B))), []);
  assertEquals(ofType(retry(), "send").length, 2);
});

Deno.test("app client: an application that the master removed is dead, with the master's reason", () => {
  const { start, receive } = client();
  start();
  receive(registered());
  const removed = receive({ type: "ApplicationRemoved", message: "FAILED" });
  assertEquals(ofType(removed, "dead").map(({ reason }) => reason), [
    "Master removed our application: FAILED",
  ]);
  assertEquals(receive(registered()), []);
});

Deno.test("app client: stop is the end, and the master is told if it knows the application", () => {
  const early = client();
  early.start();
  assertEquals(early.stop(), [
    { type: "clearTimer", timer: "registration" },
    { type: "dead", reason: "Application has been stopped." },
  ]);
  const late = client();
  late.start();
  late.receive(registered());
  assertEquals(late.stop().at(-1), {
    type: "send",
    to: masterAt(A),
    message: {
      type: "UnregisterApplication",
      appId: "app-1",
    } as UnregisterApplication,
  });
  assertEquals(late.stop(), []);
});

Deno.test("app client: executors are told of when they are granted and when they are finished", () => {
  const { start, receive } = client();
  start();
  receive(registered());
  const granted = receive({
    type: "ExecutorAdded",
    id: 3,
    workerId: "w",
    hostPort: "h:1",
    cores: 2,
    memory: 512,
  });
  assertEquals(withoutLogs(granted), [{
    type: "executorGranted",
    id: "3",
    workerId: "w",
    hostPort: "h:1",
    cores: 2,
  }]);
  const update = (state: "RUNNING" | "DECOMMISSIONED" | "LOST" | "EXITED") =>
    withoutLogs(receive({
      type: "ExecutorUpdated",
      id: 3,
      state,
      message: "why",
      exitStatus: 1,
      workerHost: "h",
    }));
  assertEquals([...update("RUNNING"), ...update("DECOMMISSIONED")], []);
  for (const state of ["LOST", "EXITED"] as const) {
    assertEquals(update(state), [{
      type: "executorRemoved",
      id: "3",
      state,
      message: "why",
      exitStatus: 1,
      workerHost: "h",
    }]);
  }
});
