import {
  DRIVER_MAX_RESULT_SIZE,
  MAX_REGISTERED_RESOURCES_WAITING_TIME,
  STAGE_MAX_CONSECUTIVE_ATTEMPTS,
  STARVATION_TIMEOUT,
  TASK_CPUS,
  TASK_MAX_FAILURES,
} from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import type { ClosureCapturer } from "../closure/capturer.ts";
import { describeError, getLogger } from "../log.ts";
import type { TaskFailure, TaskId, TaskOutcome } from "../messages/cluster.ts";
import type { TaskState } from "../messages/states.ts";
import {
  type DataSet,
  partitionsOf,
  planOf,
  shuffleSink,
  shufflesOf,
  specOf,
} from "../rdd/lineage.ts";
import type { Action, Plan, StageProgram } from "../rdd/plan.ts";
import { decodeValue, encodeValue } from "../shuffle/record_codec.ts";
import {
  type DagEffect,
  type DagEvent,
  DagSchedulerCore,
  type JobId,
  MissingOutputError,
  type StageInfo,
} from "./dag_scheduler_core.ts";
import { JobCancelledError, JobFailedError } from "./job_errors.ts";
import type { ExecutorData, SchedulerBackend } from "./scheduler_backend.ts";
import {
  type StageProgress,
  TaskSchedulerCore,
  type TaskSchedulerEffect,
  type TaskSchedulerEvent,
} from "./task_scheduler_core.ts";

const log = getLogger("TaskScheduler");

/** Runs until tasks may start, however few cores have come. */
const RESOURCES_TIMER = "resources";

export interface JobRunnerOptions {
  readonly conf: SparkConf;
  readonly capturer: ClosureCapturer;
  /** Told what a task added, once a partition. */
  mergeAccumulator(id: number, partial: unknown): void;
  /** Waits until what closures refer to can be fetched. */
  readyToSend(): Promise<void>;
}

interface Job {
  resolve(results: Uint8Array[]): void;
  reject(error: unknown): void;
}

/** A stage that has been submitted and is not done. */
interface RunningStage {
  readonly stage: StageInfo;
  readonly plan: Plan;
  /** Its code, the same for all its tries. */
  readonly binary: Promise<Uint8Array>;
  code: Uint8Array | undefined;
  /** The newest try; an older one that still waits for the code is void. */
  stageAttempt: number;
}

