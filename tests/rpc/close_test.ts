import { assert, assertEquals, assertRejects } from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { RpcConnectionError } from "../../lib/rpc/mod.ts";
import {
  Bench,
  deadPort,
  eventually,
  gate,
  type Note,
  reasonOf,
} from "./support.ts";

Deno.test("close: what was sent before arrives, on a connection and while it is being made", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const seen: unknown[] = [];
  const ref = server.register("Sink", {
    receive: (message) => void seen.push((message as Note).n),
  });
  for (const connected of [true, false]) {
    seen.length = 0;
    const client = await bench.client();
    if (connected) await client.lookup(ref);
    for (let n = 0; n < 100; n++) client.send(ref, { type: "M", n });
    await client.close();
    await eventually("all messages", () => seen.length === 100);
    assertEquals(seen, Array.from({ length: 100 }, (_, n) => n));
  }
  assertEquals(bench.lines, []);
});

Deno.test("close: what an endpoint sends in its onStop arrives", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const seen: unknown[] = [];
  const ref = server.register("Sink", {
    receive: (message) => void seen.push((message as Note).type),
  });
  const client = await bench.client();
  client.register("E", {
    onStop: () => client.send(ref, { type: "Goodbye" }),
  });
  await client.close();
  await eventually("the message", () => seen.length > 0);
  assertEquals(seen, ["Goodbye"]);
});

Deno.test("close: a large message that is being written arrives whole", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  let size = 0;
  const ref = server.register("Sink", {
    receive: (message) =>
      void (size = (message as Note & { data: Uint8Array }).data.length),
  });
  const client = await bench.client();
  client.send(ref, { type: "M", data: new Uint8Array(20_000_000) });
  await client.close();
  await eventually("the message", () => size === 20_000_000);
});

Deno.test("close: both sides at once end soon, and asks in flight fail", async () => {
  await using bench = new Bench();
  for (let round = 0; round < 5; round++) {
    const a = await bench.server();
    const b = await bench.server();
    for (const env of [a, b]) env.register("S", { receiveAndReply: () => {} });
    await a.lookup(b.refTo("S"));
    const asks = [a.ask(b.refTo("S"), {}), b.ask(a.refTo("S"), {})];
    const failed = Promise.allSettled(asks);
    const start = performance.now();
    await Promise.all([a.close(), b.close(), a.close()]);
    assert(performance.now() - start < 400);
    for (const each of await failed) assertEquals(each.status, "rejected");
  }
});

// TransportResponseHandlerSuite
Deno.test("close: a peer's close fails the asks in flight at once", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const asked = gate();
  const ref = server.register("S", { receiveAndReply: () => asked.resolve() });
  const ask = assertRejects(() => client.ask(ref, {}), RpcConnectionError);
  await asked.promise;
  await server.close();
  await ask;
});

Deno.test("close: it does not wait long for a peer that never closes", async () => {
  await using bench = new Bench();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = { host: "127.0.0.1", port: listener.addr.port };
  const client = await bench.client();
  client.send({ name: "A", address }, { type: "M" });
  const socket = await listener.accept();
  const start = performance.now();
  await client.close();
  assert(performance.now() - start < 2_000);
  socket.close();
  listener.close();
});

Deno.test("close: it gives up a connection that is being made, and what waits for it", async () => {
  using full = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 });
  const { port } = full.addr;
  const controller = new AbortController();
  const fillers = Array.from(
    { length: 8 },
    () =>
      Deno.connect({ port, hostname: "127.0.0.1", signal: controller.signal }),
  );
  await using bench = new Bench();
  const client = await bench.client();
  const address = { host: "127.0.0.1", port };
  const ask = assertRejects(
    () => client.ask({ name: "A", address }, {}),
    RpcConnectionError,
    "closing",
  );
  await client.close();
  await ask;
  controller.abort();
  for (const filler of await Promise.allSettled(fillers)) {
    if (filler.status === "fulfilled") filler.value.close();
  }
});

Deno.test("close: before anything was done, twice, and with failing dials it ends", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  await Promise.all([server.close(), server.close()]);
  const client = await bench.client({
    conf: new SparkConf({ "spark.rpc.io.connectionTimeout": "1s" }),
  });
  const address = { host: "127.0.0.1", port: deadPort() };
  client.send({ name: "A", address }, { type: "M" });
  await client.close();
  assertEquals(bench.lines.length, 1);
});

Deno.test("close: a peer killed in the middle of an ask fails it at once", async () => {
  await using bench = new Bench();
  const client = await bench.client();
  const flags = Deno.env.get("SPARKTS_RUN_FLAGS")?.split("\n") ?? [];
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...flags,
      "-A",
      new URL("silent_process.ts", import.meta.url).href,
    ],
    stdout: "piped",
    stdin: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  const port = Number(new TextDecoder().decode((await reader.read()).value));
  const ref = { name: "Silent", address: { host: "127.0.0.1", port } };
  const disconnected = gate();
  client.register("E", { onDisconnected: () => disconnected.resolve() });
  const asks = Promise.allSettled(
    Array.from({ length: 10 }, () => client.ask(ref, { type: "Ping" })),
  );
  await reader.read(); // it has got one
  child.kill("SIGKILL");
  for (const ask of await asks) {
    assert(reasonOf(ask) instanceof RpcConnectionError);
  }
  await disconnected.promise;
  await assertRejects(() => client.ask(ref, {}), RpcConnectionError, "connect");
  await child.status;
  await reader.cancel();
  await child.stdin.close();
});
