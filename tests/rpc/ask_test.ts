import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import type { EndpointRef } from "../../lib/messages/addresses.ts";
import { formatAddress } from "../../lib/messages/addresses.ts";
import {
  EndpointNotFoundError,
  type RpcCallContext,
  RpcConnectionError,
  type RpcEnv,
  RpcError,
  RpcRemoteError,
  RpcTimeoutError,
} from "../../lib/rpc/mod.ts";
import { Bench, deadPort, eventually, gate, registerEcho } from "./support.ts";

// RpcEnvSuite
Deno.test("rpc: a message to an endpoint of the same process arrives, after the caller's turn", async () => {
  await using bench = new Bench();
  for (const env of [await bench.server(), await bench.client()]) {
    const seen: unknown[] = [];
    const ref = env.register("Sink", {
      receive: (message) => void seen.push(message),
    });
    env.send(ref, { type: "Hello" });
    assertEquals(seen, []);
    await eventually("the message", () => seen.length > 0);
    assertEquals(seen, [{ type: "Hello" }]);
  }
});

// RpcEnvSuite
Deno.test("rpc: a message from a process without a port arrives", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const seen: unknown[] = [];
  server.register("Sink", { receive: (message) => void seen.push(message) });
  const ref = await client.lookup(`spark://Sink@${at(server)}`);
  client.send(ref, { type: "Hello" });
  await eventually("the message", () => seen.length > 0);
  assertEquals(seen, [{ type: "Hello" }]);
});

// RpcEnvSuite
Deno.test("rpc: an answer equals its request, asked here and from another process", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const request = { type: "Echo", text: "é😀", list: [1, null, { a: true }] };
  const ref = registerEcho(server);
  assertEquals(await server.ask(ref, request), request);
  assertEquals(await client.ask(ref, request), request);
  assertEquals(await client.ask(registerEcho(client), request), request);
});

// RpcEnvSuite
Deno.test("rpc: a reference that travels in an answer can be asked", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const self: EndpointRef = server.register("Self", {
    receiveAndReply: (_, context) => context.reply(self),
  });
  const travelled = await client.ask<EndpointRef>(self, { type: "Who" });
  assertEquals(await client.ask(travelled, { type: "Who" }), self);
});

// RpcEnvSuite
Deno.test("rpc: a failure that a handler answers or throws reaches the asker, its text word for word", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const oops = new Error("Oops");
  const endpoints = [
    (context: RpcCallContext) => context.sendFailure(oops),
    () => {
      throw oops;
    },
    () => Promise.reject(oops),
  ];
  for (const [i, fail] of endpoints.entries()) {
    const ref = server.register(`Failing${i}`, {
      receiveAndReply: (_, context) => fail(context),
    });
    const local = await assertRejects(
      () => server.ask(ref, { type: "A" }),
      Error,
    );
    const remote = await assertRejects(
      () => client.ask(ref, { type: "A" }),
      RpcRemoteError,
    );
    assertEquals([local.message, remote.message], ["Oops", "Oops"]);
  }
});

// RpcIntegrationSuite
Deno.test("rpc: successes and failures in flight together each reach their own asker", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const waiting: [string, RpcCallContext][] = [];
  const ref = server.register("Mixed", {
    receiveAndReply(message, context) {
      waiting.push([(message as { type: string }).type, context]);
      if (waiting.length < 4) return;
      // The last one first: answers need not keep the order.
      for (const [type, context] of waiting.reverse()) {
        if (type.startsWith("Good")) context.reply(type);
        else context.sendFailure(new Error(`Returned: ${type}`));
      }
    },
  });
  const results = await Promise.allSettled(
    ["Good1", "Bad1", "Bad2", "Good2"].map((type) => client.ask(ref, { type })),
  );
  assertEquals(
    results.map((each) =>
      each.status === "fulfilled" ? each.value : each.reason.message
    ),
    ["Good1", "Returned: Bad1", "Returned: Bad2", "Good2"],
  );
});

Deno.test("rpc: the first answer counts, also before a throw", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const ref = server.register("Twice", {
    receiveAndReply(_, context) {
      context.reply("first");
      context.reply("second");
      throw new Error("late");
    },
  });
  assertEquals(await client.ask(ref, { type: "A" }), "first");
  assertEquals(await server.ask(ref, { type: "A" }), "first");
});

