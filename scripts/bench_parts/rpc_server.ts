/**
 * The other process of the RPC benchmark: listens on a free port of the
 * loopback, prints `host:port`, and answers every ask until its stdin ends.
 *
 * @module
 */
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { formatAddress } from "../../lib/messages/addresses.ts";
import { RpcEnv } from "../../lib/rpc/mod.ts";

const env = await RpcEnv.create({
  host: "127.0.0.1",
  port: 0,
  conf: new SparkConf(),
});
env.register("Echo", {
  receiveAndReply: (message, context) => context.reply(message),
});
console.log(formatAddress(env.address!));

// Ends with the process that started it, however that one ends.
for await (const _ of Deno.stdin.readable);
await env.close();
