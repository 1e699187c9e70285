/**
 * Every setting that sparkts reads, once: key, type, default, unit, meaning,
 * and the release of Spark that brought it. A default stands nowhere else.
 *
 * @module
 */
import {
  booleanSetting,
  bytesSetting,
  doubleSetting,
  intSetting,
  mebibytesAsBytesSetting,
  megabytesSetting,
  millisecondsSetting,
  plainSecondsSetting,
  secondsSetting,
  type Setting,
  stringSetting,
  wordSetting,
} from "./setting.ts";

/** Spark's "no limit" for counts of cores and executors. */
export const UNLIMITED = 2 ** 31 - 1;

// The application

export const APP_NAME = stringSetting("spark.app.name", {
  doc: "The application's name, as the master shows it.",
  since: "0.9.0",
});
export const APP_ID = stringSetting("spark.app.id", {
  doc: "The application's id, given by the master.",
  since: "1.4.0",
});
export const MASTER = stringSetting("spark.master", {
  doc: "Where the application runs: local[N], local-cluster[workers,cores," +
    "memory] or spark://host:port[,host:port...].",
  since: "0.9.0",
});
export const CORES_MAX = intSetting("spark.cores.max", {
  doc: "The most cores that the application takes from the whole cluster.",
  since: "0.6.0",
});
export const DEFAULT_PARALLELISM = intSetting("spark.default.parallelism", {
  doc: "Partitions of what parallelize, reduceByKey, join and the like make " +
    "when no number is given; unset: all cores of the application, at least 2.",
  since: "0.5.0",
});
export const LOG_LEVEL = wordSetting(
  "spark.log.level",
  ["ALL", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"],
  {
    default: "WARN",
    doc: "The least level of the log lines that submit writes to stderr.",
    since: "3.5.0",
  },
);
export const UI_SHOW_CONSOLE_PROGRESS = booleanSetting(
  "spark.ui.showConsoleProgress",
  {
    default: "true",
    doc: "Show the progress of running stages when stderr is a terminal.",
    since: "1.2.1",
  },
);
export const LOCAL_DIR = stringSetting("spark.local.dir", {
  doc: "Directories for shuffle files and the like, with commas between; " +
    "SPARK_LOCAL_DIRS, set by the cluster, wins.",
  since: "0.5.0",
});

// The driver

export const DRIVER_HOST = stringSetting("spark.driver.host", {
  doc: "The name or address at which executors reach the driver.",
  since: "0.7.0",
});
export const DRIVER_BIND_ADDRESS = stringSetting("spark.driver.bindAddress", {
  doc: "The address the driver listens on; unset: spark.driver.host.",
  since: "2.1.0",
});
export const DRIVER_PORT = intSetting("spark.driver.port", {
  default: "0",
  doc: "The port the driver listens on; 0 takes a free one.",
  since: "0.7.0",
});
export const DRIVER_MAX_RESULT_SIZE = bytesSetting(
  "spark.driver.maxResultSize",
  {
    default: "1g",
    doc: "The most bytes of results that one action may bring to the driver; " +
      "0 is no limit.",
    since: "1.2.0",
  },
);
export const APP_CLIENT_REGISTRATION_TIMEOUT = millisecondsSetting(
  "spark.appclient.registration.timeout",
  {
    default: "20s",
    doc: "How long one attempt to register with the masters waits.",
    since: "sparkts",
  },
);
export const APP_CLIENT_REGISTRATION_RETRIES = intSetting(
  "spark.appclient.registration.retries",
  {
    default: "3",
    doc: "How often the application tries to register with the masters.",
    since: "sparkts",
  },
);

// Executors

export const EXECUTOR_ID = stringSetting("spark.executor.id", {
  doc: "This executor's id, set by the executor itself.",
  since: "1.2.0",
});
export const EXECUTOR_CORES = intSetting("spark.executor.cores", {
  doc: "Cores of one executor; unset: an executor takes all the cores that " +
    "its worker grants the application.",
  since: "1.0.0",
});
export const EXECUTOR_MEMORY = megabytesSetting("spark.executor.memory", {
  default: "1g",
  doc: "Memory of one executor; its task threads' heaps share it.",
  since: "0.7.0",
});
export const EXECUTOR_HEARTBEAT_INTERVAL = millisecondsSetting(
  "spark.executor.heartbeatInterval",
  {
    default: "10s",
    doc: "How often an executor tells the driver that it lives.",
    since: "1.1.0",
  },
);
export const EXECUTOR_HEARTBEAT_MAX_FAILURES = intSetting(
  "spark.executor.heartbeat.maxFailures",
  {
    default: "60",
    doc: "After so many heartbeats in a row without an answer the executor " +
      "ends with exit code 56.",
    since: "1.6.2",
  },
);
export const NETWORK_TIMEOUT = secondsSetting("spark.network.timeout", {
  default: "120s",
  doc: "The driver gives up an executor that was silent for longer.",
  since: "1.3.0",
});
export const NETWORK_TIMEOUT_INTERVAL = millisecondsSetting(
  "spark.network.timeoutInterval",
  {
    default: "60s",
    doc: "How often the driver looks for silent executors.",
    since: "1.3.2",
  },
);

// Tasks

export const TASK_CPUS = intSetting("spark.task.cpus", {
  default: "1",
  doc: "Cores that one task takes.",
  since: "0.5.0",
});
export const TASK_MAX_FAILURES = intSetting("spark.task.maxFailures", {
  default: "4",
  doc: "How often one task may fail before its job fails.",
  since: "0.8.0",
});
export const TASK_REAPER_KILL_TIMEOUT = millisecondsSetting(
  "spark.task.reaper.killTimeout",
  {
    default: "10s",
    doc:
      "An executor ends itself when a task that was killed still runs after " +
      "this time; negative: never.",
    since: "2.0.3",
  },
);
export const STAGE_MAX_CONSECUTIVE_ATTEMPTS = intSetting(
  "spark.stage.maxConsecutiveAttempts",
  {
    default: "4",
    doc: "How often a stage may be tried again after lost shuffle files.",
    since: "2.2.0",
  },
);
export const MIN_REGISTERED_RESOURCES_RATIO = doubleSetting(
  "spark.scheduler.minRegisteredResourcesRatio",
  {
    default: "0.0",
    doc: "The share of the asked cores that must be there before tasks start.",
    since: "1.1.1",
  },
);
export const MAX_REGISTERED_RESOURCES_WAITING_TIME = millisecondsSetting(
  "spark.scheduler.maxRegisteredResourcesWaitingTime",
  {
    default: "30s",
    doc: "Start tasks after this time whatever is there.",
    since: "1.1.1",
  },
);
export const STARVATION_TIMEOUT = millisecondsSetting(
  "spark.starvation.timeout",
  {
    default: "15s",
    doc: "Warn when a job got no resources for so long, and again each time.",
    since: "0.7.0",
  },
);
export const EXECUTOR_REMOVE_DELAY_ON_DISCONNECTION = millisecondsSetting(
  "spark.standalone.executorRemoveDelayOnDisconnection",
  {
    default: "5s",
    doc: "How long the driver waits, after an executor's connection broke, " +
      "for the cluster's word on why.",
    since: "3.4.0",
  },
);
export const MEMORY_STORAGE_FRACTION = doubleSetting(
  "spark.memory.storageFraction",
  {
    default: "0.5",
    doc: "The share of an executor's memory for cached partitions.",
    since: "1.6.0",
  },
);

// RPC

export const RPC_ASK_TIMEOUT = secondsSetting("spark.rpc.askTimeout", {
  default: "120s",
  doc: "How long an ask waits for its answer.",
  since: "1.4.0",
});
export const RPC_MESSAGE_MAX_SIZE = mebibytesAsBytesSetting(
  "spark.rpc.message.maxSize",
  {
    default: "128",
    doc: "The longest frame that is sent or taken; bare numbers are MiB.",
    since: "2.0.0",
  },
);
export const RPC_CONNECT_TIMEOUT = secondsSetting(
  "spark.rpc.io.connectionTimeout",
  {
    default: "10s",
    doc: "How long opening a connection may take.",
    since: "1.2.0",
  },
);
export const PORT_MAX_RETRIES = intSetting("spark.port.maxRetries", {
  default: "16",
  doc: "How many ports after a taken one are tried.",
  since: "1.1.1",
});

// Master

export const WORKER_TIMEOUT = plainSecondsSetting("spark.worker.timeout", {
  default: "60",
  doc: "Seconds of silence after which the master gives up a worker.",
  since: "0.6.2",
});
export const DEAD_WORKER_PERSISTENCE = intSetting(
  "spark.dead.worker.persistence",
  {
    default: "15",
    doc: "For how many more timeouts a dead worker is still shown.",
    since: "0.8.0",
  },
);
export const SPREAD_OUT_APPS = booleanSetting("spark.deploy.spreadOutApps", {
  default: "true",
  alternatives: ["spark.deploy.spreadOut"],
  doc: "Spread an application's executors over many workers, or fill few.",
  since: "0.6.1",
});
export const WORKER_SELECTION_POLICY = wordSetting(
  "spark.deploy.workerSelectionPolicy",
  [
    "CORES_FREE_ASC",
    "CORES_FREE_DESC",
    "MEMORY_FREE_ASC",
    "MEMORY_FREE_DESC",
    "WORKER_ID",
  ],
  {
    default: "CORES_FREE_DESC",
    doc: "Which workers are taken first.",
    since: "4.0.0",
  },
);
export type WorkerSelectionPolicy = typeof WORKER_SELECTION_POLICY extends
  Setting<infer W> ? W : never;
export const DEFAULT_CORES = intSetting("spark.deploy.defaultCores", {
  default: String(UNLIMITED),
  doc: "spark.cores.max of applications that set none.",
  since: "0.9.0",
});
export const MAX_EXECUTOR_RETRIES = intSetting(
  "spark.deploy.maxExecutorRetries",
  {
    default: "10",
    doc: "Executors that fail in a row before the application is removed; " +
      "negative: never.",
    since: "1.6.3",
  },
);
export const RETAINED_APPLICATIONS = intSetting(
  "spark.deploy.retainedApplications",
  {
    default: "200",
    doc: "Ended applications that the master still shows.",
    since: "0.8.0",
  },
);
export const APP_ID_PATTERN = stringSetting("spark.deploy.appIdPattern", {
  default: "app-%s-%04d",
  doc: "How an application's id is made, from the time and a counter.",
  since: "4.0.0",
});
export const APP_NUMBER_MODULO = intSetting("spark.deploy.appNumberModulo", {
  doc: "The application counter starts again here; at least 1000.",
  since: "4.0.0",
});
export const USE_APP_NAME_AS_APP_ID = booleanSetting(
  "spark.master.useAppNameAsAppId.enabled",
  {
    default: "false",
    doc: "Make the application's id from its name.",
    since: "4.0.0",
  },
);

// Worker

export const WORKER_ID_PATTERN = stringSetting("spark.worker.idPattern", {
  default: "worker-%s-%s-%d",
  doc: "How a worker's id is made, from the time, its host and its port.",
  since: "4.0.0",
});
export const WORKER_JAVA_HOME = stringSetting("spark.worker.javaHome", {
  doc: "The Java that executors of Spark run on, before JAVA_HOME and PATH; " +
    "an application's spark.executorEnv.JAVA_HOME comes before it.",
  since: "sparkts",
});
export const WORKER_SPARK_HOME = stringSetting("spark.worker.sparkHome", {
  doc: "The Spark whose jars executors of Spark run, before SPARK_HOME.",
  since: "sparkts",
});
export const WORKER_INITIAL_REGISTRATION_RETRIES = intSetting(
  "spark.worker.initialRegistrationRetries",
  {
    default: "6",
    doc: "Attempts to register that are about 10 s apart.",
    since: "4.0.0",
  },
);
export const WORKER_MAX_REGISTRATION_RETRIES = intSetting(
  "spark.worker.maxRegistrationRetries",
  {
    default: "16",
    doc: "All attempts to register; the later ones are about 60 s apart.",
    since: "4.0.0",
  },
);
export const WORKER_PREFER_CONFIGURED_MASTER_ADDRESS = booleanSetting(
  "spark.worker.preferConfiguredMasterAddress",
  {
    default: "false",
    doc: "Go on using the master address that was given to the worker.",
    since: "2.2.1",
  },
);
export const WORKER_RETAINED_EXECUTORS = intSetting(
  "spark.worker.ui.retainedExecutors",
  {
    default: "1000",
    doc: "Ended executors that the worker still shows.",
    since: "1.5.0",
  },
);
export const WORKER_STATE_SYNC_MAX_ATTEMPTS = intSetting(
  "spark.worker.executorStateSync.maxAttempts",
  {
    default: "5",
    doc: "How often a state change is told to the master before the worker " +
      "gives up and ends.",
    since: "3.3.0",
  },
);
export const WORKER_CLEANUP_ENABLED = booleanSetting(
  "spark.worker.cleanup.enabled",
  {
    default: "true",
    doc: "Remove old directories of applications that don't run here.",
    since: "1.0.0",
  },
);
export const WORKER_CLEANUP_INTERVAL = plainSecondsSetting(
  "spark.worker.cleanup.interval",
  { default: "1800", doc: "Seconds between two clean-ups.", since: "1.0.0" },
);
export const WORKER_CLEANUP_APP_DATA_TTL = plainSecondsSetting(
  "spark.worker.cleanup.appDataTtl",
  {
    default: "604800",
    doc: "Seconds for which an application's directory is kept.",
    since: "1.0.0",
  },
);
export const UI_REVERSE_PROXY = booleanSetting("spark.ui.reverseProxy", {
  default: "false",
  doc: "Reach the workers' pages through the master.",
  since: "2.1.0",
});

// Executor logs

export const EXECUTOR_LOGS_ROLLING_STRATEGY = stringSetting(
  "spark.executor.logs.rolling.strategy",
  { default: "", doc: "time, size, or none when empty.", since: "1.1.0" },
);
export const EXECUTOR_LOGS_ROLLING_TIME_INTERVAL = stringSetting(
  "spark.executor.logs.rolling.time.interval",
  {
    default: "daily",
    doc: "daily, hourly, minutely, or a number of seconds.",
    since: "1.1.0",
  },
);
export const EXECUTOR_LOGS_ROLLING_MAX_SIZE = stringSetting(
  "spark.executor.logs.rolling.maxSize",
  { default: "1048576", doc: "Bytes of one log file.", since: "1.4.0" },
);
export const EXECUTOR_LOGS_ROLLING_MAX_RETAINED_FILES = intSetting(
  "spark.executor.logs.rolling.maxRetainedFiles",
  {
    default: "-1",
    doc: "Rolled files that are kept; -1 keeps all.",
    since: "1.1.0",
  },
);
export const EXECUTOR_LOGS_ROLLING_ENABLE_COMPRESSION = booleanSetting(
  "spark.executor.logs.rolling.enableCompression",
  { default: "false", doc: "Compress rolled files.", since: "2.0.2" },
);
