/**
 * What master, workers and applications say to each other: the messages of
 * Spark's `DeployMessages`, as plain data. A field that may be missing is
 * `null`, so that every message survives JSON.
 *
 * @module
 */
import type { Megabytes, Milliseconds } from "../conf/units.ts";
import type { EndpointRef, RpcAddress } from "./addresses.ts";
import type {
  ApplicationState,
  ExecutorState,
  MasterState,
  WorkerState,
} from "./states.ts";

/** `app-yyyyMMddHHmmss-0000`. */
export type ApplicationId = string;
/** `worker-yyyyMMddHHmmss-host-port`. */
export type WorkerId = string;
/** Counts from 0 within an application. */
export type ExecutorId = number;
export type ResourceProfileId = number;

/** The profile that an application without profiles uses. */
export const DEFAULT_RESOURCE_PROFILE_ID: ResourceProfileId = 0;

/** Addresses of custom resources by name: `{ gpu: ["0", "1"] }`. */
export type ResourceAddresses = Readonly<Record<string, readonly string[]>>;

/** How many of a custom resource something needs. */
export interface ResourceRequirement {
  readonly name: string;
  readonly amount: number;
}

/**
 * How a process is started, as the application asked for it.
 *
 * `kind` says who builds the command line: for `sparkts` the worker starts
 * itself with `arguments`; for `java` it builds a JVM's command line around
 * `mainClass`.
 */
export interface Command {
  readonly kind: "sparkts" | "java";
  readonly mainClass: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly classPathEntries: readonly string[];
  readonly libraryPathEntries: readonly string[];
  readonly javaOpts: readonly string[];
}

/** What one executor of a resource profile gets. */
export interface ResourceProfile {
  readonly id: ResourceProfileId;
  /** Unset: an executor takes all the cores that its worker grants. */
  readonly coresPerExecutor: number | null;
  readonly memoryPerExecutor: Megabytes;
  readonly resourcesPerExecutor: readonly ResourceRequirement[];
}

/**
 * A profile as an application asks for it: what it leaves open comes from the
 * application's default profile.
 */
export interface RequestedResourceProfile
  extends Omit<ResourceProfile, "memoryPerExecutor"> {
  readonly memoryPerExecutor: Megabytes | null;
}

export interface ApplicationDescription {
  readonly name: string;
  readonly user: string;
  /** `spark.cores.max`; unset: the master's default. */
  readonly maxCores: number | null;
  readonly command: Command;
  /** Where the driver's page is; empty when it has none. */
  readonly appUiUrl: string;
  readonly defaultProfile: ResourceProfile;
  /** Executors wanted at the start under dynamic allocation; unset: no limit. */
  readonly initialExecutorLimit: number | null;
}

/** An executor as the master knows it from a worker's report. */
export interface ExecutorReport {
  readonly appId: ApplicationId;
  readonly execId: ExecutorId;
  readonly resourceProfileId: ResourceProfileId;
  readonly cores: number;
  readonly memory: Megabytes;
  readonly state: ExecutorState;
}

// Worker to master

export interface RegisterWorker {
  readonly type: "RegisterWorker";
  readonly id: WorkerId;
  readonly host: string;
  readonly port: number;
  readonly worker: EndpointRef;
  readonly cores: number;
  readonly memory: Megabytes;
  readonly workerWebUiUrl: string;
  /** The address under which the worker dialled the master. */
  readonly masterAddress: RpcAddress;
  readonly resources: ResourceAddresses;
}

export interface Heartbeat {
  readonly type: "Heartbeat";
  readonly workerId: WorkerId;
  readonly worker: EndpointRef;
}

/** Sent after every registration: what really runs on the worker. */
export interface WorkerLatestState {
  readonly type: "WorkerLatestState";
  /** That of the RegisteredWorker which this follows. */
  readonly registration: number;
  readonly id: WorkerId;
  readonly executors: readonly ExecutorReport[];
  readonly driverIds: readonly string[];
}

