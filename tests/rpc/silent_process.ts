/** A process for tests: prints its port, then a dot for each ask, and answers none. */
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { RpcEnv } from "../../lib/rpc/mod.ts";

const env = await RpcEnv.create({
  host: "127.0.0.1",
  port: 0,
  conf: new SparkConf(),
});
env.register("Silent", {
  receiveAndReply: () => void Deno.stdout.writeSync(new Uint8Array([0x2e])),
});
Deno.stdout.writeSync(new TextEncoder().encode(`${env.address!.port}`));
// Ends with the test that started it, should the test not kill it.
for await (const _ of Deno.stdin.readable);
Deno.exit(0);