Deno.test("rpc: an answer that cannot be written fails the ask, and the connection lives", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const ref = server.register("Unwritable", {
    receiveAndReply: (_, context) => context.reply({ big: 1n }),
  });
  const error = await assertRejects(
    () => client.ask(ref, { type: "A" }),
    RpcRemoteError,
  );
  assertStringIncludes(error.message, "Cannot send the answer");
  assertEquals(await client.ask(registerEcho(server), {}), {});
});

// RpcEnvSuite
Deno.test("rpc: an ask without an answer fails in time by itself, and names its setting", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  server.register("Silent", { receiveAndReply: () => {} });
  const silent = server.refTo("Silent");
  for (const key of ["spark.rpc.askTimeout", "spark.network.timeout"]) {
    const client = await bench.client({
      conf: new SparkConf({ [key]: "1s" }),
    });
    const error = await assertRejects(
      () => client.ask(silent, { type: "Ping" }),
      RpcTimeoutError,
    );
    assertStringIncludes(error.message, "spark.rpc.askTimeout");
    assertStringIncludes(error.message, `spark://Silent@${at(server)}`);
    assertStringIncludes(error.message, "Ping");
  }
});

// RpcEnvSuite
Deno.test("rpc: a timeout of the caller's own names the setting that it came from", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const silent = server.register("Silent", { receiveAndReply: () => {} });
  for (const env of [server, client]) {
    const options = {
      timeout: 1,
      timeoutSetting: "spark.rpc.short.timeout",
    };
    const error = await assertRejects(
      () => env.ask(silent, { type: "Ping" }, options),
      RpcTimeoutError,
    );
    assertStringIncludes(error.message, "spark.rpc.short.timeout");
  }
});

Deno.test("rpc: timeouts of different lengths each come in their turn", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const silent = server.register("Silent", { receiveAndReply: () => {} });
  const order: number[] = [];
  await Promise.all(
    [60, 1, 30, 5].map((timeout) =>
      server.ask(silent, {}, { timeout }).catch(() => order.push(timeout))
    ),
  );
  assertEquals(order, [1, 5, 30, 60]);
});

// TransportResponseHandlerSuite
Deno.test("rpc: an answer that comes after the timeout is ignored", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const contexts: RpcCallContext[] = [];
  const ref = server.register("Late", {
    receiveAndReply: (_, context) => void contexts.push(context),
  });
  await assertRejects(() => client.ask(ref, {}, { timeout: 1 }));
  await eventually("the ask", () => contexts.length === 1);
  contexts[0].reply("late");
  assertEquals(await client.ask(registerEcho(server), { n: 1 }), { n: 1 });
  assertEquals(bench.lines, []);
});

// RpcEnvSuite
Deno.test("rpc: an ask that is aborted fails at once with the reason as its cause", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const asked = gate();
  const silent = server.register("Silent", {
    receiveAndReply: () => asked.resolve(),
  });
  const controller = new AbortController();
  const reason = new Error("TestAbort");
  const { signal } = controller;
  const answer = assertRejects(
    () => client.ask(silent, { type: "Ping" }, { signal }),
    RpcError,
  );
  await asked.promise;
  controller.abort(reason);
  assertEquals((await answer).cause, reason);
  const again = await assertRejects(
    () => client.ask(silent, { type: "Ping" }, { signal }),
    RpcError,
  );
  assertEquals(again.cause, reason);
});

// NettyRpcEnvSuite
Deno.test("rpc: looking up an endpoint that isn't there names the whole URI", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const uri = `spark://Nobody@${at(server)}`;
  for (const env of [client, server]) {
    const error = await assertRejects(
      () => env.lookup(uri),
      EndpointNotFoundError,
    );
    assertStringIncludes(error.message, uri);
  }
});

Deno.test("rpc: an ask of an endpoint that isn't there fails at once", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  for (const env of [client, server]) {
    const error = await assertRejects(
      () => env.ask(server.refTo("Nobody"), { type: "Ping" }),
      RpcError,
    );
    assertStringIncludes(error.message, "Nobody");
  }
});

Deno.test("rpc: a message that nobody takes is lost with a line in the log", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  client.send(server.refTo("Nobody"), { type: "Ping" });
  await eventually("the line", () => bench.lines.length > 0);
  assertStringIncludes(bench.lines[0], "Nobody");
  server.send(server.refTo("Nobody"), { type: "Ping" });
  assertEquals(bench.lines.length, 2);
  assertStringIncludes(bench.lines[1], "Dropped Ping");
});

