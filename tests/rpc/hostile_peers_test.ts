import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { ByteReader } from "../../lib/rpc/bytes.ts";
import { readFrame } from "../../lib/rpc/frame.ts";
import { body, encodeFrame, frame, joined } from "./frames.ts";
import { Bench, eventually, rawConnection, registerEcho } from "./support.ts";

const text = (value: string) => new TextEncoder().encode(value);

function oneWay(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return encodeFrame({ type: 9, body: bytes });
}

/** What is sent, and what the one line of the log must say of it. */
const ATTACKS: readonly (readonly [string, Uint8Array<ArrayBuffer>, string])[] =
  [
    [
      "an HTTP request",
      text("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
      "HTTP request",
    ],
    [
      "a TLS hello",
      Uint8Array.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 9, 9]),
      "TLS hello",
    ],
    ["garbage", new Uint8Array(64).fill(0xee), "gives its length as"],
    [
      "a frame that is too long",
      Uint8Array.from([0, 0, 0, 0, 0, 0x20, 0, 0, 9]),
      "spark.rpc.message.maxSize",
    ],
    [
      "a frame of an unknown type",
      frame(77, (writer) => writer.i32(0)),
      "unknown type 77",
    ],
    [
      "a frame whose body is longer than it",
      frame(9, (writer) => writer.i32(100)),
      "cut short",
    ],
    ["a body that is no envelope", oneWay(text("\x01\x00")), "needed"],
    [
      "a payload of no known format",
      oneWay(new Uint8Array([...body("Echo", 0).slice(0, -2), 0x55, 0x55])),
      "no format known",
    ],
    [
      "a message that is no JSON",
      oneWay(new Uint8Array([...body("Echo", 7), 0x7b])),
      "cannot be read as JSON",
    ],
    [
      "an answer for a stream that nobody asked for",
      encodeFrame({ type: 7, streamId: "s", byteCount: 5 }),
      "not asked for",
    ],
    [
      "senders without end",
      joined(
        Array.from(
          { length: 40 },
          (_, i) => oneWay(body("Echo", {}, { host: `h${i}`, port: 1 })),
        ),
      ),
      "more than 16 addresses",
    ],
    [
      "stream requests without end",
      joined(
        Array.from(
          { length: 2000 },
          () => encodeFrame({ type: 6, streamId: "s" }),
        ),
      ),
      "more than 1000 streams",
    ],
  ];

for (const [name, bytes, reason] of ATTACKS) {
  Deno.test(`hostile peer: ${name} ends that connection with one line, and the others go on`, async () => {
    await using bench = new Bench();
    const conf = new SparkConf({ "spark.rpc.message.maxSize": "1" });
    const server = await bench.server({ conf });
    server.register("Echo", {
      receive: () => {},
      receiveAndReply: (message, context) => context.reply(message),
    });
    const client = await bench.client();
    const echo = await client.lookup(server.refTo("Echo"));
    const raw = await rawConnection(server.address!);
    await raw.socket.write(bytes);
    await raw.untilClosed();
    raw.socket.close();
    await eventually("the line", () => bench.lines.length > 0);
    assertEquals(bench.lines.length, 1);
    assertStringIncludes(bench.lines[0], "WARN RpcEnv: Closed the connection");
    assertStringIncludes(bench.lines[0], reason);
    assertEquals(await client.ask(echo, { n: 1 }), { n: 1 });
    assertEquals(bench.lines.length, 1);
  });
}

Deno.test("hostile peer: one that closes in the middle of a frame is told in one line", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const raw = await rawConnection(server.address!);
  await raw.socket.write(oneWay(body("Echo", {})).subarray(0, 20));
  raw.socket.close();
  await eventually("the line", () => bench.lines.length > 0);
  assertEquals(bench.lines.length, 1);
  assertStringIncludes(bench.lines[0], "in the middle of a frame");
});

Deno.test("hostile peer: one that connects and leaves, or says nothing, is no news", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const silent = await rawConnection(server.address!);
  const leaves = await rawConnection(server.address!);
  leaves.socket.close();
  const client = await bench.client();
  assertEquals(await client.ask(registerEcho(server), {}), {});
  await server.close();
  await silent.untilClosed();
  silent.socket.close();
  assertEquals(bench.lines, []);
});

// TransportResponseHandlerSuite
Deno.test("hostile peer: answers to what was never asked are ignored", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const raw = await rawConnection(server.address!);
  await raw.socket.write(joined([
    encodeFrame({ type: 4, requestId: 0, body: text("\x01null") }),
    encodeFrame({ type: 5, requestId: 2n ** 60n, error: "no" }),
  ]));
  registerEcho(server);
  await raw.socket.write(
    encodeFrame({ type: 3, requestId: -1, body: body("Echo", 7) }),
  );
  const buffer = new Uint8Array(100);
  const count = (await raw.socket.read(buffer))!;
  const answer = readFrame(buffer.subarray(8, count));
  assertEquals(answer, { type: 4, requestId: -1, body: text("\x017") });
  raw.socket.close();
  assertEquals(bench.lines, []);
});

Deno.test("hostile peer: a request's id comes back as it was, over all 64 bits", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  registerEcho(server);
  const raw = await rawConnection(server.address!);
  const ids = [0n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, -1n];
  for (const id of ids) {
    for (const name of ["Echo", "Nobody"]) {
      await raw.socket.write(
        encodeFrame({ type: 3, requestId: id, body: body(name, {}) }),
      );
      const buffer = new Uint8Array(200);
      const count = (await raw.socket.read(buffer))!;
      const reader = new ByteReader(buffer.subarray(0, count), 8);
      assertEquals(reader.u8(), name === "Echo" ? 4 : 5);
      assertEquals(BigInt(reader.anyI64()), id);
    }
  }
  raw.socket.close();
});

// ChunkFetchIntegrationSuite
Deno.test("hostile peer: a chunk request is refused alone", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const raw = await rawConnection(server.address!);
  await raw.socket.write(
    encodeFrame({ type: 0, streamId: 2n ** 62n, chunkIndex: 3 }),
  );
  const buffer = new Uint8Array(200);
  const count = (await raw.socket.read(buffer))!;
  const reader = new ByteReader(buffer.subarray(0, count), 8);
  assertEquals(reader.u8(), 2);
  assertEquals(reader.anyI64(), 2n ** 62n);
  assertEquals(reader.i32(), 3);
  assert(reader.string().includes("no chunks"));
  raw.socket.close();
  assertEquals(bench.lines, []);
});
