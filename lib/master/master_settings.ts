import {
  APP_ID_PATTERN,
  APP_NUMBER_MODULO,
  DEAD_WORKER_PERSISTENCE,
  DEFAULT_CORES,
  MAX_EXECUTOR_RETRIES,
  RETAINED_APPLICATIONS,
  SPREAD_OUT_APPS,
  USE_APP_NAME_AS_APP_ID,
  WORKER_SELECTION_POLICY,
  WORKER_TIMEOUT,
  type WorkerSelectionPolicy,
} from "../conf/settings.ts";
import type { Setting } from "../conf/setting.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import { InvalidSettingError, type Milliseconds } from "../conf/units.ts";
import { formatIdPattern, idTimestamp } from "../messages/id_pattern.ts";
import type { ApplicationIdOptions } from "./ids.ts";

/** The settings that the master's decisions depend on, read once. */
export interface MasterSettings {
  readonly workerTimeout: Milliseconds;
  /** A dead worker is shown for so many timeouts more than its first one. */
  readonly deadWorkerPersistence: number;
  readonly spreadOutApps: boolean;
  readonly workerSelectionPolicy: WorkerSelectionPolicy;
  readonly defaultCores: number;
  readonly maxExecutorRetries: number;
  readonly retainedApplications: number;
  readonly applicationIds: ApplicationIdOptions;
}

/** Spark takes no smaller `spark.deploy.appNumberModulo`. */
const LEAST_MODULO = 1_000;

/**
 * Reads what the master needs of the configuration.
 *
 * @throws {InvalidSettingError} naming the setting that doesn't fit.
 */
export function readMasterSettings(conf: SparkConf): MasterSettings {
  const atLeast = <T extends number | undefined>(
    setting: Setting<T>,
    least: number,
  ): T => {
    const value = conf.get(setting);
    if (value !== undefined && value < least) {
      refuse(setting, `${conf.getText(setting)} is less than ${least}`);
    }
    return value;
  };
  const workerTimeout = conf.get(WORKER_TIMEOUT);
  if (workerTimeout <= 0) refuse(WORKER_TIMEOUT, "it must be above 0");
  return {
    workerTimeout,
    deadWorkerPersistence: atLeast(DEAD_WORKER_PERSISTENCE, 0),
    spreadOutApps: conf.get(SPREAD_OUT_APPS),
    workerSelectionPolicy: conf.get(WORKER_SELECTION_POLICY),
    defaultCores: atLeast(DEFAULT_CORES, 1),
    maxExecutorRetries: conf.get(MAX_EXECUTOR_RETRIES),
    retainedApplications: atLeast(RETAINED_APPLICATIONS, 0),
    applicationIds: {
      pattern: readIdPattern(conf, APP_ID_PATTERN),
      modulo: atLeast(APP_NUMBER_MODULO, LEAST_MODULO),
      fromName: conf.get(USE_APP_NAME_AS_APP_ID),
    },
  };
}

/** Tries the pattern once, so that a bad one stops the start, not an app. */
function readIdPattern(conf: SparkConf, setting: Setting<string>): string {
  const pattern = conf.get(setting);
  try {
    formatIdPattern(pattern, idTimestamp(0), 0);
  } catch (cause) {
    if (!(cause instanceof InvalidSettingError)) throw cause;
    refuse(setting, cause.message, cause);
  }
  return pattern;
}

function refuse(
  setting: Setting<unknown>,
  reason: string,
  cause?: unknown,
): never {
  throw new InvalidSettingError(`Cannot use ${setting.key}: ${reason}.`, {
    cause,
  });
}
