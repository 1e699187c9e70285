import type { Megabytes } from "../conf/units.ts";
import type {
  ExecutorId,
  ResourceAddresses,
  ResourceProfileId,
} from "../messages/deploy.ts";
import type { ExecutorState } from "../messages/states.ts";
import type { ApplicationEntry } from "./application_entry.ts";
import type { WorkerEntry } from "./worker_entry.ts";

/** An executor as the master knows it (Spark: `ExecutorDesc`). */
export class ExecutorEntry {
  state: ExecutorState = "LAUNCHING";
  /** Addresses of custom resources that it was granted. */
  readonly resources: ResourceAddresses = {};
  /** The latest registration of its worker when it was launched. */
  readonly registration: number;

  constructor(
    readonly id: ExecutorId,
    readonly application: ApplicationEntry,
    readonly worker: WorkerEntry,
    readonly resourceProfileId: ResourceProfileId,
    readonly cores: number,
    readonly memory: Megabytes,
  ) {
    this.registration = worker.registration;
  }

  /** `app-20261130223351-0000/3`. */
  get fullId(): string {
    return fullExecutorId(this.application.id, this.id);
  }
}

export function fullExecutorId(appId: string, id: ExecutorId): string {
  return `${appId}/${id}`;
}
