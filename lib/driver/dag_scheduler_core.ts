import type { TaskFailure } from "../messages/cluster.ts";
import {
  cachedPartitionsOf,
  type DataSet,
  partitionsOf,
  type ShuffleDependency,
  shufflesOf,
} from "../rdd/lineage.ts";
import type { MapOutput } from "../shuffle/map_output.ts";
import type { DagEffect, DagEvent, JobId, StageInfo } from "./dag_events.ts";

export type { DagEffect, DagEvent, JobId, StageInfo };

/** A task can't be given what it is to read: the output was lost. */
export class MissingOutputError extends Error {
  override name = "MissingOutputError";

  constructor(readonly shuffleId: number, readonly mapIndex: number) {
    super(
      `Missing the output of map task ${mapIndex} of shuffle ${shuffleId}: the executor that had it is gone.`,
    );
  }
}

interface Stage extends StageInfo {
  readonly partitions: readonly number[];
  readonly done: Set<number>;
  /** Partitions that have been done at any time, for accumulators. */
  readonly counted: Set<number>;
  state: "waiting" | "running" | "done";
  attempts: number;
  /** Tries in a row that ended for lost map outputs. */
  failedFetches: number;
  readonly jobs: Set<JobId>;
}

interface Job {
  readonly jobId: JobId;
  readonly finalStage: Stage;
  readonly results: (Uint8Array | undefined)[];
  resultBytes: number;
}

export interface DagSchedulerOptions {
  readonly maxStageAttempts: number;
  /** In bytes; 0 is no limit. */
  readonly maxResultSize: number;
}

/**
 * Cuts jobs into stages at their shuffles, runs each when what it reads is
 * there, and again when that was lost (Spark: `DAGScheduler`). A state machine
 * without I/O.
 */
export class DagSchedulerCore {
  readonly #options: DagSchedulerOptions;
  readonly #jobs = new Map<JobId, Job>();
  readonly #stages = new Map<number, Stage>();
  readonly #shuffleStages = new Map<number, Stage>();
  readonly #outputs = new Map<number, (MapOutput | undefined)[]>();
  readonly #cached = new Map<string, Set<string>>();
  #nextStageId = 0;

  constructor(options: DagSchedulerOptions) {
    this.#options = options;
  }

  /**
   * All map outputs of a shuffle.
   *
   * @throws {MissingOutputError} when some were lost since the stage that
   * reads them began.
   */
  outputsOf(shuffleId: number): readonly MapOutput[] {
    const outputs = this.#outputs.get(shuffleId) ?? [];
    const mapIndex = outputs.indexOf(undefined);
    if (mapIndex >= 0) throw new MissingOutputError(shuffleId, mapIndex);
    return outputs as MapOutput[];
  }

  /** The shuffle's files are not needed any more. */
  forgetShuffle(shuffleId: number): void {
    this.#outputs.delete(shuffleId);
    this.#shuffleStages.delete(shuffleId);
  }

  handle(event: DagEvent): DagEffect[] {
    const effects: DagEffect[] = [];
    switch (event.type) {
      case "submitJob":
        this.#submitJob(event, effects);
        break;
      case "cancelJob":
        this.#failJob(event.jobId, event.reason, null, event.error, effects);
        break;
      case "taskSucceeded":
        this.#taskSucceeded(event, effects);
        break;
      case "fetchFailed":
        this.#fetchFailed(event, effects);
        break;
      case "stageFailed":
        this.#stageFailed(event, effects);
        break;
      case "executorLost":
        this.#executorLost(event.executorId, effects);
        break;
    }
    return effects;
  }

  // Jobs and stages

