import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { RpcEndpoint } from "../../lib/rpc/endpoint.ts";
import { Inbox, type InboxItem } from "../../lib/rpc/inbox.ts";
import { gate } from "./support.ts";

const sender = { host: "peer", port: 1 };

function note(message: unknown): InboxItem {
  return { type: "message", message, sender };
}

/** An inbox, and in order what its endpoint saw and what it reported. */
function inboxOf(endpoint: (seen: unknown[]) => RpcEndpoint) {
  const seen: unknown[] = [];
  const reports: [string, unknown][] = [];
  const inbox = new Inbox(
    endpoint(seen),
    (problem, error) => reports.push([problem, error]),
  );
  return { inbox, seen, reports };
}

const plain = (seen: unknown[]): RpcEndpoint => ({
  onStart: () => void seen.push("start"),
  receive: (message) => void seen.push(message),
  onStop: () => void seen.push("stop"),
});

// InboxSuite
Deno.test("inbox: start comes first and stop last", async () => {
  const { inbox, seen, reports } = inboxOf(plain);
  inbox.start();
  inbox.post(note(1));
  inbox.postLater(note(2));
  inbox.post(note(3));
  await inbox.stop();
  assertEquals(seen, ["start", 1, 2, 3, "stop"]);
  assertEquals(reports, []); // of a stop that took too long
});

Deno.test("inbox: start does not run on the caller's stack", async () => {
  const { inbox, seen } = inboxOf(plain);
  inbox.start();
  assertEquals(seen, []);
  await inbox.stop();
  assertEquals(seen, ["start", "stop"]);
});

Deno.test("inbox: what is posted while an asynchronous start runs waits for it", async () => {
  const started = gate();
  const { inbox, seen } = inboxOf((seen) => ({
    ...plain(seen),
    onStart: async () => {
      await started.promise;
      seen.push("start");
    },
  }));
  inbox.start();
  inbox.post(note(1));
  await Promise.resolve();
  assertEquals(seen, []);
  started.resolve();
  await inbox.stop();
  assertEquals(seen, ["start", 1, "stop"]);
});

// InboxSuite
Deno.test("inbox: a message after stop is refused", async () => {
  const { inbox, seen } = inboxOf(plain);
  inbox.start();
  const stopped = inbox.stop();
  assertEquals(inbox.post(note(1)), false);
  assertEquals(inbox.postLater(note(1)), false);
  await stopped;
  assertEquals(seen, ["start", "stop"]);
});

// InboxSuite
Deno.test("inbox: posts that race a stop are each delivered or refused", async () => {
  const { inbox, seen } = inboxOf(plain);
  inbox.start();
  let refused = 0;
  let stopped: Promise<void> | undefined;
  await Promise.all(Array.from({ length: 10 }, async (_, poster) => {
    for (let i = 0; i < 100; i++) {
      if (!inbox.post(note(i))) refused++;
      await Promise.resolve();
      if (poster === 5 && i === 50) stopped = inbox.stop();
    }
  }));
  await stopped;
  assertEquals(seen.length - 2 + refused, 1000);
  assert(refused > 0);
  assertEquals(seen[0], "start");
  assertEquals(seen.at(-1), "stop");
  assertEquals(seen.filter((each) => each === "stop").length, 1);
});

// RpcEnvSuite
Deno.test("inbox: stopped twice, it stops once, and both wait for it", async () => {
  const { inbox, seen } = inboxOf(plain);
  inbox.start();
  await Promise.all([
    inbox.stop(),
    inbox.stop().then(() => assertEquals(seen, ["start", "stop"])),
  ]);
  await inbox.stop();
  assertEquals(seen, ["start", "stop"]);
});

Deno.test("inbox: asynchronous handlers never overlap and keep the order", async () => {
  let running = 0;
  const { inbox, seen } = inboxOf((seen) => ({
    async receive(message) {
      assertEquals(++running, 1);
      for (let i = 0; i < Number(message) % 3; i++) await Promise.resolve();
      seen.push(message);
      running--;
    },
  }));
  inbox.start();
  const numbers = Array.from({ length: 50 }, (_, i) => i);
  for (const i of numbers) inbox.post(note(i));
  await inbox.stop();
  assertEquals(seen, numbers);
});

