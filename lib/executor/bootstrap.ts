import { APP_ID, EXECUTOR_ID } from "../conf/settings.ts";
import { isExecutorStartupSetting, SparkConf } from "../conf/spark_conf.ts";
import type { EndpointRef } from "../messages/addresses.ts";
import type { SparkAppConfig } from "../messages/cluster.ts";
import type { ResourceProfile } from "../messages/deploy.ts";
import { RpcEnv } from "../rpc/mod.ts";
import type { ExecutorArguments } from "./arguments.ts";

const DRIVER_LOOKUP_ATTEMPTS = 3;

/** What an executor needs to know before it can be one. */
export interface ExecutorConfiguration {
  readonly executorId: string;
  readonly conf: SparkConf;
  readonly profile: ResourceProfile;
}

/**
 * Asks the driver for the application's settings, over a connection that is
 * used for nothing else and closed again, because only with the settings can
 * the real environment be made (Spark: `KubernetesExecutorBackend.run`).
 *
 * @throws {RpcError} when the driver can't be reached or refuses.
 */
export async function fetchConfiguration(
  args: ExecutorArguments,
): Promise<ExecutorConfiguration> {
  const fetcher = await RpcEnv.create({
    host: args.hostname,
    port: null,
    conf: new SparkConf(),
  });
  try {
    const driver = await lookupDriver(fetcher, args.driverUrl);
    const config = await fetcher.ask<SparkAppConfig>(driver, {
      type: "RetrieveSparkAppConfig",
      resourceProfileId: args.resourceProfileId,
    });
    const executorId = args.executorId ??
      await fetcher.ask<string>(driver, {
        type: "GenerateExecID",
        podName: args.podName,
      });
    return {
      executorId,
      conf: executorConf(config.sparkProperties, args.appId, executorId),
      profile: config.resourceProfile,
    };
  } finally {
    await fetcher.close();
  }
}

/** @throws {RpcError} when the driver can't be reached, after three tries. */
export async function lookupDriver(
  env: RpcEnv,
  driverUrl: string,
): Promise<EndpointRef> {
  for (let attempt = 1;; attempt++) {
    try {
      return await env.lookup(driverUrl);
    } catch (error) {
      if (attempt === DRIVER_LOOKUP_ATTEMPTS) throw error;
    }
  }
}

/**
 * The executor's settings: the driver's, except that those which an executor
 * needs to start only fill what is missing.
 */
export function executorConf(
  properties: Iterable<readonly [string, string]>,
  appId: string,
  executorId: string,
  given = new SparkConf(),
): SparkConf {
  const conf = given.clone();
  for (const [key, value] of [...properties, [APP_ID.key, appId] as const]) {
    if (isExecutorStartupSetting(key)) conf.setIfMissing(key, value);
    else conf.set(key, value);
  }
  return conf.set(EXECUTOR_ID.key, executorId);
}