export interface WorkerExecutorStateResponse {
  readonly desc: ExecutorReport;
  readonly resources: ResourceAddresses;
}

export interface WorkerDriverStateResponse {
  readonly driverId: string;
  readonly resources: ResourceAddresses;
}

/** The answer to MasterChanged: what a new master has to take over. */
export interface WorkerSchedulerStateResponse {
  readonly type: "WorkerSchedulerStateResponse";
  readonly id: WorkerId;
  readonly execResponses: readonly WorkerExecutorStateResponse[];
  readonly driverResponses: readonly WorkerDriverStateResponse[];
}

/** An ask, also from the worker to itself; answered `true`. */
export interface ExecutorStateChanged {
  readonly type: "ExecutorStateChanged";
  readonly appId: ApplicationId;
  readonly execId: ExecutorId;
  readonly state: ExecutorState;
  readonly message: string | null;
  readonly exitStatus: number | null;
}

// Master to worker

export interface RegisteredWorker {
  readonly type: "RegisteredWorker";
  readonly master: EndpointRef;
  readonly masterWebUiUrl: string;
  readonly masterAddress: RpcAddress;
  /** The master knew this worker's id already. */
  readonly duplicate: boolean;
  /**
   * Counts the registrations that this master confirmed, of all workers; tells
   * it later which of them a WorkerLatestState follows.
   */
  readonly registration: number;
}

export interface RegisterWorkerFailed {
  readonly type: "RegisterWorkerFailed";
  readonly message: string;
}

export interface MasterInStandby {
  readonly type: "MasterInStandby";
}

export interface ReconnectWorker {
  readonly type: "ReconnectWorker";
  readonly masterUrl: string;
}

export interface LaunchExecutor {
  readonly type: "LaunchExecutor";
  readonly masterUrl: string;
  readonly appId: ApplicationId;
  readonly execId: ExecutorId;
  readonly resourceProfileId: ResourceProfileId;
  readonly appDesc: ApplicationDescription;
  readonly cores: number;
  readonly memory: Megabytes;
  readonly resources: ResourceAddresses;
}

export interface KillExecutor {
  readonly type: "KillExecutor";
  readonly masterUrl: string;
  readonly appId: ApplicationId;
  readonly execId: ExecutorId;
}

export interface ApplicationFinished {
  readonly type: "ApplicationFinished";
  readonly id: ApplicationId;
}

// Application to master

export interface RegisterApplication {
  readonly type: "RegisterApplication";
  readonly appDescription: ApplicationDescription;
  readonly driver: EndpointRef;
}

export interface UnregisterApplication {
  readonly type: "UnregisterApplication";
  readonly appId: ApplicationId;
}

/** An ask: the executors wanted in all, per profile; answered true or false. */
export interface RequestExecutors {
  readonly type: "RequestExecutors";
  readonly appId: ApplicationId;
  readonly resourceProfileToTotalExecs: readonly {
    readonly profile: RequestedResourceProfile;
    readonly total: number;
  }[];
}

/** An ask; answered true when the application is known. */
export interface KillExecutors {
  readonly type: "KillExecutors";
  readonly appId: ApplicationId;
  readonly executorIds: readonly string[];
}

/** The answer to MasterChanged. */
export interface MasterChangeAcknowledged {
  readonly type: "MasterChangeAcknowledged";
  readonly appId: ApplicationId;
}

// Master to application

export interface RegisteredApplication {
  readonly type: "RegisteredApplication";
  readonly appId: ApplicationId;
  readonly master: EndpointRef;
}

export interface ExecutorAdded {
  readonly type: "ExecutorAdded";
  readonly id: ExecutorId;
  readonly workerId: WorkerId;
  readonly hostPort: string;
  readonly cores: number;
  readonly memory: Megabytes;
}