  #submitJob(
    event: Extract<DagEvent, { type: "submitJob" }>,
    effects: DagEffect[],
  ): void {
    const { jobId, dataSet, partitions, action } = event;
    if (partitions.length === 0) {
      effects.push({ type: "jobDone", jobId, results: [] });
      return;
    }
    const finalStage = this.#newStage(
      jobId,
      dataSet,
      { type: "result", action },
      partitions,
    );
    this.#jobs.set(jobId, {
      jobId,
      finalStage,
      results: partitions.map(() => undefined),
      resultBytes: 0,
    });
    finalStage.jobs.add(jobId);
    this.#stages.set(finalStage.stageId, finalStage);
    this.#run(finalStage, effects);
  }

  #newStage(
    jobId: JobId,
    dataSet: DataSet,
    target: StageInfo["target"],
    partitions: readonly number[],
  ): Stage {
    // A stage has a higher number than those whose output it reads.
    for (const dependency of shufflesOf(dataSet)) {
      this.#shuffleStage(dependency, jobId);
    }
    const stage: Stage = {
      stageId: this.#nextStageId++,
      jobId,
      dataSet,
      target,
      partitions,
      done: new Set(),
      counted: new Set(),
      state: "waiting",
      attempts: 0,
      failedFetches: 0,
      jobs: new Set(),
    };
    return stage;
  }

  #shuffleStage(dependency: ShuffleDependency, jobId: JobId): Stage {
    const { shuffleId, parent } = dependency;
    let stage = this.#shuffleStages.get(shuffleId);
    if (stage === undefined) {
      const partitions = partitionsOf(parent);
      stage = this.#newStage(
        jobId,
        parent,
        { type: "shuffle", dependency },
        Array.from({ length: partitions }, (_, i) => i),
      );
      this.#shuffleStages.set(shuffleId, stage);
      this.#outputs.set(shuffleId, new Array(partitions).fill(undefined));
    }
    return stage;
  }

  /** Runs a stage, or first those whose output it reads, for all its jobs. */
  #run(stage: Stage, effects: DagEffect[], seen = new Set<Stage>()): void {
    if (seen.has(stage)) return;
    seen.add(stage);
    if (stage.state === "running") return;
    const missing = shufflesOf(stage.dataSet)
      .map((dependency) => this.#shuffleStage(dependency, stage.jobId))
      .filter((parent) => !this.#isAvailable(parent));
    stage.state = "waiting";
    if (missing.length === 0) {
      this.#start(stage, effects);
      return;
    }
    for (const parent of missing) {
      this.#stages.set(parent.stageId, parent);
      for (const jobId of stage.jobs) parent.jobs.add(jobId);
      this.#run(parent, effects, seen);
    }
  }

  #isAvailable(stage: Stage): boolean {
    if (stage.target.type !== "shuffle") return stage.state === "done";
    const { shuffleId } = stage.target.dependency;
    return !this.#outputs.get(shuffleId)!.includes(undefined);
  }

  #start(stage: Stage, effects: DagEffect[]): void {
    stage.state = "running";
    const missing = stage.partitions.filter((partition) =>
      !stage.done.has(partition)
    );
    if (missing.length === 0) {
      this.#finishStage(stage, effects);
      return;
    }
    effects.push({
      type: "submitStage",
      stage,
      stageAttempt: stage.attempts++,
      tasks: missing.map((partition) => ({
        partition,
        preferred: this.#preferred(stage.dataSet, partition),
      })),
    });
  }

  #preferred(dataSet: DataSet, partition: number): string[] {
    return cachedPartitionsOf(dataSet, partition).flatMap((block) => [
      ...this.#cached.get(`${block.rddId}/${block.partition}`) ?? [],
    ]);
  }

  // What becomes of tasks

  #taskSucceeded(
    event: Extract<DagEvent, { type: "taskSucceeded" }>,
    effects: DagEffect[],
  ): void {
    const { executor, partition } = event;
    for (const [rddId, cached] of event.cached) {
      const key = `${rddId}/${cached}`;
      const where = this.#cached.get(key) ?? new Set();
      this.#cached.set(key, where.add(executor.id));
    }
    const stage = this.#stages.get(event.taskSet.stageId);
    if (stage === undefined || stage.done.has(partition)) return;
    stage.done.add(partition);
    if (!stage.counted.has(partition)) {
      stage.counted.add(partition);
      const { stageId } = stage;
      effects.push({ type: "partitionDone", stageId, partition });
    }
    if (stage.target.type === "shuffle") {
      const { shuffleId } = stage.target.dependency;
      this.#outputs.get(shuffleId)![partition] = {
        executorId: executor.id,
        host: executor.host,
        address: executor.address,
        ...event.mapOutput!,
      };
    } else if (!this.#takeResult(stage, partition, event.result!, effects)) {
      return;
    }
    if (stage.done.size < stage.partitions.length) return;
    if (this.#isAvailableOrResult(stage)) this.#finishStage(stage, effects);
    else this.#resubmitLost(stage, effects);
  }

  #isAvailableOrResult(stage: Stage): boolean {
    return stage.target.type === "result" || this.#isAvailable(stage);
  }

  /** @returns false when the job failed over it. */
  #takeResult(
    stage: Stage,
    partition: number,
    result: Uint8Array,
    effects: DagEffect[],
  ): boolean {
    const job = this.#jobs.get(stage.jobId)!;
    // Most jobs ask for all partitions in order, and then need no search.
    const { partitions } = stage;
    const at = partitions[partition] === partition
      ? partition
      : partitions.indexOf(partition);
    job.results[at] = result;
    job.resultBytes += result.length;
    const limit = this.#options.maxResultSize;
    if (limit === 0 || job.resultBytes <= limit) return true;
    const reason =
      `Total size of serialized results of ${stage.done.size} tasks (${job.resultBytes} bytes) is bigger than spark.driver.maxResultSize (${limit} bytes)`;
    this.#failJob(job.jobId, reason, null, undefined, effects);
    return false;
  }

  #finishStage(stage: Stage, effects: DagEffect[]): void {
    stage.state = "done";
    stage.failedFetches = 0;
    effects.push({ type: "stageDone", stageId: stage.stageId });
    if (stage.attempts > 1) {
      // Tasks of earlier tries may still run, for nothing.
      const reason = "Stage finished";
      effects.push({ type: "cancelStage", stageId: stage.stageId, reason });
    }
    if (stage.target.type === "result") {
      const job = this.#jobs.get(stage.jobId)!;
      this.#cancelIdle(this.#forgetJob(job.jobId), "Job finished", effects);
      effects.push({
        type: "jobDone",
        jobId: job.jobId,
        results: job.results as Uint8Array[],
      });
      return;
    }
    // Whatever waits for this shuffle may have all it needs now; or something
    // else that it needs was lost meanwhile and must run again.
    const { shuffleId } = stage.target.dependency;
    for (const waiting of [...this.#stages.values()]) {
      if (waiting.state !== "waiting") continue;
      const needed = shufflesOf(waiting.dataSet);
      if (needed.some((dependency) => dependency.shuffleId === shuffleId)) {
        this.#run(waiting, effects);
      }
    }
  }

  #fetchFailed(
    { taskSet, failure }: Extract<DagEvent, { type: "fetchFailed" }>,
    effects: DagEffect[],
  ): void {
    const { shuffleId, executorId } = failure.fetch!;
    this.#dropOutputs(shuffleId, executorId);
    const stage = this.#stages.get(taskSet.stageId);
    const stale = stage === undefined || stage.state !== "running" ||
      taskSet.stageAttempt !== stage.attempts - 1;
    if (stale) return;
    stage.failedFetches++;
    if (stage.failedFetches >= this.#options.maxStageAttempts) {
      const reason =
        `Stage ${stage.stageId} has failed the maximum allowable number of times: ${this.#options.maxStageAttempts}. Most recent failure reason: ${failure.message}`;
      for (const jobId of [...stage.jobs]) {
        this.#failJob(jobId, reason, failure, undefined, effects);
      }
      return;
    }
    effects.push({
      type: "log",
      level: "warn",
      message: `Running stage ${stage.stageId} again: ${failure.message}`,
    });
    stage.state = "waiting";
    this.#run(stage, effects);
  }

  #executorLost(executorId: string, effects: DagEffect[]): void {
    for (const where of this.#cached.values()) where.delete(executorId);
    for (const shuffleId of this.#outputs.keys()) {
      this.#dropOutputs(shuffleId, executorId);
    }
    // A map stage that runs must make up for what it had done there already.
    for (const stage of this.#shuffleStages.values()) {
      if (stage.state !== "running") continue;
      this.#resubmitLost(stage, effects);
    }
  }

  #resubmitLost(stage: Stage, effects: DagEffect[]): void {
    const { dependency } = stage.target as { dependency: ShuffleDependency };
    const outputs = this.#outputs.get(dependency.shuffleId)!;
    const lost = [...stage.done].filter((partition) =>
      outputs[partition] === undefined
    );
    if (lost.length === 0) return;
    for (const partition of lost) stage.done.delete(partition);
    // What it reads may be lost as well.
    stage.state = "waiting";
    this.#run(stage, effects);
  }

  #dropOutputs(shuffleId: number, executorId: string): void {
    const outputs = this.#outputs.get(shuffleId);
    const stage = this.#shuffleStages.get(shuffleId);
    if (outputs === undefined || stage === undefined) return;
    outputs.forEach((output, partition) => {
      if (output?.executorId !== executorId) return;
      outputs[partition] = undefined;
      // A running stage looks at the loss by itself, see #resubmitLost.
      if (stage.state !== "running") stage.done.delete(partition);
    });
  }

  #stageFailed(
    event: Extract<DagEvent, { type: "stageFailed" }>,
    effects: DagEffect[],
  ): void {
    const stage = this.#stages.get(event.stageId);
    if (stage === undefined) return;
    for (const jobId of [...stage.jobs]) {
      const { reason, failure, error } = event;
      this.#failJob(jobId, reason, failure, error, effects);
    }
  }

  #failJob(
    jobId: JobId,
    reason: string,
    failure: TaskFailure | null,
    error: unknown,
    effects: DagEffect[],
  ): void {
    if (!this.#jobs.has(jobId)) return;
    const idle = this.#forgetJob(jobId);
    this.#cancelIdle(idle, `Stage cancelled: ${reason}`, effects);
    effects.push({ type: "jobFailed", jobId, reason, failure, error });
  }

  #cancelIdle(stages: Stage[], reason: string, effects: DagEffect[]): void {
    for (const { stageId } of stages) {
      effects.push({ type: "cancelStage", stageId, reason });
    }
  }

  /** @returns the stages with tasks that nobody needs any more. */
  #forgetJob(jobId: JobId): Stage[] {
    this.#jobs.delete(jobId);
    const idle: Stage[] = [];
    for (const stage of [...this.#stages.values()]) {
      if (!stage.jobs.delete(jobId) || stage.jobs.size > 0) continue;
      this.#stages.delete(stage.stageId);
      if (stage.state === "done") continue;
      // One that waits may have been tried, and have tasks left of that.
      if (stage.attempts > 0) idle.push(stage);
      stage.state = "waiting";
    }
    return idle;
  }
}
