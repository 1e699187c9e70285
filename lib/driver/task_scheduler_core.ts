import type { Milliseconds } from "../conf/units.ts";
import type { TaskFailure, TaskId } from "../messages/cluster.ts";
import { type RunningTask, type TaskSet, TaskSetManager } from "./task_set.ts";
import {
  STARVATION_TIMER,
  type TaskSchedulerEffect,
  type TaskSchedulerEvent,
} from "./task_scheduler_events.ts";

export type { TaskSchedulerEffect, TaskSchedulerEvent };

interface ExecutorEntry {
  readonly id: string;
  readonly host: string;
  readonly cores: number;
  freeCores: number;
  suspended: boolean;
}

export interface TaskSchedulerOptions {
  readonly taskCpus: number;
  readonly maxFailures: number;
  readonly starvationTimeout: Milliseconds;
  /** False: tasks wait for "resourcesReady". */
  readonly ready: boolean;
}

/** What is known of the tasks of a stage that has any, for progress. */
export interface StageProgress {
  readonly stageId: number;
  readonly tasks: number;
  readonly finished: number;
  readonly running: number;
}

/**
 * Decides which task runs where, and what becomes of it when it fails (Spark:
 * `TaskSchedulerImpl`). A state machine without I/O.
 *
 * First in, first out: a set of an earlier job gets the free cores first. A
 * task that prefers an executor gets it if that one is free now; it does not
 * wait for it. A task that failed is tried elsewhere if there is an elsewhere.
 */
export class TaskSchedulerCore {
  readonly #options: TaskSchedulerOptions;
  readonly #executors = new Map<string, ExecutorEntry>();
  readonly #managers: TaskSetManager[] = [];
  readonly #tasks = new Map<TaskId, [TaskSetManager, RunningTask]>();
  #nextTaskId = 0;
  #turn = 0;
  #ready: boolean;
  #starving = false;

  constructor(options: TaskSchedulerOptions) {
    this.#options = options;
    this.#ready = options.ready;
  }

  get progress(): StageProgress[] {
    return this.#managers.filter((manager) => !manager.zombie)
      .map((manager) => ({
        stageId: manager.set.stageId,
        tasks: manager.set.tasks.length,
        finished: manager.finishedTasks,
        running: manager.running.size,
      }));
  }

  get executorCount(): number {
    return this.#executors.size;
  }

  get totalCores(): number {
    let sum = 0;
    for (const executor of this.#executors.values()) sum += executor.cores;
    return sum;
  }

  handle(event: TaskSchedulerEvent): TaskSchedulerEffect[] {
    const effects: TaskSchedulerEffect[] = [];
    switch (event.type) {
      case "executorAdded": {
        const { executorId: id, host, cores } = event;
        const suspended = false;
        const freeCores = cores;
        this.#executors.set(id, { id, host, cores, freeCores, suspended });
        break;
      }
      case "executorSuspended": {
        const executor = this.#executors.get(event.executorId);
        if (executor) executor.suspended = true;
        break;
      }
      case "executorLost":
        this.#loseExecutor(event, effects);
        break;
      case "submit":
        this.#submit(event.taskSet);
        break;
      case "cancel":
        this.#cancel(event.stageId, event.reason, effects);
        break;
      case "statusUpdate":
        this.#update(event, effects);
        break;
      case "resourcesReady":
        this.#ready = true;
        break;
      case "timer":
        if (this.#waiting > 0) effects.push({ type: "starving" });
        this.#starving = false;
        break;
    }
    this.#assign(effects);
    this.#watchStarvation(effects);
    return effects;
  }

  /** @throws {Error} when the books don't add up; for tests. */
  checkInvariants(): void {
    const used = new Map<string, number>();
    for (const [, task] of this.#tasks.values()) {
      const before = used.get(task.executorId) ?? 0;
      used.set(task.executorId, before + this.#options.taskCpus);
    }
    for (const { id, cores, freeCores } of this.#executors.values()) {
      if (freeCores < 0 || freeCores + (used.get(id) ?? 0) !== cores) {
        throw new Error(
          `Executor ${id} has ${cores} cores, ${freeCores} free, ${
            used.get(id)
          } used.`,
        );
      }
    }
  }

  get #waiting(): number {
    return this.#managers.reduce((sum, manager) => sum + manager.waiting, 0);
  }

  #submit(taskSet: TaskSet): void {
    for (const manager of this.#managers) {
      // A new try at a stage makes the earlier ones zombies.
      if (manager.set.stageId === taskSet.stageId) manager.zombie = true;
    }
    this.#managers.push(new TaskSetManager(taskSet));
    this.#managers.sort((a, b) =>
      a.set.jobId - b.set.jobId || a.set.stageId - b.set.stageId
    );
    this.#forgetFinished();
  }

