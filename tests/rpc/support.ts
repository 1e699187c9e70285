import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { setLogSink } from "../../lib/log.ts";
import type { RpcAddress } from "../../lib/messages/addresses.ts";
import { RpcEnv, type RpcEnvOptions } from "../../lib/rpc/mod.ts";

/** A message of the tests. */
export interface Note {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Waits until something holds; fails naming it when it doesn't in time. */
export async function eventually(
  what: string,
  condition: () => boolean,
  limit = 5_000,
): Promise<void> {
  const end = performance.now() + limit;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`It never came: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Environments and log lines of one test, gone when it ends. */
export class Bench implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly #envs: RpcEnv[] = [];
  readonly #restoreLog = setLogSink((line) => this.lines.push(line));

  server(options: Partial<RpcEnvOptions> = {}): Promise<RpcEnv> {
    return this.#env({ port: 0, ...options });
  }

  client(options: Partial<RpcEnvOptions> = {}): Promise<RpcEnv> {
    return this.#env({ port: null, ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#envs.map((env) => env.close()));
    this.#restoreLog();
  }

  async #env(options: Partial<RpcEnvOptions>): Promise<RpcEnv> {
    const env = await RpcEnv.create({
      host: "127.0.0.1",
      port: 0,
      conf: new SparkConf(),
      ...options,
    });
    this.#envs.push(env);
    return env;
  }
}

/** A socket that speaks whatever the test wants. */
export async function rawConnection(address: RpcAddress): Promise<{
  readonly socket: Deno.TcpConn;
  /** All that comes until the other side closes, or resets. */
  untilClosed(): Promise<Uint8Array>;
}> {
  const socket = await Deno.connect({
    hostname: address.host,
    port: address.port,
  });
  return {
    socket,
    async untilClosed() {
      const parts: number[] = [];
      const buffer = new Uint8Array(4096);
      try {
        for (let count; (count = await socket.read(buffer)) !== null;) {
          parts.push(...buffer.subarray(0, count));
        }
      } catch (error) {
        if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
      }
      return new Uint8Array(parts);
    },
  };
}

/** A port of the loopback on which nobody listens. */
export function deadPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Registers `Echo`, which answers what it is asked. */
export function registerEcho(env: RpcEnv) {
  return env.register("Echo", {
    receiveAndReply: (message, context) => context.reply(message),
  });
}

/** A promise that the test settles, and what it needs to do so. */
export function gate(): PromiseWithResolvers<void> {
  return Promise.withResolvers<void>();
}

/** Why a promise was rejected; undefined when it was not. */
export function reasonOf(result: PromiseSettledResult<unknown>): unknown {
  return result.status === "rejected" ? result.reason : undefined;
}
