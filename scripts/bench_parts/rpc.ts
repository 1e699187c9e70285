/**
 * How many asks a second go between two processes over the loopback.
 *
 * @module
 */
import { TextLineStream } from "@std/streams";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import type { EndpointRef } from "../../lib/messages/addresses.ts";
import { parseSparkUrl } from "../../lib/messages/addresses.ts";
import { RpcEnv } from "../../lib/rpc/mod.ts";
import type { Figure } from "./figure.ts";

const WARM_UP_MS = 500;
const MEASURED_MS = 1_500;

/** Starts the server process, measures, and ends it. */
export async function benchRpc(): Promise<Figure[]> {
  const server = startServer();
  const env = await RpcEnv.create({
    host: "127.0.0.1",
    port: null,
    conf: new SparkConf(),
  });
  try {
    const address = parseSparkUrl(`spark://${await firstLine(server.stdout)}`);
    const echo = await env.lookup({ address, name: "Echo" });
    return [
      await figure(env, echo, { inFlight: 1, target: 6_000 }),
      await figure(env, echo, { inFlight: 1_000, target: 100_000 }),
    ];
  } finally {
    await env.close();
    await server.stdin.close();
    await server.status;
  }
}

function startServer(): Deno.ChildProcess {
  // What scripts/deno tells those that start Deno anew: the import map in use.
  const flags = Deno.env.get("SPARKTS_RUN_FLAGS")?.split("\n") ?? [];
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...flags,
      "-A",
      new URL("rpc_server.ts", import.meta.url).href,
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
}

async function firstLine(stdout: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const lines = stdout.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream());
  for await (const line of lines) return line;
  throw new Error("The server of the RPC benchmark ended before it listened.");
}

async function figure(
  env: RpcEnv,
  echo: EndpointRef,
  { inFlight, target }: { inFlight: number; target: number },
): Promise<Figure> {
  await asksPerSecond(env, echo, inFlight, WARM_UP_MS);
  const value = await asksPerSecond(env, echo, inFlight, MEASURED_MS);
  return {
    name: `RPC asks, ${inFlight.toLocaleString("en")} in flight`,
    value: Math.round(value),
    unit: "/s",
    target: `≥ ${target.toLocaleString("en")}`,
    met: value >= target,
  };
}

async function asksPerSecond(
  env: RpcEnv,
  echo: EndpointRef,
  inFlight: number,
  duration: number,
): Promise<number> {
  const start = performance.now();
  let answers = 0;
  let over = false;
  setTimeout(() => over = true, duration);
  async function askOn(): Promise<void> {
    while (!over) {
      await env.ask(echo, { type: "Echo", number: answers });
      answers++;
    }
  }
  await Promise.all(Array.from({ length: inFlight }, askOn));
  return answers / (performance.now() - start) * 1_000;
}