// NettyRpcEnvSuite
Deno.test("rpc: a process without a port is asked back over its own connection", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  registerEcho(client);
  client.register("Silent", { receiveAndReply: () => {} });
  const ref = server.register("AskBack", {
    async receiveAndReply(message, context) {
      const { name } = message as { name: string };
      const back = { name, address: context.sender };
      context.reply(
        await server.ask(back, { type: "Back" }, { timeout: 50 })
          .catch((error) => `${error.message} from ${at(back)}`),
      );
    },
  });
  assertEquals(await client.ask(ref, { name: "Echo" }), { type: "Back" });
  // It has no name to be called by, so the error names the socket's address.
  const text = await client.ask<string>(ref, { name: "Silent" });
  const [error, address] = text.split(" from ");
  assertStringIncludes(error, address);
  assertStringIncludes(error, "did not answer Back");
});

Deno.test("rpc: asking a port where nobody listens fails at once", async () => {
  await using bench = new Bench();
  const client = await bench.client();
  const address = { host: "127.0.0.1", port: deadPort() };
  const error = await assertRejects(
    () => client.ask({ name: "Echo", address }, { type: "Ping" }),
    RpcConnectionError,
  );
  assertStringIncludes(error.message, formatAddress(address));
  client.send({ name: "Echo", address }, { type: "Ping" });
  await eventually("the line", () => bench.lines.length > 0);
  assertStringIncludes(bench.lines[0], "Failed to send Ping");
});

Deno.test("rpc: connecting to a peer that doesn't answer ends with its timeout", async () => {
  // A socket that listens and accepts nothing: when its backlog is full, the
  // system answers no further attempt.
  using full = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 });
  const { port } = full.addr;
  const controller = new AbortController();
  const fillers = Array.from(
    { length: 8 },
    () =>
      Deno.connect({ port, hostname: "127.0.0.1", signal: controller.signal }),
  );
  await using bench = new Bench();
  const conf = new SparkConf({ "spark.rpc.io.connectionTimeout": "1s" });
  const client = await bench.client({ conf });
  const address = { host: "127.0.0.1", port };
  const error = await assertRejects(
    () => client.ask({ name: "Echo", address }, { type: "Ping" }),
    RpcConnectionError,
  );
  assertStringIncludes(error.message, "no answer within 1 s");
  controller.abort();
  for (const filler of await Promise.allSettled(fillers)) {
    if (filler.status === "fulfilled") filler.value.close();
  }
});

Deno.test("rpc: an ask given up while its connection is made is not sent", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const seen: unknown[] = [];
  const ref = server.register("Sink", {
    receiveAndReply(message, context) {
      seen.push((message as { type: string }).type);
      context.reply(null);
    },
  });
  const controller = new AbortController();
  const { signal } = controller;
  const givenUp = client.ask(ref, { type: "Given up" }, { signal });
  controller.abort();
  await Promise.allSettled([givenUp, client.ask(ref, { type: "Kept" })]);
  assertEquals(seen, ["Kept"]);
});

Deno.test("rpc: an ask after close, and one that waits for a local answer at close, fail", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const silent = env.register("Silent", { receiveAndReply: () => {} });
  const waiting = assertRejects(() => env.ask(silent, {}), RpcError);
  await env.close();
  await waiting;
  await assertRejects(() => env.ask(silent, {}), RpcError, "closed");
  await assertRejects(
    () => env.ask({ name: "A", address: { host: "127.0.0.1", port: 1 } }, {}),
    RpcError,
    "closed",
  );
});

Deno.test("rpc: pages of one message, bytes in data, come back whole whatever the read buffer", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const kept: Uint8Array[] = [];
  const ref = server.register("Keep", {
    receiveAndReply(message, context) {
      const { data } = message as { data: Uint8Array };
      kept.push(data);
      context.reply({ data });
    },
  });
  const sizes = [0, 1, 100, 65_500, 65_536, 200_000];
  const answers = await Promise.all(
    sizes.map((size, i) =>
      client.ask<{ data: Uint8Array }>(ref, {
        data: new Uint8Array(size).fill(i + 1),
      })
    ),
  );
  // What was kept must not be a view of a buffer that is read into again.
  for (const list of [kept, answers.map(({ data }) => data)]) {
    assertEquals(list.map(({ length }) => length), sizes);
    for (const [i, data] of list.entries()) {
      assert(data.every((byte) => byte === i + 1));
    }
  }
});

function at(target: RpcEnv | EndpointRef): string {
  return formatAddress(target.address!);
}
