import type { Milliseconds } from "../conf/units.ts";
import { UNLIMITED } from "../conf/settings.ts";
import type { EndpointRef } from "../messages/addresses.ts";
import {
  type ApplicationDescription,
  type ApplicationId,
  DEFAULT_RESOURCE_PROFILE_ID,
  type ExecutorId,
  type RequestedResourceProfile,
  type ResourceProfile,
  type ResourceProfileId,
} from "../messages/deploy.ts";
import type { ApplicationState } from "../messages/states.ts";
import { ExecutorEntry } from "./executor_entry.ts";
import { mustHold } from "./invariant.ts";
import type { WorkerEntry } from "./worker_entry.ts";

/** Ended executors that are shown with an application. */
const RETAINED_REMOVED_EXECUTORS = 1_000;

interface ProfileDemand {
  readonly profile: ResourceProfile;
  /** Executors wanted in all, those that run included. */
  target: number;
  /** Executors that the application has. */
  count: number;
}

/** An application as the master knows it (Spark: `ApplicationInfo`). */
export class ApplicationEntry {
  state: ApplicationState = "WAITING";
  endTime: Milliseconds | null = null;
  /** Executors that failed since one last came to run. */
  retryCount = 0;
  /** What the last executor that failed had to say. */
  lastFailure: string | null = null;
  readonly #executors = new Map<ExecutorId, ExecutorEntry>();
  readonly #removedExecutors: ExecutorEntry[] = [];
  readonly #demands = new Map<ResourceProfileId, ProfileDemand>();
  #coresGranted = 0;
  #nextExecutorId: ExecutorId = 0;

  constructor(
    readonly id: ApplicationId,
    readonly description: ApplicationDescription,
    readonly driver: EndpointRef,
    readonly startTime: Milliseconds,
    /** Cores for an application that sets no limit itself. */
    readonly defaultCores: number,
  ) {
    this.#demands.set(DEFAULT_RESOURCE_PROFILE_ID, {
      profile: {
        ...description.defaultProfile,
        id: DEFAULT_RESOURCE_PROFILE_ID,
      },
      target: description.initialExecutorLimit ?? UNLIMITED,
      count: 0,
    });
  }

  /** The executors that the application has. */
  get executors(): ReadonlyMap<ExecutorId, ExecutorEntry> {
    return this.#executors;
  }

  /** Executors that ended, the latest last; the oldest are forgotten. */
  get removedExecutors(): readonly ExecutorEntry[] {
    return this.#removedExecutors;
  }

  get coresGranted(): number {
    return this.#coresGranted;
  }

  /** The most cores that it takes of the whole cluster. */
  get coresRequested(): number {
    return this.description.maxCores ?? this.defaultCores;
  }

  get coresLeft(): number {
    return this.coresRequested - this.#coresGranted;
  }

  /** Its resource profiles, the lowest id first. */
  get profiles(): ResourceProfile[] {
    return [...this.#demands.values()].map(({ profile }) => profile)
      .sort((a, b) => a.id - b.id);
  }

  get profileCount(): number {
    return this.#demands.size;
  }

  hasProfile(id: ResourceProfileId): boolean {
    return this.#demands.has(id);
  }

  /** Executors wanted in all of a profile: the executor limit. */
  targetOf(id: ResourceProfileId): number {
    return this.#demands.get(id)?.target ?? 0;
  }

  /** Executors of a profile that may still be started; below 0 if too many. */
  executorsLeft(id: ResourceProfileId): number {
    const demand = this.#demands.get(id);
    return demand === undefined ? 0 : demand.target - demand.count;
  }

  /** A lower target kills none of the executors that there are. */
  setTarget(requested: RequestedResourceProfile, target: number): void {
    const demand = this.#demands.get(requested.id);
    if (demand !== undefined) {
      demand.target = target;
      return;
    }
    const profile = withDefaults(requested, this.description.defaultProfile);
    this.#demands.set(profile.id, { profile, target, count: 0 });
  }

  addExecutor(
    worker: WorkerEntry,
    profile: ResourceProfile,
    cores: number,
  ): ExecutorEntry {
    const demand = this.#demands.get(profile.id);
    mustHold(demand !== undefined, `${this.id} has no profile ${profile.id}`);
    mustHold(cores <= this.coresLeft, `${this.id} has too many cores`);
    const executor = new ExecutorEntry(
      this.#nextExecutorId++,
      this,
      worker,
      profile.id,
      cores,
      profile.memoryPerExecutor,
    );
    this.#executors.set(executor.id, executor);
    this.#coresGranted += cores;
    demand.count++;
    return executor;
  }

  removeExecutor(executor: ExecutorEntry): void {
    if (!this.#executors.delete(executor.id)) return;
    this.#coresGranted -= executor.cores;
    const demand = this.#demands.get(executor.resourceProfileId);
    if (demand !== undefined) demand.count--;
    this.#removedExecutors.push(executor);
    if (this.#removedExecutors.length > RETAINED_REMOVED_EXECUTORS) {
      this.#removedExecutors.shift();
    }
  }
}

/**
 * What a profile leaves open comes from the application's default profile;
 * but custom resources do not (Spark: `ResourceProfile`).
 */
function withDefaults(
  requested: RequestedResourceProfile,
  defaults: ResourceProfile,
): ResourceProfile {
  return {
    id: requested.id,
    coresPerExecutor: requested.coresPerExecutor ?? defaults.coresPerExecutor,
    memoryPerExecutor: requested.memoryPerExecutor ??
      defaults.memoryPerExecutor,
    resourcesPerExecutor: [...requested.resourcesPerExecutor].sort((a, b) =>
      a.name < b.name ? -1 : a.name > b.name ? 1 : 0
    ),
  };
}
