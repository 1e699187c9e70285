import {
  RPC_ASK_TIMEOUT,
  WORKER_CLEANUP_APP_DATA_TTL,
  WORKER_CLEANUP_ENABLED,
  WORKER_CLEANUP_INTERVAL,
  WORKER_INITIAL_REGISTRATION_RETRIES,
  WORKER_MAX_REGISTRATION_RETRIES,
  WORKER_PREFER_CONFIGURED_MASTER_ADDRESS,
  WORKER_RETAINED_EXECUTORS,
  WORKER_STATE_SYNC_MAX_ATTEMPTS,
  WORKER_TIMEOUT,
} from "../conf/settings.ts";
import type { Setting } from "../conf/setting.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import { InvalidSettingError, type Milliseconds } from "../conf/units.ts";

/** The settings that the worker's decisions depend on, read once. */
export interface WorkerSettings {
  readonly heartbeatInterval: Milliseconds;
  /** Attempts to register that are about 10 s apart. */
  readonly initialRegistrationRetries: number;
  /** All attempts to register. */
  readonly maxRegistrationRetries: number;
  readonly preferConfiguredMasterAddress: boolean;
  readonly retainedExecutors: number;
  readonly stateSyncMaxAttempts: number;
  /** The pause before a state change is told again. */
  readonly askTimeout: Milliseconds;
  readonly cleanupEnabled: boolean;
  readonly cleanupInterval: Milliseconds;
  readonly appDataTtl: Milliseconds;
}

/** Heartbeats per `spark.worker.timeout`. */
const HEARTBEATS_PER_TIMEOUT = 4;

/**
 * Reads what the worker needs of the configuration.
 *
 * @throws {InvalidSettingError} naming the setting that doesn't fit.
 */
export function readWorkerSettings(conf: SparkConf): WorkerSettings {
  function atLeast(setting: Setting<number>, least: number): number {
    const value = conf.get(setting);
    if (value >= least) return value;
    throw new InvalidSettingError(
      `Cannot use ${setting.key}: ${
        conf.getText(setting)
      } is less than it may be.`,
    );
  }
  const maxRegistrationRetries = atLeast(WORKER_MAX_REGISTRATION_RETRIES, 1);
  return {
    heartbeatInterval: atLeast(WORKER_TIMEOUT, 1) / HEARTBEATS_PER_TIMEOUT,
    initialRegistrationRetries: Math.min(
      atLeast(WORKER_INITIAL_REGISTRATION_RETRIES, 1),
      maxRegistrationRetries,
    ),
    maxRegistrationRetries,
    preferConfiguredMasterAddress: conf.get(
      WORKER_PREFER_CONFIGURED_MASTER_ADDRESS,
    ),
    retainedExecutors: atLeast(WORKER_RETAINED_EXECUTORS, 0),
    stateSyncMaxAttempts: atLeast(WORKER_STATE_SYNC_MAX_ATTEMPTS, 1),
    askTimeout: atLeast(RPC_ASK_TIMEOUT, 1),
    cleanupEnabled: conf.get(WORKER_CLEANUP_ENABLED),
    cleanupInterval: atLeast(WORKER_CLEANUP_INTERVAL, 1),
    appDataTtl: atLeast(WORKER_CLEANUP_APP_DATA_TTL, 0),
  };
}
