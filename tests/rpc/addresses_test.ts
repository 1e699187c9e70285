import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { formatAddress } from "../../lib/messages/addresses.ts";
import { RpcError } from "../../lib/rpc/mod.ts";
import { Bench, registerEcho } from "./support.ts";

// NettyRpcEnvSuite
Deno.test("addresses: what is told to others need not be what is listened on", async () => {
  await using bench = new Bench();
  const env = await bench.server({
    host: "example.com",
    bindAddress: "localhost",
  });
  assertEquals(
    formatAddress(env.address!).replace(/\d+$/, "0"),
    "example.com:0",
  );
  const client = await bench.client();
  const { port } = env.address!;
  registerEcho(env);
  const ref = await client.lookup(`spark://Echo@localhost:${port}`);
  assertEquals(await client.ask(ref, { n: 1 }), { n: 1 });
});

// RpcEnvSuite
Deno.test("addresses: a taken port is followed by the next that is free", async () => {
  await using bench = new Bench();
  const first = await bench.server();
  const { port } = first.address!;
  const second = await bench.server({ port });
  const distance = second.address!.port - port;
  assertEquals(distance > 0 && distance <= 16, true);
});

Deno.test("addresses: when no port can be had the error names them", async () => {
  await using bench = new Bench();
  const first = await bench.server();
  const { port } = first.address!;
  const conf = new SparkConf({ "spark.port.maxRetries": "0" });
  const error = await assertRejects(
    () => bench.server({ port, conf }),
    RpcError,
  );
  assertStringIncludes(error.message, `127.0.0.1, port ${port}`);
});

Deno.test("addresses: a setting that cannot be read leaves nothing open", async () => {
  await using bench = new Bench();
  const conf = new SparkConf({ "spark.rpc.askTimeout": "soon" });
  await assertRejects(
    () => bench.server({ conf }),
    Error,
    "spark.rpc.askTimeout",
  );
});

// RpcAddressSuite
Deno.test("addresses: IPv6 hosts stand in brackets, also those of peers without a port", async () => {
  if (!hasIpv6()) return;
  await using bench = new Bench();
  const server = await bench.server({ host: "::0:1" });
  assertEquals(server.address!.host, "[::1]");
  const ref = server.register("Sender", {
    receiveAndReply: (_, context) => context.reply(context.sender.host),
  });
  const client = await bench.client();
  assertEquals(await client.ask(ref, {}), "[::1]");
  const port = server.address!.port;
  assertEquals(
    (await client.lookup(`spark://Sender@[::0:1]:${port}`)).address.host,
    "[::1]",
  );
});

Deno.test("addresses: on a socket of both families an IPv4 peer has its IPv4 address", async () => {
  if (!hasIpv6()) return;
  await using bench = new Bench();
  const server = await bench.server({ host: "127.0.0.1", bindAddress: "::" });
  const ref = server.register("Sender", {
    receiveAndReply: (_, context) => context.reply(context.sender.host),
  });
  const client = await bench.client();
  assertEquals(await client.ask(ref, {}), "127.0.0.1");
});

function hasIpv6(): boolean {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    return false;
  }
}
