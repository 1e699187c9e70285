import { assert } from "@std/assert";
import {
  type DagEffect,
  type DagEvent,
  DagSchedulerCore,
  type DagSchedulerOptions,
  type StageInfo,
} from "../../lib/driver/dag_scheduler_core.ts";
import type { TaskSet } from "../../lib/driver/task_set.ts";
import {
  type DataSet,
  type Lineage,
  partitionsOf,
  type ShuffleDependency,
} from "../../lib/rdd/lineage.ts";
import type { Action } from "../../lib/rdd/plan.ts";
import { fetchFailure } from "./task_harness.ts";

let nextId = 0;
let nextShuffle = 0;

export function dataSet(lineage: Lineage, name = "test"): DataSet {
  return { id: nextId++, name, lineage, cached: false };
}

export function source(partitions: number): DataSet {
  const slice = { start: 0, step: 1, count: 1 };
  return dataSet({
    type: "range",
    slices: new Array<typeof slice>(partitions).fill(slice),
  });
}

export function mapped(parent: DataSet): DataSet {
  return dataSet({ type: "op", parent, op: { type: "keys" } });
}

export function dependencyOn(
  parent: DataSet,
  partitions: number,
): ShuffleDependency {
  const partitioner = { type: "hash", partitions } as const;
  return { shuffleId: nextShuffle++, parent, combine: "none", partitioner };
}

export function shuffled(parent: DataSet, partitions: number): DataSet {
  const dependency = dependencyOn(parent, partitions);
  return dataSet({ type: "shuffle", dependency, read: { type: "plain" } });
}

export function cogrouped(a: DataSet, b: DataSet, partitions: number): DataSet {
  const dependencies = [
    dependencyOn(a, partitions),
    dependencyOn(b, partitions),
  ];
  return dataSet({ type: "cogroup", dependencies });
}

export function unionOf(...parents: DataSet[]): DataSet {
  return dataSet({ type: "union", parents });
}

export function shuffleIdOf(dataSet: DataSet): number {
  const { lineage } = dataSet;
  if (lineage.type !== "shuffle") throw new Error(lineage.type);
  return lineage.dependency.shuffleId;
}

export const COLLECT: Action = { type: "collect" };

/** A try at a stage that the scheduler asked for. */
export interface Submitted {
  readonly stage: StageInfo;
  readonly set: TaskSet;
  readonly partitions: readonly number[];
}

/** A scheduler of stages, with words for what becomes of its tasks. */
export class Stages {
  readonly core: DagSchedulerCore;
  readonly submitted: Submitted[] = [];
  readonly cancelled: number[] = [];
  readonly counted: string[] = [];
  readonly done = new Map<number, number[]>();
  readonly failed = new Map<number, string>();
  #nextJob = 0;

  constructor(options: Partial<DagSchedulerOptions> = {}) {
    this.core = new DagSchedulerCore({
      maxStageAttempts: 4,
      maxResultSize: 0,
      ...options,
    });
  }

  get last(): Submitted {
    const last = this.submitted.at(-1);
    if (last === undefined) throw new Error("No stage was submitted.");
    return last;
  }

  handle(event: DagEvent): DagEffect[] {
    const effects = this.core.handle(event);
    for (const effect of effects) this.#note(effect);
    return effects;
  }

  run(dataSet: DataSet, partitions?: readonly number[]): number {
    const jobId = this.#nextJob++;
    this.handle({
      type: "submitJob",
      jobId,
      dataSet,
      partitions: partitions ??
        Array.from({ length: partitionsOf(dataSet) }, (_, i) => i),
      action: COLLECT,
    });
    return jobId;
  }

  cancel(jobId: number): DagEffect[] {
    const reason = "cancelled";
    return this.handle({ type: "cancelJob", jobId, reason, error: undefined });
  }

  succeed(
    { stage, set }: Submitted,
    partition: number,
    executorId = "1",
    extra: {
      cached?: [number, number][];
      result?: Uint8Array;
    } = {},
  ): DagEffect[] {
    const { cached = [], result = Uint8Array.of(partition) } = extra;
    const shuffle = stage.target.type === "shuffle";
    const reduces = stage.target.type === "shuffle"
      ? stage.target.dependency.partitioner.partitions
      : 0;
    return this.handle({
      type: "taskSucceeded",
      taskSet: set,
      partition,
      executor: {
        id: executorId,
        host: `host-${executorId}`,
        address: { host: `host-${executorId}`, port: 1 },
      },
      mapOutput: shuffle
        ? {
          path: `/${executorId}/${stage.stageId}/${partition}`,
          segments: new Array<number[]>(reduces).fill([]),
        }
        : null,
      cached,
      result: shuffle ? null : result,
    });
  }

  /** All tasks of a try succeed on one executor. */
  finish(submitted: Submitted, executorId = "1"): void {
    for (const partition of submitted.partitions) {
      this.succeed(submitted, partition, executorId);
    }
  }

  fetchFailed(
    { set }: Submitted,
    shuffleId: number,
    executorId: string,
  ): DagEffect[] {
    const failure = fetchFailure(shuffleId, executorId);
    return this.handle({ type: "fetchFailed", taskSet: set, failure });
  }

  lose(executorId: string): DagEffect[] {
    return this.handle({ type: "executorLost", executorId });
  }

  #note(effect: DagEffect): void {
    switch (effect.type) {
      case "submitStage": {
        const { stage, stageAttempt, tasks } = effect;
        const { stageId, jobId } = stage;
        this.submitted.push({
          stage,
          set: { stageId, stageAttempt, jobId, binaryId: stageId, tasks },
          partitions: tasks.map(({ partition }) => partition),
        });
        break;
      }
      case "cancelStage":
        this.cancelled.push(effect.stageId);
        break;
      case "partitionDone":
        this.counted.push(`${effect.stageId}/${effect.partition}`);
        break;
      case "jobDone":
        assert(!this.done.has(effect.jobId) && !this.failed.has(effect.jobId));
        this.done.set(effect.jobId, effect.results.map((bytes) => bytes[0]));
        break;
      case "jobFailed":
        assert(!this.done.has(effect.jobId) && !this.failed.has(effect.jobId));
        this.failed.set(effect.jobId, effect.reason);
        break;
    }
  }
}
