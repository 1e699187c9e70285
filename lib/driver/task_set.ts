import type { TaskFailure, TaskId } from "../messages/cluster.ts";

/** The tasks of one try at a stage. */
export interface TaskSet {
  readonly stageId: number;
  readonly stageAttempt: number;
  /** Sets of an earlier job go first. */
  readonly jobId: number;
  readonly binaryId: number;
  readonly tasks: readonly TaskSetTask[];
}

export interface TaskSetTask {
  readonly partition: number;
  /** Executors that have what the task reads, if any. */
  readonly preferred: readonly string[];
}

/** One try at a task, while it runs. */
export interface RunningTask {
  readonly taskId: TaskId;
  readonly index: number;
  readonly attempt: number;
  readonly executorId: string;
  /** Whether the executor said that it runs. */
  started: boolean;
}

/**
 * Where the tasks of a set stand: waiting, running, done, and how often each
 * has failed (Spark: `TaskSetManager`).
 */
export class TaskSetManager {
  readonly set: TaskSet;
  readonly running = new Map<TaskId, RunningTask>();
  readonly hasPreferences: boolean;
  /** Takes no new tasks; what runs may still end. */
  zombie = false;
  lastFailure: TaskFailure | undefined;
  readonly #waiting: number[];
  readonly #failures: number[];
  readonly #attempts: number[];
  readonly #done: boolean[];
  readonly #failedOn: (Set<string> | undefined)[] = [];
  #remaining: number;

  constructor(set: TaskSet) {
    this.set = set;
    this.hasPreferences = set.tasks.some(({ preferred }) =>
      preferred.length > 0
    );
    this.#waiting = set.tasks.map((_, index) => index).reverse();
    this.#failures = set.tasks.map(() => 0);
    this.#attempts = set.tasks.map(() => 0);
    this.#done = set.tasks.map(() => false);
    this.#remaining = set.tasks.length;
  }

  get waiting(): number {
    return this.zombie ? 0 : this.#waiting.length;
  }

  get isFinished(): boolean {
    return this.running.size === 0 && (this.zombie || this.#remaining === 0);
  }

  get finishedTasks(): number {
    return this.set.tasks.length - this.#remaining;
  }

  /**
   * The next task for an executor, the one that waited longest; with `local`
   * only one that prefers it.
   *
   * @param usable - The executors that take tasks: one that has failed on some
   * isn't tried there again while there is another one among these.
   */
  take(
    executorId: string,
    options: { local: boolean; usable: readonly string[] },
  ): { index: number; attempt: number } | undefined {
    if (this.zombie) return undefined;
    for (let i = this.#waiting.length - 1; i >= 0; i--) {
      const index = this.#waiting[i];
      const { preferred } = this.set.tasks[index];
      if (options.local && !preferred.includes(executorId)) continue;
      const failedOn = this.#failedOn[index];
      if (
        failedOn?.has(executorId) &&
        options.usable.some((other) => !failedOn.has(other))
      ) continue;
      // From the end this costs nothing, which is where the next one is.
      this.#waiting.splice(i, 1);
      return { index, attempt: this.#attempts[index]++ };
    }
    return undefined;
  }

  succeed(task: RunningTask): void {
    this.running.delete(task.taskId);
    if (this.#done[task.index]) return;
    this.#done[task.index] = true;
    this.#remaining--;
  }

  /** Puts a task back; @returns how often it has failed by now. */
  fail(
    task: RunningTask,
    options: { counts: boolean; failure: TaskFailure },
  ): number {
    this.running.delete(task.taskId);
    if (options.counts) {
      this.#failures[task.index]++;
      this.lastFailure = options.failure;
      (this.#failedOn[task.index] ??= new Set()).add(task.executorId);
    }
    if (!this.#done[task.index]) this.#waiting.unshift(task.index);
    return this.#failures[task.index];
  }
}