export interface ExecutorUpdated {
  readonly type: "ExecutorUpdated";
  readonly id: ExecutorId;
  readonly state: ExecutorState;
  readonly message: string | null;
  readonly exitStatus: number | null;
  /** The host of a worker that was lost with it. */
  readonly workerHost: string | null;
}

export interface ApplicationRemoved {
  readonly type: "ApplicationRemoved";
  readonly message: string;
}

export interface WorkerRemoved {
  readonly type: "WorkerRemoved";
  readonly id: WorkerId;
  readonly host: string;
  readonly message: string;
}

/** To applications and workers: this master leads now. */
export interface MasterChanged {
  readonly type: "MasterChanged";
  readonly master: EndpointRef;
  readonly masterWebUiUrl: string;
}

// Questions of tools

export interface RequestMasterState {
  readonly type: "RequestMasterState";
}

export interface WorkerInfo {
  readonly id: WorkerId;
  readonly host: string;
  readonly port: number;
  readonly webUiAddress: string;
  readonly cores: number;
  readonly coresUsed: number;
  readonly memory: Megabytes;
  readonly memoryUsed: Megabytes;
  readonly state: WorkerState;
  readonly lastHeartbeat: Milliseconds;
}

export interface ExecutorInfo {
  readonly id: ExecutorId;
  readonly workerId: WorkerId;
  readonly cores: number;
  readonly memory: Megabytes;
  readonly resourceProfileId: ResourceProfileId;
  readonly state: ExecutorState;
}

export interface ApplicationInfo {
  readonly id: ApplicationId;
  readonly name: string;
  readonly user: string;
  readonly startTime: Milliseconds;
  readonly endTime: Milliseconds | null;
  readonly state: ApplicationState;
  readonly coresGranted: number;
  readonly memoryPerExecutor: Megabytes;
  readonly executors: readonly ExecutorInfo[];
  readonly removedExecutors: readonly ExecutorInfo[];
}

export interface MasterStateResponse {
  readonly type: "MasterStateResponse";
  readonly host: string;
  readonly port: number;
  readonly status: MasterState;
  readonly workers: readonly WorkerInfo[];
  readonly activeApps: readonly ApplicationInfo[];
  readonly completedApps: readonly ApplicationInfo[];
}

export interface RequestWorkerState {
  readonly type: "RequestWorkerState";
}

export interface WorkerExecutorInfo extends ExecutorReport {
  readonly appName: string;
  /** The operating system's process id while the executor runs. */
  readonly pid: number | null;
}

export interface WorkerStateResponse {
  readonly type: "WorkerStateResponse";
  readonly id: WorkerId;
  readonly masterUrl: string;
  readonly cores: number;
  readonly coresUsed: number;
  readonly memory: Megabytes;
  readonly memoryUsed: Megabytes;
  readonly executors: readonly WorkerExecutorInfo[];
  readonly finishedExecutors: readonly WorkerExecutorInfo[];
}

/** What the endpoint `Master` takes. */
export type ToMaster =
  | RegisterWorker
  | Heartbeat
  | WorkerLatestState
  | WorkerSchedulerStateResponse
  | ExecutorStateChanged
  | RegisterApplication
  | UnregisterApplication
  | RequestExecutors
  | KillExecutors
  | MasterChangeAcknowledged
  | RequestMasterState;

/** What the endpoint `Worker` takes. */
export type ToWorker =
  | RegisteredWorker
  | RegisterWorkerFailed
  | MasterInStandby
  | ReconnectWorker
  | LaunchExecutor
  | KillExecutor
  | ApplicationFinished
  | MasterChanged
  | RequestWorkerState;

/** What the endpoint `AppClient` takes. */
export type ToAppClient =
  | RegisteredApplication
  | ExecutorAdded
  | ExecutorUpdated
  | ApplicationRemoved
  | WorkerRemoved
  | MasterChanged;

export const MASTER_ENDPOINT = "Master";
export const WORKER_ENDPOINT = "Worker";
export const APP_CLIENT_ENDPOINT = "AppClient";
