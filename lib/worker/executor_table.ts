import type { Megabytes } from "../conf/units.ts";
import type {
  ApplicationId,
  ExecutorReport,
  WorkerExecutorInfo,
} from "../messages/deploy.ts";
import type { ExecutorState } from "../messages/states.ts";
import { isFinishedExecutor } from "../messages/states.ts";
import {
  type ExecutorKey,
  fullId,
  type LaunchExecutorEffect,
} from "./events.ts";

/** An executor of this worker. */
export interface ExecutorEntry {
  readonly launch: LaunchExecutorEffect;
  state: ExecutorState;
  pid: number | null;
  /** It was killed and still runs. */
  orphaned: boolean;
}

/**
 * The executors that hold cores and memory of this worker, and the last of
 * those that have ended.
 */
export class ExecutorTable {
  readonly #retained: number;
  readonly #running = new Map<string, ExecutorEntry>();
  readonly #finished = new Map<string, ExecutorEntry>();
  #coresUsed = 0;
  #memoryUsed: Megabytes = 0;

  /** @param retained How many ended executors are kept. */
  constructor(retained: number) {
    this.#retained = retained;
  }

  get coresUsed(): number {
    return this.#coresUsed;
  }

  get memoryUsed(): Megabytes {
    return this.#memoryUsed;
  }

  get running(): readonly ExecutorEntry[] {
    return [...this.#running.values()];
  }

  get finished(): readonly ExecutorEntry[] {
    return [...this.#finished.values()];
  }

  get(key: ExecutorKey): ExecutorEntry | undefined {
    return this.#running.get(fullId(key));
  }

  /** Whether an executor of the application holds anything here. */
  runs(appId: ApplicationId): boolean {
    return this.running.some(({ launch }) => launch.appId === appId);
  }

  /** Counts an executor from now on. */
  add(launch: LaunchExecutorEffect): void {
    this.#running.set(fullId(launch), {
      launch,
      state: "LAUNCHING",
      pid: null,
      orphaned: false,
    });
    this.#coresUsed += launch.cores;
    this.#memoryUsed += launch.memory;
  }

  /** Forgets an executor that never ran. */
  remove(key: ExecutorKey): ExecutorEntry | undefined {
    const entry = this.get(key);
    if (entry === undefined) return undefined;
    this.#running.delete(fullId(key));
    this.#coresUsed -= entry.launch.cores;
    this.#memoryUsed -= entry.launch.memory;
    return entry;
  }

  /** Gives back what an ended executor held, and keeps it on display. */
  finish(key: ExecutorKey, state: ExecutorState): ExecutorEntry | undefined {
    const entry = this.remove(key);
    if (entry === undefined) return undefined;
    entry.state = state;
    entry.pid = null;
    this.#finished.set(fullId(key), entry);
    this.#trimFinished();
    return entry;
  }

  /** @throws {Error} when the sums are not those of the entries. */
  checkInvariants(): void {
    const sum = (of: (entry: ExecutorEntry) => number) =>
      this.running.reduce((total, entry) => total + of(entry), 0);
    mustHold(
      this.#coresUsed === sum(({ launch }) => launch.cores),
      "the used cores are those of the running executors",
    );
    mustHold(
      this.#memoryUsed === sum(({ launch }) => launch.memory),
      "the used memory is that of the running executors",
    );
    mustHold(
      this.running.every(({ state }) => !isFinishedExecutor(state)),
      "no executor that has ended is counted",
    );
    mustHold(
      this.finished.every(({ state }) => isFinishedExecutor(state)),
      "only executors that have ended are kept for display",
    );
    mustHold(
      this.#finished.size <= this.#retained,
      "no more ended executors are kept than are to be",
    );
  }

  /** Drops a tenth at a time, so that not each end pays for it. */
  #trimFinished(): void {
    if (this.#finished.size <= this.#retained) return;
    const surplus = Math.max(Math.floor(this.#retained / 10), 1);
    for (const id of [...this.#finished.keys()].slice(0, surplus)) {
      this.#finished.delete(id);
    }
  }
}

/** What the master is told of an executor. */
export function toReport({ launch, state }: ExecutorEntry): ExecutorReport {
  return {
    appId: launch.appId,
    execId: launch.execId,
    resourceProfileId: launch.resourceProfileId,
    cores: launch.cores,
    memory: launch.memory,
    state,
  };
}

/** What a page shows of an executor. */
export function toInfo(entry: ExecutorEntry): WorkerExecutorInfo {
  return {
    ...toReport(entry),
    appName: entry.launch.appDesc.name,
    pid: entry.pid,
  };
}

/** States what must hold whatever others send. */
export function mustHold(condition: boolean, what: string): void {
  if (!condition) throw new Error(`Broken in the worker: ${what}.`);
}