/**
 * Runs jobs: the shell around the two schedulers. What the one for stages
 * wants becomes sets of tasks for the other, and what that one launches goes
 * to the backend; what comes back goes the same way up.
 */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #stages: DagSchedulerCore;
  readonly #tasks: TaskSchedulerCore;
  readonly #jobs = new Map<JobId, Job>();
  readonly #running = new Map<number, RunningStage>();
  readonly #executors = new Map<string, ExecutorData>();
  /** Which stages' code an executor has. */
  readonly #sent = new Map<string, Set<number>>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** What the tasks' scheduler wants done, in the order in which it said so. */
  readonly #effects: TaskSchedulerEffect[] = [];
  #performing = false;
  #backend: SchedulerBackend | undefined;
  #nextJobId = 0;
  #stopped: string | undefined;

  constructor(options: JobRunnerOptions) {
    const { conf } = options;
    this.#options = options;
    this.#stages = new DagSchedulerCore({
      maxStageAttempts: conf.get(STAGE_MAX_CONSECUTIVE_ATTEMPTS),
      maxResultSize: conf.get(DRIVER_MAX_RESULT_SIZE),
    });
    this.#tasks = new TaskSchedulerCore({
      taskCpus: conf.get(TASK_CPUS),
      maxFailures: conf.get(TASK_MAX_FAILURES),
      starvationTimeout: conf.get(STARVATION_TIMEOUT),
      ready: false,
    });
  }

  get progress(): StageProgress[] {
    return this.#tasks.progress;
  }

  get totalCores(): number {
    return this.#tasks.totalCores;
  }

  /** From now on tasks run there, once enough of its cores have come. */
  use(backend: SchedulerBackend): void {
    this.#backend = backend;
    this.#timers.set(
      RESOURCES_TIMER,
      setTimeout(
        () => this.#resourcesReady(),
        this.#options.conf.get(MAX_REGISTERED_RESOURCES_WAITING_TIME),
      ),
    );
    this.#lookForResources();
  }

  #lookForResources(): void {
    const waiting = this.#timers.has(RESOURCES_TIMER);
    if (waiting && this.totalCores >= this.#backend!.coresToAwait) {
      this.#resourcesReady();
    }
  }

  #resourcesReady(): void {
    clearTimeout(this.#timers.get(RESOURCES_TIMER));
    this.#timers.delete(RESOURCES_TIMER);
    this.#task({ type: "resourcesReady" });
  }

  /**
   * @throws {JobFailedError} when a task failed too often.
   * @throws {JobCancelledError} when `stop` was or is called.
   */
  async run(
    dataSet: DataSet,
    action: Action,
    partitions?: readonly number[],
  ): Promise<Uint8Array[]> {
    await prepareShuffles(dataSet, new Set());
    if (this.#stopped !== undefined) throw new JobCancelledError(this.#stopped);
    const jobId = this.#nextJobId++;
    const done = Promise.withResolvers<Uint8Array[]>();
    this.#jobs.set(jobId, done);
    this.#stage({
      type: "submitJob",
      jobId,
      dataSet,
      action,
      partitions: partitions ??
        Array.from({ length: partitionsOf(dataSet) }, (_, i) => i),
    });
    return await done.promise;
  }

  /** Ends all jobs, and refuses new ones, for this reason. */
  stop(reason: string): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = reason;
    for (const jobId of [...this.#jobs.keys()]) {
      const error = new JobCancelledError(reason);
      this.#stage({ type: "cancelJob", jobId, reason, error });
    }
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  // What the backend tells

  executorAdded(executor: ExecutorData): void {
    this.#executors.set(executor.id, executor);
    this.#sent.set(executor.id, new Set());
    const { id: executorId, host, cores } = executor;
    this.#task({ type: "executorAdded", executorId, host, cores });
    this.#lookForResources();
  }

  executorSuspended(executorId: string): void {
    this.#task({ type: "executorSuspended", executorId });
  }

  executorLost(executorId: string, reason: string, causedByApp: boolean): void {
    this.#executors.delete(executorId);
    this.#sent.delete(executorId);
    this.#task({ type: "executorLost", executorId, reason, causedByApp });
    this.#stage({ type: "executorLost", executorId });
  }

  statusUpdate(
    taskId: TaskId,
    state: TaskState,
    outcome: TaskOutcome,
    data: Uint8Array | null,
  ): void {
    this.#task({ type: "statusUpdate", taskId, state, outcome, data });
  }

  // Stages

  #stage(event: DagEvent, updates?: Uint8Array): void {
    for (const effect of this.#stages.handle(event)) {
      this.#performStage(effect, updates);
    }
  }

  #performStage(effect: DagEffect, updates?: Uint8Array): void {
    switch (effect.type) {
      case "submitStage":
        return void this.#submitStage(effect);
      case "cancelStage": {
        const { stageId, reason } = effect;
        this.#forgetStage(stageId);
        return this.#task({ type: "cancel", stageId, reason });
      }
      case "partitionDone":
        return this.#mergeAccumulators(updates);
      case "stageDone":
        return this.#forgetStage(effect.stageId);
      case "jobDone":
        this.#jobs.get(effect.jobId)?.resolve([...effect.results]);
        this.#jobs.delete(effect.jobId);
        return;
      case "jobFailed": {
        const { reason, failure, error } = effect;
        this.#jobs.get(effect.jobId)?.reject(
          error ?? new JobFailedError(`Job aborted: ${reason}`, failure),
        );
        this.#jobs.delete(effect.jobId);
        return;
      }
      case "log":
        return log[effect.level](effect.message);
    }
  }

  async #submitStage(
    effect: Extract<DagEffect, { type: "submitStage" }>,
  ): Promise<void> {
    const { stage, stageAttempt, tasks } = effect;
    const { stageId, jobId } = stage;
    const running = this.#running.get(stageId) ?? this.#load(stage);
    running.stageAttempt = stageAttempt;
    this.#running.set(stageId, running);
    // By now the stage may be given up, or be tried anew.
    const isVoid = () =>
      this.#running.get(stageId) !== running ||
      running.stageAttempt !== stageAttempt;
    try {
      running.code = await running.binary;
    } catch (error) {
      if (!isVoid()) this.#failStage(stageId, describeError(error), error);
      return;
    }
    if (isVoid()) return;
    const taskSet = { stageId, stageAttempt, jobId, binaryId: stageId, tasks };
    this.#task({ type: "submit", taskSet });
  }

  #load(stage: StageInfo): RunningStage {
    const program = programOf(stage);
    return {
      stage,
      plan: program.plan,
      binary: this.#capture(program, describeStage(stage)),
      code: undefined,
      stageAttempt: 0,
    };
  }

  async #capture(program: StageProgram, name: string): Promise<Uint8Array> {
    // Only then does a broadcast value know whether it can travel.
    await this.#options.readyToSend();
    return await this.#options.capturer.capture(program, { name });
  }

  #failStage(stageId: number, reason: string, error: unknown): void {
    this.#forgetStage(stageId);
    const failure = null;
    this.#stage({ type: "stageFailed", stageId, reason, failure, error });
  }

  #forgetStage(stageId: number): void {
    if (!this.#running.delete(stageId)) return;
    for (const sent of this.#sent.values()) sent.delete(stageId);
    this.#backend?.removeBinary(stageId);
  }

  #mergeAccumulators(updates: Uint8Array | undefined): void {
    if (updates === undefined || updates.length === 0) return;
    for (const [id, partial] of decodeValue(updates) as [number, unknown][]) {
      this.#options.mergeAccumulator(id, partial);
    }
  }

  // Tasks

  /**
   * What follows from an effect is done after all those that came before it:
   * a task must not be killed before it is launched.
   */
  #task(event: TaskSchedulerEvent): void {
    this.#effects.push(...this.#tasks.handle(event));
    if (this.#performing) return;
    this.#performing = true;
    try {
      for (
        let next = this.#effects.shift();
        next;
        next = this.#effects.shift()
      ) this.#performTask(next);
    } finally {
      this.#performing = false;
    }
  }

  #performTask(effect: TaskSchedulerEffect): void {
    switch (effect.type) {
      case "launch":
        return this.#launch(effect);
      case "kill":
        return this.#backend?.kill(
          effect.executorId,
          effect.taskId,
          effect.reason,
        );
      case "taskSucceeded":
        return this.#taskSucceeded(effect);
      case "fetchFailed":
        return this.#stage({
          type: "fetchFailed",
          taskSet: effect.taskSet,
          failure: effect.failure,
        });
      case "taskSetFailed":
        return this.#stage({
          type: "stageFailed",
          stageId: effect.taskSet.stageId,
          reason: effect.reason,
          failure: effect.failure,
          error: undefined,
        });
      case "log":
        return log[effect.level](effect.message);
      case "setTimer":
        this.#timers.set(
          effect.timer,
          setTimeout(
            () => this.#task({ type: "timer", timer: effect.timer }),
            effect.after,
          ),
        );
        return;
      case "clearTimer":
        return clearTimeout(this.#timers.get(effect.timer));
      case "starving":
        return void this.#warnOfStarvation();
    }
  }

  #launch(effect: Extract<TaskSchedulerEffect, { type: "launch" }>): void {
    const { taskId, taskSet, executorId } = effect;
    const { stageId } = taskSet;
    const running = this.#running.get(stageId);
    const sent = this.#sent.get(executorId);
    if (running?.code === undefined || sent === undefined) {
      // Given up in the same breath: its core is free again.
      this.#unlaunched(taskId, {
        reason: "killed",
        message: "Stage cancelled",
      });
      return;
    }
    try {
      this.#send(effect, running, running.code, sent);
    } catch (error) {
      const message = describeError(error);
      if (error instanceof MissingOutputError) {
        const { shuffleId, mapIndex } = error;
        const fetch = { shuffleId, mapIndex, executorId: "" };
        this.#unlaunched(taskId, { reason: "fetchFailed", message, fetch });
        return;
      }
      this.#unlaunched(taskId, { reason: "killed", message });
      const reason =
        `Failed to send task ${effect.partition} of stage ${stageId}: ${message}`;
      this.#failStage(stageId, reason, new JobFailedError(reason, null));
    }
  }

  #send(
    effect: Extract<TaskSchedulerEffect, { type: "launch" }>,
    { stage, plan }: RunningStage,
    code: Uint8Array,
    sent: Set<number>,
  ): void {
    const { executorId, taskId, taskSet, partition, attempt } = effect;
    const { stageId, stageAttempt, binaryId } = taskSet;
    const backend = this.#backend!;
    const spec = specOf(
      stage.dataSet,
      plan,
      partition,
      (shuffleId) => this.#stages.outputsOf(shuffleId),
    );
    const data = encodeValue(spec);
    if (!sent.has(binaryId)) {
      backend.addBinary(executorId, binaryId, code);
      sent.add(binaryId);
    }
    backend.launch(executorId, {
      type: "LaunchTask",
      taskId,
      binaryId,
      stageId,
      stageAttempt,
      partition,
      attempt,
      data,
    });
  }

  /** A task ended before it went anywhere. */
  #unlaunched(
    taskId: TaskId,
    { fetch = null, ...rest }: Pick<TaskFailure, "reason" | "message"> & {
      fetch?: TaskFailure["fetch"];
    },
  ): void {
    const failure: TaskFailure = { ...rest, stack: "", fetch };
    this.statusUpdate(taskId, "FAILED", { type: "failure", failure }, null);
  }

  #taskSucceeded(
    effect: Extract<TaskSchedulerEffect, { type: "taskSucceeded" }>,
  ): void {
    const { outcome, data, executorId } = effect;
    const executor = this.#executors.get(executorId);
    if (executor === undefined) return;
    this.#stage({
      type: "taskSucceeded",
      taskSet: effect.taskSet,
      partition: effect.partition,
      executor,
      mapOutput: outcome.mapOutput,
      cached: outcome.cached,
      result: outcome.mapOutput === null
        ? data?.subarray(outcome.accumulatorBytes) ?? null
        : null,
    }, data?.subarray(0, outcome.accumulatorBytes));
  }

  async #warnOfStarvation(): Promise<void> {
    const what = "Initial job has not accepted any resources";
    try {
      const shortage = await this.#backend?.describeShortage();
      log.warn(`${what}. ${shortage ?? ""}`);
    } catch (error) {
      log.warn(`${what}, and the master can't be asked why`, error);
    }
  }
}

/** Lets sorts look at their keys, the innermost first. */
async function prepareShuffles(
  dataSet: DataSet,
  seen: Set<number>,
): Promise<void> {
  for (const { shuffleId, parent, prepare } of shufflesOf(dataSet)) {
    if (seen.has(shuffleId)) continue;
    seen.add(shuffleId);
    await prepareShuffles(parent, seen);
    await prepare?.();
  }
}

function programOf(stage: StageInfo): StageProgram {
  const plan = planOf(stage.dataSet);
  const { target } = stage;
  return target.type === "shuffle"
    ? { plan, sink: shuffleSink(target.dependency) }
    : { plan, sink: { type: "action", action: target.action } };
}

function describeStage({ stageId, dataSet, target }: StageInfo): string {
  const what = target.type === "shuffle" ? "shuffle" : target.action.type;
  return `stage ${stageId} (${dataSet.name}, ${what})`;
}