  #cancel(
    stageId: number,
    reason: string,
    effects: TaskSchedulerEffect[],
  ): void {
    for (const manager of this.#managers) {
      if (manager.set.stageId !== stageId) continue;
      manager.zombie = true;
      for (const { taskId, executorId } of manager.running.values()) {
        effects.push({ type: "kill", executorId, taskId, reason });
      }
    }
    this.#forgetFinished();
  }

  #loseExecutor(
    { executorId, reason, causedByApp }: Extract<
      TaskSchedulerEvent,
      { type: "executorLost" }
    >,
    effects: TaskSchedulerEffect[],
  ): void {
    if (!this.#executors.delete(executorId)) return;
    for (const [manager, task] of [...this.#tasks.values()]) {
      if (task.executorId !== executorId) continue;
      this.#tasks.delete(task.taskId);
      const failure: TaskFailure = {
        reason: "threadEnded",
        message:
          `ExecutorLostFailure (executor ${executorId} exited): ${reason}`,
        stack: "",
        fetch: null,
      };
      // One that had not begun can't have brought the executor down.
      const counts = causedByApp && task.started;
      this.#failTask(manager, task, failure, counts, effects);
    }
    this.#forgetFinished();
  }

  #update(
    event: Extract<TaskSchedulerEvent, { type: "statusUpdate" }>,
    effects: TaskSchedulerEffect[],
  ): void {
    const entry = this.#tasks.get(event.taskId);
    // A late word of a task whose executor was given up already.
    if (entry === undefined) return;
    const [manager, task] = entry;
    const { outcome } = event;
    if (outcome.type === "running") {
      task.started = true;
      return;
    }
    this.#tasks.delete(task.taskId);
    const executor = this.#executors.get(task.executorId);
    if (executor) executor.freeCores += this.#options.taskCpus;
    const { partition } = manager.set.tasks[task.index];
    if (outcome.type === "success") {
      manager.succeed(task);
      effects.push({
        type: "taskSucceeded",
        taskSet: manager.set,
        partition,
        executorId: task.executorId,
        outcome,
        data: event.data,
      });
    } else {
      this.#failed(manager, task, outcome.failure, partition, effects);
    }
    this.#forgetFinished();
  }

  #failed(
    manager: TaskSetManager,
    task: RunningTask,
    failure: TaskFailure,
    partition: number,
    effects: TaskSchedulerEffect[],
  ): void {
    if (failure.reason === "fetchFailed") {
      // Not this task's fault: the stage waits until the output is back.
      const { set } = manager;
      const first = !manager.zombie;
      manager.zombie = true;
      manager.fail(task, { counts: false, failure });
      if (first) {
        effects.push({ type: "fetchFailed", taskSet: set, partition, failure });
      }
      return;
    }
    const counts = failure.reason !== "killed";
    this.#failTask(manager, task, failure, counts, effects);
  }

  #failTask(
    manager: TaskSetManager,
    task: RunningTask,
    failure: TaskFailure,
    counts: boolean,
    effects: TaskSchedulerEffect[],
  ): void {
    const failures = manager.fail(task, { counts, failure });
    if (manager.zombie) return;
    const { stageId } = manager.set;
    const { partition } = manager.set.tasks[task.index];
    effects.push({
      type: "log",
      level: "warn",
      message:
        `Lost task ${partition}.${task.attempt} in stage ${stageId} (TID ${task.taskId}, executor ${task.executorId}): ${failure.message}`,
    });
    if (!counts || failures < this.#options.maxFailures) return;
    manager.zombie = true;
    for (const { taskId, executorId } of manager.running.values()) {
      const reason = `Stage cancelled: task ${partition} failed`;
      effects.push({ type: "kill", executorId, taskId, reason });
    }
    effects.push({
      type: "taskSetFailed",
      taskSet: manager.set,
      reason:
        `Task ${partition} in stage ${stageId} failed ${failures} times, most recent failure: Lost task ${partition}.${task.attempt} in stage ${stageId} (TID ${task.taskId}, executor ${task.executorId})`,
      failure,
    });
  }

  /** Gives waiting tasks to free cores, as many as fit. */
  #assign(effects: TaskSchedulerEffect[]): void {
    if (!this.#ready) return;
    for (const manager of this.#managers) {
      if (manager.waiting === 0) continue;
      if (manager.hasPreferences) this.#offer(manager, true, effects);
      this.#offer(manager, false, effects);
    }
  }

  /** One core of each executor in turn, so that the tasks spread out. */
  #offer(
    manager: TaskSetManager,
    local: boolean,
    effects: TaskSchedulerEffect[],
  ): void {
    const usable = [...this.#executors.values()]
      .filter(({ suspended }) => !suspended);
    const ids = usable.map(({ id }) => id);
    const executors = this.#rotated(usable);
    for (let launched = true; launched;) {
      launched = false;
      for (const executor of executors) {
        if (manager.waiting === 0) return;
        if (executor.freeCores < this.#options.taskCpus) continue;
        const task = manager.take(executor.id, { local, usable: ids });
        if (task === undefined) continue;
        this.#launch(manager, executor, task, effects);
        launched = true;
      }
    }
  }

  /** The free executors, each time from another one on. */
  #rotated(usable: readonly ExecutorEntry[]): ExecutorEntry[] {
    const free = usable.filter(({ freeCores }) =>
      freeCores >= this.#options.taskCpus
    );
    const start = free.length === 0 ? 0 : this.#turn++ % free.length;
    return [...free.slice(start), ...free.slice(0, start)];
  }

  #launch(
    manager: TaskSetManager,
    executor: ExecutorEntry,
    { index, attempt }: { index: number; attempt: number },
    effects: TaskSchedulerEffect[],
  ): void {
    const taskId = this.#nextTaskId++;
    const task: RunningTask = {
      taskId,
      index,
      attempt,
      executorId: executor.id,
      started: false,
    };
    executor.freeCores -= this.#options.taskCpus;
    manager.running.set(taskId, task);
    this.#tasks.set(taskId, [manager, task]);
    effects.push({
      type: "launch",
      executorId: executor.id,
      taskId,
      taskSet: manager.set,
      partition: manager.set.tasks[index].partition,
      attempt,
    });
  }

  #forgetFinished(): void {
    for (let i = this.#managers.length - 1; i >= 0; i--) {
      if (this.#managers[i].isFinished) this.#managers.splice(i, 1);
    }
  }

  /** The timer runs while tasks wait and none at all runs. */
  #watchStarvation(effects: TaskSchedulerEffect[]): void {
    const starving = this.#tasks.size === 0 && this.#waiting > 0;
    if (starving === this.#starving) return;
    this.#starving = starving;
    effects.push(
      starving
        ? {
          type: "setTimer",
          timer: STARVATION_TIMER,
          after: this.#options.starvationTimeout,
        }
        : { type: "clearTimer", timer: STARVATION_TIMER },
    );
  }
}