Deno.test("inbox: an endpoint that posts to itself from a handler is not called within it", async () => {
  const { inbox, seen } = inboxOf((seen) => ({
    receive(message) {
      seen.push(`${message} begins`);
      if (message === "a") inbox.post(note("b"));
      seen.push(`${message} ends`);
    },
  }));
  inbox.start();
  inbox.post(note("a"));
  await Promise.resolve();
  await inbox.stop();
  assertEquals(seen, ["a begins", "a ends", "b begins", "b ends"]);
});

// RpcEnvSuite
Deno.test("inbox: what start, receive or stop throws reaches the error hook, that very error", async () => {
  for (const place of ["onStart", "receive", "onStop"] as const) {
    for (const later of [false, true]) {
      const oops = new Error("Oops");
      const { inbox, seen, reports } = inboxOf((seen) => ({
        receive: () => {},
        [place]: () => {
          if (later) return Promise.reject(oops);
          throw oops;
        },
        onError: (error) => void seen.push(error),
      }));
      inbox.start();
      inbox.post(note(1));
      await inbox.stop();
      assertEquals(seen.length, 1, `${place}, later: ${later}`);
      assertStrictEquals(seen[0], oops);
      assertEquals(reports, []);
    }
  }
});

// InboxSuite
Deno.test("inbox: after a handler or its error hook failed it goes on", async () => {
  const { inbox, seen, reports } = inboxOf((seen) => ({
    receive(message) {
      seen.push(message);
      return Promise.reject(new Error("Oops"));
    },
    onError: () => {
      throw new Error("also broken");
    },
  }));
  inbox.start();
  inbox.post(note(1));
  inbox.post(note(2));
  await inbox.stop();
  assertEquals(seen, [1, 2]);
  assertEquals(reports.length, 2);
  assertEquals(String(reports[0][1]), "Error: also broken");
});

Deno.test("inbox: a message that the endpoint has no handler for is reported by its type", async () => {
  const { inbox, reports } = inboxOf(() => ({}));
  inbox.start();
  inbox.post(note({ type: "Unknown" }));
  await inbox.stop();
  assertEquals(reports.length, 1);
  assert(String(reports[0][1]).includes("Unknown"));
});

// InboxSuite
Deno.test("inbox: connection events reach their hooks once, with address and cause", async () => {
  const { inbox, seen } = inboxOf((seen) => ({
    onConnected: (address) => void seen.push(["connected", address]),
    onDisconnected: (address) => void seen.push(["disconnected", address]),
    onNetworkError: (error, address) => void seen.push([error, address]),
  }));
  const error = new Error("reset");
  inbox.start();
  inbox.post({ type: "connected", address: sender });
  inbox.post({ type: "networkError", address: sender, error });
  inbox.post({ type: "disconnected", address: sender });
  await inbox.stop();
  assertEquals(seen, [
    ["connected", sender],
    [error, sender],
    ["disconnected", sender],
  ]);
});

Deno.test("inbox: an endpoint that stops itself in a handler and waits for it does not hang", async () => {
  const { inbox, seen } = inboxOf((seen) => ({
    ...plain(seen),
    async receive(message) {
      await inbox.stop();
      seen.push(message);
    },
  }));
  inbox.start();
  await Promise.resolve();
  inbox.post(note(1));
  await inbox.stop();
  assertEquals(seen, ["start", 1, "stop"]);
});

Deno.test("inbox: a queue that is too long is told, and also when it is short again", async () => {
  const held = gate();
  const { inbox } = inboxOf(() => ({ receive: () => held.promise }));
  inbox.start();
  for (let i = 0; i < 9_999; i++) inbox.post(note(i));
  await Promise.resolve();
  assertEquals(inbox.pressure(), undefined);
  for (let i = 0; i < 2; i++) inbox.post(note(i));
  const relieved = inbox.pressure();
  assert(relieved !== undefined);
  held.resolve();
  await relieved;
  await inbox.stop();
});
