import type { SparkConf } from "../conf/spark_conf.ts";
import { javaFormat } from "../jvm/mod.ts";
import { getLogger } from "../log.ts";
import { toSparkUrl } from "../messages/addresses.ts";
import { MASTER_ENDPOINT, type ToMaster } from "../messages/deploy.ts";
import { RpcEnv, runMachine } from "../rpc/mod.ts";
import { MasterCore, type MasterEffect, type MasterEvent } from "./core.ts";

export interface MasterOptions {
  /** What workers and applications are told to dial. */
  readonly host: string;
  /** What is listened on; default: the host. */
  readonly bindAddress?: string;
  /** 0 takes a free port; a taken one is followed by the next ones. */
  readonly port: number;
  readonly conf: SparkConf;
}

/** A master that runs. */
export interface Master {
  /** `spark://host:port`, with the port that was really taken. */
  readonly url: string;
  readonly env: RpcEnv;
  /** The exit code, once the master has ended by itself or was closed. */
  readonly closed: Promise<number>;
  /** Ends it and waits until nothing of it is left. */
  close(): Promise<void>;
}

/**
 * Starts a master in this process.
 *
 * @throws {RpcError} when no port can be had.
 * @throws {InvalidSettingError} when a setting of the master is no good.
 */
export async function startMaster(options: MasterOptions): Promise<Master> {
  const env = await RpcEnv.create({ ...options, formats: [javaFormat] });
  try {
    return runMaster(env, options.conf);
  } catch (error) {
    await env.close();
    throw error;
  }
}

function runMaster(env: RpcEnv, conf: SparkConf): Master {
  const { address } = env.refTo(MASTER_ENDPOINT);
  const core = new MasterCore({ address, webUiUrl: "", conf });
  const host = runMachine<ToMaster, MasterEvent, MasterEffect>(
    env,
    MASTER_ENDPOINT,
    core,
    (effect: never) => effect,
  );
  const log = getLogger(MASTER_ENDPOINT);
  const closed = Promise.withResolvers<number>();
  let closing: Promise<void> | undefined;

  const end = (code: number): Promise<void> =>
    closing ??= host.close().then(() => env.close())
      .finally(() => closed.resolve(code));
  host.exited.then(({ code, reason }) => {
    log.error(reason);
    end(code).catch((error) => log.error("Failed to end cleanly", error));
  });
  return {
    url: toSparkUrl(address),
    env,
    closed: closed.promise,
    close: () => end(0),
  };
}
