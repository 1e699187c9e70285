import { assert, assertEquals } from "@std/assert";
import {
  formatAddress,
  type RpcAddress,
} from "../../lib/messages/addresses.ts";
import type { RpcEnv } from "../../lib/rpc/mod.ts";
import { body, frame } from "./frames.ts";
import { Bench, deadPort, eventually, rawConnection } from "./support.ts";

/** Registers an endpoint that notes what it hears of connections. */
function listenIn(env: RpcEnv, name = "Events"): string[] {
  const seen: string[] = [];
  const note = (event: string) => (address: RpcAddress) =>
    void seen.push(`${event} ${formatAddress(address)}`);
  env.register(name, {
    receive: (_, sender) => note("message")(sender),
    onConnected: note("connected"),
    onDisconnected: note("disconnected"),
    onNetworkError: (_, address) => note("networkError")(address),
    onStop: () => void seen.push("stop"),
  });
  return seen;
}

// RpcEnvSuite, NettyRpcHandlerSuite
Deno.test("connection events: two listening peers know each other by their declared addresses", async () => {
  await using bench = new Bench();
  const a = await bench.server();
  const b = await bench.server({
    host: "example.com",
    bindAddress: "127.0.0.1",
  });
  const seenByA = [listenIn(a), listenIn(a, "Second")];
  const seenByB = listenIn(b);
  b.send(a.refTo("Events"), { type: "Hello" });
  const atA = formatAddress(a.address!);
  const atB = `example.com:${b.address!.port}`;
  await eventually("the message", () => seenByA[0].length === 2);
  await b.close();
  await eventually("the end", () => seenByA[0].length === 3);
  assertEquals(seenByA, [
    [`connected ${atB}`, `message ${atB}`, `disconnected ${atB}`],
    [`connected ${atB}`, `disconnected ${atB}`],
  ]);
  assertEquals(seenByB, [`connected ${atA}`, "stop"]);
});

// RpcEnvSuite
Deno.test("connection events: a peer without a port is known by its socket, and hears of the server by its address", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const seenByServer = listenIn(server);
  const seenByClient = listenIn(client);
  client.send(server.refTo("Events"), { type: "Hello" });
  await eventually("the message", () => seenByServer.length === 2);
  const at = formatAddress(server.address!);
  assertEquals(seenByClient, [`connected ${at}`]);
  const address = seenByServer[0].split(" ")[1];
  assert(/^127\.0\.0\.1:\d+$/.test(address), address);
  await server.close();
  await eventually("the end", () => seenByClient.length === 2);
  assertEquals(seenByClient, [`connected ${at}`, `disconnected ${at}`]);
});

// RpcEnvSuite
Deno.test("connection events: closing tells the own endpoints nothing but stop", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const seen = listenIn(server);
  client.send(server.refTo("Events"), { type: "Hello" });
  await eventually("the message", () => seen.length === 2);
  await server.close();
  assertEquals(seen.slice(2), ["stop"]);
});

Deno.test("connection events: a connection that can't be made is a network error", async () => {
  await using bench = new Bench();
  const client = await bench.client();
  const seen = listenIn(client);
  const address = { host: "127.0.0.1", port: deadPort() };
  client.send({ name: "A", address }, { type: "Hello" });
  await eventually("the error", () => seen.length > 0);
  assertEquals(seen, [`networkError ${formatAddress(address)}`]);
});

Deno.test("connection events: a connection that breaks is a network error, then disconnected", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const seen = listenIn(server);
  const raw = await rawConnection(server.address!);
  const peer = { host: "peer", port: 4040 };
  await raw.socket.write(
    frame(9, (writer) => {
      const bytes = body("Events", { type: "Hello" }, peer);
      writer.i32(bytes.length);
      writer.bytes(bytes);
    }),
  );
  await eventually("the message", () => seen.length === 2);
  await raw.socket.write(new Uint8Array(8));
  await raw.untilClosed();
  raw.socket.close();
  await eventually("the end", () => seen.length === 4);
  assertEquals(seen.toSorted(), [
    "connected peer:4040",
    "disconnected peer:4040",
    "message peer:4040",
    "networkError peer:4040",
  ]);
  assertEquals(seen.indexOf("networkError peer:4040"), 2);
});

Deno.test("connection events: the second of two connections with a peer that ends is the one that counts", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const seen = listenIn(server);
  const peer = { host: "peer", port: 4040 };
  const raws = [];
  for (let i = 0; i < 2; i++) {
    const raw = await rawConnection(server.address!);
    raws.push(raw);
    await raw.socket.write(
      frame(9, (writer) => {
        const bytes = body("Events", { type: "Hello" }, peer);
        writer.i32(bytes.length);
        writer.bytes(bytes);
      }),
    );
    await eventually("the message", () => seen.length === i + 2);
  }
  // What is for the peer goes over the newer of its two connections.
  const buffer = new Uint8Array(1000);
  server.send({ name: "X", address: peer }, { type: "Back" });
  assert((await raws[1].socket.read(buffer))! > 0);
  raws[1].socket.close();
  let cameByOlder = false;
  const read = raws[0].socket.read(buffer).then(() => cameByOlder = true);
  await eventually("a message over the older one", () => {
    server.send({ name: "X", address: peer }, { type: "Back" });
    return cameByOlder;
  });
  await read;
  assertEquals(seen.filter((each) => each.startsWith("disc")), []);
  raws[0].socket.close();
  await eventually("the end", () => seen.at(-1)!.startsWith("disc"));
});

Deno.test("connection events: a peer dialled by a name that it doesn't declare goes by both", async () => {
  await using bench = new Bench();
  const server = await bench.server({
    host: "localhost",
    bindAddress: "127.0.0.1",
  });
  const client = await bench.client();
  const seenByClient = listenIn(client);
  const { port } = server.address!;
  const received: string[] = [];
  const ref = server.register("Back", {
    receive: (_, sender) => {
      received.push(formatAddress(sender));
      server.send({ name: "Events", address: sender }, { type: "Back" });
    },
  });
  assertEquals(ref.address.host, "localhost");
  const address = { host: "127.0.0.1", port };
  client.send({ name: "Back", address }, { type: "A" });
  await eventually("the way back", () => seenByClient.length === 3);
  client.send(ref, { type: "B" });
  await eventually("the second message", () => received.length === 2);
  // Both came over one connection.
  assertEquals(received[0], received[1]);
  assertEquals(seenByClient.slice(0, 3).toSorted(), [
    `connected 127.0.0.1:${port}`,
    `connected localhost:${port}`,
    `message localhost:${port}`,
  ]);
});

Deno.test("connection events: a peer that dials while it is dialled still gets its messages over the first connection", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const seen = listenIn(server);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const peer = { host: "127.0.0.1", port: listener.addr.port };
  const buffer = new Uint8Array(1000);
  server.send({ name: "X", address: peer }, { type: "First" });
  const dialled = await listener.accept();
  assert((await dialled.read(buffer))! > 0);
  const raw = await rawConnection(server.address!);
  await raw.socket.write(
    frame(9, (writer) => {
      const bytes = body("Events", { type: "Hello" }, peer);
      writer.i32(bytes.length);
      writer.bytes(bytes);
    }),
  );
  await eventually("the message", () => seen.length === 2);
  // Over the other one it could overtake the first message.
  server.send({ name: "X", address: peer }, { type: "Second" });
  const count = (await dialled.read(buffer))!;
  assert(
    new TextDecoder().decode(buffer.subarray(0, count)).includes("Second"),
  );
  dialled.close();
  raw.socket.close();
  listener.close();
});
