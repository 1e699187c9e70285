/**
 * What a driver and its executors say to each other: the messages of Spark's
 * `CoarseGrainedClusterMessages`, as far as they apply to TypeScript tasks.
 * Bytes travel beside the JSON in the field `data`.
 *
 * @module
 */
import type { Milliseconds } from "../conf/units.ts";
import type { RpcAddress } from "./addresses.ts";
import type { ResourceAddresses, ResourceProfile } from "./deploy.ts";
import type { TaskState } from "./states.ts";

/** Unique within an application. */
export type TaskId = number;

// Executor to driver

/** An ask; answered with SparkAppConfig. */
export interface RetrieveSparkAppConfig {
  readonly type: "RetrieveSparkAppConfig";
  readonly resourceProfileId: number;
}

export interface SparkAppConfig {
  readonly type: "SparkAppConfig";
  readonly sparkProperties: readonly (readonly [string, string])[];
  readonly ioEncryptionKey: string | null;
  readonly hadoopDelegationCreds: string | null;
  readonly resourceProfile: ResourceProfile;
}

/** An ask of an executor that was started without an id (Kubernetes). */
export interface GenerateExecID {
  readonly type: "GenerateExecID";
  readonly podName: string | null;
}

/** An ask; answered true, or by the failure that says why not. */
export interface RegisterExecutor {
  readonly type: "RegisterExecutor";
  readonly executorId: string;
  readonly hostname: string;
  /** Where other executors fetch shuffle files from this one. */
  readonly address: RpcAddress;
  readonly cores: number;
  readonly logUrls: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, string>>;
  readonly resources: ResourceAddresses;
  readonly resourceProfileId: number;
}

/** The executor is up and takes tasks. */
export interface LaunchedExecutor {
  readonly type: "LaunchedExecutor";
  readonly executorId: string;
}

/** Why a task failed, in the application's words where it has some. */
export interface TaskFailure {
  readonly reason:
    | "exception"
    | "fetchFailed"
    | "outOfMemory"
    | "threadEnded"
    | "killed";
  readonly message: string;
  /** With positions that the driver still has to map; empty when unknown. */
  readonly stack: string;
  /** The map output that could not be fetched. */
  readonly fetch: {
    readonly shuffleId: number;
    readonly mapIndex: number;
    readonly executorId: string;
  } | null;
}

/** How a task ended. The bytes beside it are in `data` of StatusUpdate. */
export type TaskOutcome =
  | { readonly type: "running" }
  | {
    readonly type: "success";
    /** The file of a map task; null for an action's result. */
    readonly mapOutput: {
      readonly path: string;
      readonly segments: readonly (readonly number[])[];
    } | null;
    /** Partitions that are cached here from now on. */
    readonly cached: readonly (readonly [rddId: number, partition: number])[];
    /** Bytes at the start of `data` that are accumulator updates. */
    readonly accumulatorBytes: number;
    readonly runTime: Milliseconds;
  }
  | { readonly type: "failure"; readonly failure: TaskFailure };

/** `data`: accumulator updates, then the result of an action. */
export interface StatusUpdate {
  readonly type: "StatusUpdate";
  readonly executorId: string;
  readonly taskId: TaskId;
  readonly state: TaskState;
  readonly outcome: TaskOutcome;
  readonly data: Uint8Array | null;
}

/** An ask, to the endpoint HeartbeatReceiver. */
export interface ExecutorHeartbeat {
  readonly type: "ExecutorHeartbeat";
  readonly executorId: string;
}

export interface ExecutorHeartbeatResponse {
  readonly type: "ExecutorHeartbeatResponse";
  /** The driver doesn't know this executor: register again. */
  readonly reregister: boolean;
}

/** The executor ends by itself; the driver should not wait for its break. */
export interface RemoveExecutor {
  readonly type: "RemoveExecutor";
  readonly executorId: string;
  readonly reason: string;
}

// Driver to executor

/** The driver took the executor in; it may start its threads. */
export interface RegisteredExecutor {
  readonly type: "RegisteredExecutor";
}

/** A stage's code, sent to an executor once before its first task of it. */
export interface AddTaskBinary {
  readonly type: "AddTaskBinary";
  readonly binaryId: number;
  readonly data: Uint8Array;
}

export interface RemoveTaskBinary {
  readonly type: "RemoveTaskBinary";
  readonly binaryId: number;
}

export interface LaunchTask {
  readonly type: "LaunchTask";
  readonly taskId: TaskId;
  readonly binaryId: number;
  readonly stageId: number;
  readonly stageAttempt: number;
  readonly partition: number;
  readonly attempt: number;
  /** Bytes of what only this partition needs, such as its slice of data. */
  readonly data: Uint8Array | null;
}

export interface KillTask {
  readonly type: "KillTask";
  readonly taskId: TaskId;
  readonly interruptThread: boolean;
  readonly reason: string;
}

/** The driver stops this executor in the ordinary course. */
export interface StopExecutor {
  readonly type: "StopExecutor";
}

/** The whole application ends. */
export interface Shutdown {
  readonly type: "Shutdown";
}

/** A broadcast value is asked for by stream; this forgets it. */
export interface RemoveBroadcast {
  readonly type: "RemoveBroadcast";
  readonly broadcastId: number;
}

/** A shuffle's files are needed no more. */
export interface RemoveShuffle {
  readonly type: "RemoveShuffle";
  readonly shuffleId: number;
}

export interface UpdateDelegationTokens {
  readonly type: "UpdateDelegationTokens";
  readonly tokens: string;
}

export interface DecommissionExecutor {
  readonly type: "DecommissionExecutor";
}

/** What the endpoint `CoarseGrainedScheduler` takes. */
export type ToScheduler =
  | RetrieveSparkAppConfig
  | GenerateExecID
  | RegisterExecutor
  | LaunchedExecutor
  | StatusUpdate
  | RemoveExecutor;

/** What the endpoint `Executor` takes. */
export type ToExecutor =
  | RegisteredExecutor
  | AddTaskBinary
  | RemoveTaskBinary
  | LaunchTask
  | KillTask
  | StopExecutor
  | Shutdown
  | RemoveBroadcast
  | RemoveShuffle
  | UpdateDelegationTokens
  | DecommissionExecutor;

export const SCHEDULER_ENDPOINT = "CoarseGrainedScheduler";
export const EXECUTOR_ENDPOINT = "Executor";
export const WORKER_WATCHER_ENDPOINT = "WorkerWatcher";
export const HEARTBEAT_RECEIVER_ENDPOINT = "HeartbeatReceiver";
