/**
 * What the executor's main thread and its task threads say to each other.
 *
 * @module
 */
import type { TaskOutcome } from "../messages/cluster.ts";
import type { TaskContext } from "../rdd/task_environment.ts";

export interface ThreadSettings {
  readonly executorHost: string;
  readonly shuffleDirectory: string;
  /** One Int32, shared: not 0 when the running task is to end. */
  readonly stop: SharedArrayBuffer;
  /** The settings of the application, for RPC. */
  readonly settings: readonly (readonly [string, string])[];
}

export interface RunTask {
  readonly type: "runTask";
  readonly context: TaskContext;
  readonly binaryId: number;
  /** An encoded PartitionSpec. */
  readonly spec: Uint8Array;
}

/** To a thread bytes go as buffers, see `bufferOf`. */
export type ToThread =
  /** A stage's code; comes before the first task that needs it. */
  | {
    readonly type: "addBinary";
    readonly binaryId: number;
    readonly data: ArrayBufferLike;
  }
  | { readonly type: "removeBinary"; readonly binaryId: number }
  | Omit<RunTask, "spec"> & { readonly spec: ArrayBufferLike }
  /** The answer to "getBroadcast" and "getBlock". */
  | {
    readonly type: "bytes";
    readonly requestId: number;
    readonly chunks: readonly ArrayBufferLike[] | null;
    readonly error: string | null;
  }
  | { readonly type: "removeBroadcast"; readonly broadcastId: number }
  /** Answered by "pong" unless the task keeps the thread from it. */
  | { readonly type: "ping" };

export type FromThread =
  | { readonly type: "ready" }
  | { readonly type: "pong" }
  /** The thread's task was cut off for want of memory and will never end. */
  | { readonly type: "outOfMemory" }
  | {
    readonly type: "taskEnded";
    readonly taskId: number;
    readonly outcome: TaskOutcome;
    readonly data: Uint8Array | null;
  }
  | {
    readonly type: "getBroadcast";
    readonly requestId: number;
    readonly broadcastId: number;
  }
  | {
    readonly type: "getBlock";
    readonly requestId: number;
    readonly rddId: number;
    readonly partition: number;
  }
  | {
    readonly type: "putBlock";
    readonly rddId: number;
    readonly partition: number;
    readonly chunks: readonly Uint8Array[];
  };
