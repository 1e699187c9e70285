import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { RpcError, RpcOverloadedError } from "../../lib/rpc/mod.ts";
import { RpcRemoteError } from "../../lib/rpc/mod.ts";
import { Connection } from "../../lib/rpc/connection.ts";
import { nativeFormat } from "../../lib/rpc/payload.ts";
import { AskTimeouts, PendingAsk } from "../../lib/rpc/pending_ask.ts";
import type { Transport } from "../../lib/rpc/transport.ts";
import { Bench, eventually, rawConnection, registerEcho } from "./support.ts";
import { body, encodeFrame } from "./frames.ts";

const oneMebibyte = new SparkConf({ "spark.rpc.message.maxSize": "1" });

Deno.test("limits: a message that is too long fails its sender, and the connection lives", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client({ conf: oneMebibyte });
  const echo = registerEcho(server);
  const text = "x".repeat(1 << 20);
  const error = await assertRejects(
    () => client.ask(echo, { text }),
    RpcError,
  );
  assertStringIncludes(error.message, "spark.rpc.message.maxSize");
  client.send(echo, { type: "Long", text });
  assertEquals(bench.lines.length, 1);
  assertStringIncludes(bench.lines[0], "Failed to send Long");
  assertEquals(await client.ask(echo, { n: 1 }), { n: 1 });
});

Deno.test("limits: an answer that is too long fails the ask, and the connection lives", async () => {
  await using bench = new Bench();
  const server = await bench.server({ conf: oneMebibyte });
  const client = await bench.client();
  const ref = server.register("Long", {
    receiveAndReply: (_, context) => context.reply("x".repeat(1 << 20)),
  });
  const error = await assertRejects(() => client.ask(ref, {}), RpcRemoteError);
  assertStringIncludes(error.message, "spark.rpc.message.maxSize");
  assertEquals(await client.ask(registerEcho(server), { n: 1 }), { n: 1 });
});

Deno.test("limits: the text of a failure is cut, so that it always fits", async () => {
  await using bench = new Bench();
  const server = await bench.server({ conf: oneMebibyte });
  const client = await bench.client();
  const ref = server.register("Verbose", {
    receiveAndReply: (_, context) =>
      context.sendFailure(new Error("é".repeat(3 << 20))),
  });
  const error = await assertRejects(() => client.ask(ref, {}), RpcRemoteError);
  assertEquals(error.message, "é".repeat(32_768));
});

Deno.test("limits: what waits for a peer that reads nothing is bounded, and then refused", async () => {
  await using bench = new Bench();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = { host: "127.0.0.1", port: listener.addr.port };
  const client = await bench.client({ conf: oneMebibyte });
  const ref = { name: "A", address };
  const accepted = listener.accept();
  const text = "x".repeat(900_000);
  client.send(ref, { type: "First" });
  const socket = await accepted;
  await new Promise((resolve) => setTimeout(resolve, 10));
  for (let i = 0; i < 40 && bench.lines.length === 0; i++) {
    client.send(ref, { type: "Long", text });
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals(bench.lines.length, 1);
  assertStringIncludes(bench.lines[0], "over the limit");
  await assertRejects(() => client.ask(ref, {}), RpcOverloadedError);
  socket.close();
  listener.close();
});

Deno.test("limits: a peer that asks and reads no answers is cut off", async () => {
  await using bench = new Bench();
  const server = await bench.server({ conf: oneMebibyte });
  const text = "x".repeat(900_000);
  server.register("Long", {
    receiveAndReply: (_, context) => context.reply(text),
  });
  const raw = await rawConnection(server.address!);
  const request = encodeFrame({
    type: 3,
    requestId: 1,
    body: body("Long", {}),
  });
  for (let i = 0; i < 60 && bench.lines.length === 0; i++) {
    await raw.socket.write(request).catch(() => {}); // once it is cut off
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await eventually("the line", () => bench.lines.length > 0);
  assertEquals(bench.lines.length, 1);
  assertStringIncludes(bench.lines[0], "over the limit");
  await raw.untilClosed();
  raw.socket.close();
});

Deno.test("limits: so many asks wait on one connection and no more", () => {
  const transport: Transport = {
    remote: { host: "peer", port: 1 },
    read: () => new Promise(() => {}),
    write: (bytes) => Promise.resolve(bytes.length),
    closeWrite: () => Promise.resolve(),
    close: () => {},
  };
  const connection = new Connection(transport, {
    message: () => {},
    openStream: () => undefined,
    pressure: () => undefined,
    closed: () => {},
  }, { maxFrameSize: 1000, maxQueuedBytes: 10_000, maxPendingAsks: 3 });
  const timeouts = new AskTimeouts();
  const errors: unknown[] = [];
  const ask = () => {
    const pending = new PendingAsk(
      timeouts,
      performance.now() + 60_000,
      () => new Error("timed out"),
      () => {},
      (error) => errors.push(error),
    );
    timeouts.add(pending);
    connection.ask({
      envelope: new Uint8Array(3),
      codec: nativeFormat.create(),
      message: {},
    }, pending);
    return pending;
  };
  const [first] = [ask(), ask(), ask()];
  assertThrows(ask, RpcOverloadedError, "3 asks wait");
  first.fail(new Error("given up"));
  assertEquals(connection.pendingAsks, 2);
  ask();
  connection.close(new Error("reset"));
  assertEquals(connection.pendingAsks, 0);
  assertEquals(errors.length, 4);
  assertThrows(ask, RpcError, "closed");
  timeouts.close(new Error("end"));
});

Deno.test("limits: messages that wait for a connection to be made are bounded", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  let count = 0;
  const ref = server.register("Sink", { receive: () => void count++ });
  for (let i = 0; i < 10_005; i++) client.send(ref, { type: "M" });
  assertEquals(bench.lines.length, 5);
  assert(bench.lines.every((line) => line.includes("which is the limit")));
  await eventually("the others", () => count === 10_000);
});
