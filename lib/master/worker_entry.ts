import type { Megabytes, Milliseconds } from "../conf/units.ts";
import type { EndpointRef } from "../messages/addresses.ts";
import type {
  RegisterWorker,
  ResourceAddresses,
  WorkerId,
} from "../messages/deploy.ts";
import type { WorkerState } from "../messages/states.ts";
import type { ExecutorEntry } from "./executor_entry.ts";
import { mustHold } from "./invariant.ts";

/** A worker as the master knows it (Spark: `WorkerInfo`). */
export class WorkerEntry {
  readonly id: WorkerId;
  readonly host: string;
  readonly port: number;
  readonly endpoint: EndpointRef;
  readonly cores: number;
  readonly memory: Megabytes;
  readonly resources: ResourceAddresses;
  readonly webUiUrl: string;
  state: WorkerState = "ALIVE";
  lastHeartbeat: Milliseconds;
  /** Of its registrations the latest; see RegisteredWorker. */
  registration = 0;
  readonly #executors = new Map<string, ExecutorEntry>();
  #coresUsed = 0;
  #memoryUsed: Megabytes = 0;

  constructor(registration: RegisterWorker, now: Milliseconds) {
    this.id = registration.id;
    this.host = registration.host;
    this.port = registration.port;
    this.endpoint = registration.worker;
    this.cores = registration.cores;
    this.memory = registration.memory;
    this.resources = registration.resources;
    this.webUiUrl = registration.workerWebUiUrl;
    this.lastHeartbeat = now;
  }

  /** By full id: `app-20261130223351-0000/3`. */
  get executors(): ReadonlyMap<string, ExecutorEntry> {
    return this.#executors;
  }

  get coresUsed(): number {
    return this.#coresUsed;
  }

  get memoryUsed(): Megabytes {
    return this.#memoryUsed;
  }

  get coresFree(): number {
    return this.cores - this.#coresUsed;
  }

  get memoryFree(): Megabytes {
    return this.memory - this.#memoryUsed;
  }

  addExecutor(executor: ExecutorEntry): void {
    const { fullId, cores, memory } = executor;
    mustHold(!this.#executors.has(fullId), `${this.id} has ${fullId} already`);
    mustHold(
      cores <= this.coresFree && memory <= this.memoryFree,
      `${this.id} has no room for ${fullId}`,
    );
    this.#executors.set(fullId, executor);
    this.#coresUsed += cores;
    this.#memoryUsed += memory;
  }

  /** Takes back what the executor was granted, if it was here. */
  removeExecutor(executor: ExecutorEntry): void {
    if (!this.#executors.delete(executor.fullId)) return;
    this.#coresUsed -= executor.cores;
    this.#memoryUsed -= executor.memory;
  }
}
