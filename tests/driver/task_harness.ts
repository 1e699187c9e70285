import type { TaskFailure } from "../../lib/messages/cluster.ts";
import type { TaskSet } from "../../lib/driver/task_set.ts";
import {
  TaskSchedulerCore,
  type TaskSchedulerEffect,
  type TaskSchedulerEvent,
  type TaskSchedulerOptions,
} from "../../lib/driver/task_scheduler_core.ts";

export type Launch = Extract<TaskSchedulerEffect, { type: "launch" }>;

/** A scheduler, with words for what executors and jobs say to it. */
export class Tasks {
  readonly core: TaskSchedulerCore;
  /** What was launched and has not ended, as the executors know it. */
  readonly running = new Map<number, Launch>();

  constructor(options: Partial<TaskSchedulerOptions> = {}) {
    this.core = new TaskSchedulerCore({
      taskCpus: 1,
      maxFailures: 4,
      starvationTimeout: 15_000,
      ready: true,
      ...options,
    });
  }

  handle(event: TaskSchedulerEvent): TaskSchedulerEffect[] {
    const effects = this.core.handle(event);
    this.core.checkInvariants();
    for (const effect of effects) {
      if (effect.type === "launch") this.running.set(effect.taskId, effect);
    }
    return effects;
  }

  add(executorId: string, cores = 1): Launch[] {
    const host = `host-${executorId}`;
    return launches(
      this.handle({ type: "executorAdded", executorId, host, cores }),
    );
  }

  submit(set: TaskSet): Launch[] {
    return launches(this.handle({ type: "submit", taskSet: set }));
  }

  started({ taskId }: Launch): void {
    this.handle({
      type: "statusUpdate",
      taskId,
      state: "RUNNING",
      outcome: { type: "running" },
      data: null,
    });
  }

  succeed({ taskId }: Launch): TaskSchedulerEffect[] {
    this.running.delete(taskId);
    return this.handle({
      type: "statusUpdate",
      taskId,
      state: "FINISHED",
      outcome: {
        type: "success",
        mapOutput: null,
        cached: [],
        accumulatorBytes: 0,
        runTime: 1,
      },
      data: null,
    });
  }

  fail(
    { taskId }: Launch,
    failure: Partial<TaskFailure> = {},
  ): TaskSchedulerEffect[] {
    this.running.delete(taskId);
    return this.handle({
      type: "statusUpdate",
      taskId,
      state: "FAILED",
      outcome: { type: "failure", failure: failureOf(failure) },
      data: null,
    });
  }

  lose(executorId: string, causedByApp = true): TaskSchedulerEffect[] {
    for (const launch of [...this.running.values()]) {
      if (launch.executorId === executorId) this.running.delete(launch.taskId);
    }
    const reason = "gone";
    return this.handle({
      type: "executorLost",
      executorId,
      reason,
      causedByApp,
    });
  }
}

export function taskSet(
  tasks: number | readonly (readonly string[])[],
  ids: { stageId?: number; jobId?: number; stageAttempt?: number } = {},
): TaskSet {
  const { stageId = 0, jobId = 0, stageAttempt = 0 } = ids;
  const preferences = typeof tasks === "number"
    ? new Array<readonly string[]>(tasks).fill([])
    : tasks;
  return {
    stageId,
    stageAttempt,
    jobId,
    binaryId: stageId,
    tasks: preferences.map((preferred, partition) => ({
      partition,
      preferred,
    })),
  };
}

export function failureOf(failure: Partial<TaskFailure> = {}): TaskFailure {
  return {
    reason: "exception",
    message: "Error: boom",
    stack: "",
    fetch: null,
    ...failure,
  };
}

export function fetchFailure(
  shuffleId: number,
  executorId: string,
): TaskFailure {
  return failureOf({
    reason: "fetchFailed",
    message: "Cannot fetch",
    fetch: { shuffleId, mapIndex: 0, executorId },
  });
}

export function launches(effects: readonly TaskSchedulerEffect[]): Launch[] {
  return effects.filter((effect) => effect.type === "launch");
}

export function ofType<
  E extends { readonly type: string },
  T extends E["type"],
>(effects: readonly E[], type: T): Extract<E, { type: T }>[] {
  return effects.filter((effect) => effect.type === type) as Extract<
    E,
    { type: T }
  >[];
}
