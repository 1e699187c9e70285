import type { Megabytes, Milliseconds } from "../conf/units.ts";
import type {
  ApplicationDescription,
  ApplicationId,
  ExecutorId,
  ResourceAddresses,
  ResourceProfileId,
  ToWorker,
} from "../messages/deploy.ts";
import type { ExecutorState } from "../messages/states.ts";
import type { MachineEffect, MachineEvent } from "../rpc/machine.ts";

/** Names an executor on a worker. */
export interface ExecutorKey {
  readonly appId: ApplicationId;
  readonly execId: ExecutorId;
}

/** `appId/execId`. */
export function fullId({ appId, execId }: ExecutorKey): string {
  return `${appId}/${execId}`;
}

/** The runner's word on its executor. */
export interface ExecutorChanged extends ExecutorKey {
  readonly type: "executorChanged";
  readonly state: ExecutorState;
  readonly message: string | null;
  readonly exitStatus: number | null;
  /** The process's id while it runs. */
  readonly pid: number | null;
}

/** The executor's directories could not be made; there was no process. */
export interface ExecutorLaunchFailed extends ExecutorKey {
  readonly type: "executorLaunchFailed";
  readonly error: string;
}

/** The executor was killed and still runs; its end may be told later. */
export interface ExecutorOrphaned extends ExecutorKey {
  readonly type: "executorOrphaned";
}

export type WorkerEvent =
  | MachineEvent<ToWorker>
  | ExecutorChanged
  | ExecutorLaunchFailed
  | ExecutorOrphaned
  /** The worker is to end, its executors with it. */
  | { readonly type: "shutdown"; readonly reason: string };

export interface LaunchExecutorEffect extends ExecutorKey {
  readonly type: "launchExecutor";
  readonly resourceProfileId: ResourceProfileId;
  readonly appDesc: ApplicationDescription;
  readonly cores: number;
  readonly memory: Megabytes;
  readonly resources: ResourceAddresses;
}

export interface KillExecutorEffect extends ExecutorKey {
  readonly type: "killExecutor";
  /** "shutdown" makes it FAILED rather than KILLED, as the worker ends. */
  readonly reason: "requested" | "shutdown";
}

/** What a worker wants done beside the common effects. */
export type WorkerOwnEffect =
  /** Ends in ExecutorChanged events, or in one ExecutorLaunchFailed. */
  | LaunchExecutorEffect
  | KillExecutorEffect
  /** The application has ended here: its local directories go. */
  | { readonly type: "removeAppDirs"; readonly appId: ApplicationId }
  /**
   * The directories of applications without an executor here go, once nothing
   * in them is younger.
   */
  | { readonly type: "cleanWorkDir"; readonly ttl: Milliseconds };

export type WorkerEffect = MachineEffect | WorkerOwnEffect;
