import { ClosureCapturer } from "../closure/capturer.ts";
import { type Travel, travel } from "../closure/travel.ts";
import {
  APP_NAME,
  DEFAULT_PARALLELISM,
  MASTER,
  UI_SHOW_CONSOLE_PROGRESS,
} from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import { getLogger } from "../log.ts";
import type { RpcAddress } from "../messages/addresses.ts";
import { Accumulator } from "../rdd/accumulator.ts";
import type { Broadcast } from "../rdd/broadcast.ts";
import type { RddContext } from "../rdd/context.ts";
import type { DataSet } from "../rdd/lineage.ts";
import type { Action } from "../rdd/plan.ts";
import { RDD } from "../rdd/rdd.ts";
import { listTextSplits } from "../rdd/text_splits.ts";
import { encodeRecords } from "../shuffle/record_codec.ts";
import { Broadcasts } from "./broadcasts.ts";
import { JobRunner } from "./job_runner.ts";
import { startLocalBackend, type StartLocalExecutor } from "./local_backend.ts";
import { ProgressBar } from "./progress_bar.ts";
import type { BackendEvents, SchedulerBackend } from "./scheduler_backend.ts";
import { startStandaloneBackend } from "./standalone_backend.ts";

const log = getLogger("SparkContext");

/** The least partitions that are made without a number, as in Spark. */
const MIN_PARALLELISM = 2;

/** Where a context runs its tasks. */
export type ContextTarget =
  | { readonly type: "spark"; readonly masters: readonly RpcAddress[] }
  | {
    readonly type: "local";
    readonly threads: number;
    readonly startExecutor: StartLocalExecutor;
  };

/**
 * An application's way to its cluster: it makes data sets, and runs what is
 * asked of them (Spark: `SparkContext`).
 */
export class SparkContext {
  readonly #conf: SparkConf;
  readonly #capturer = new ClosureCapturer();
  readonly #broadcasts = new Broadcasts(this.#capturer);
  readonly #accumulators = new Map<number, Accumulator<unknown>>();
  readonly #jobs: JobRunner;
  readonly #context: RddContext;
  #backend: SchedulerBackend | undefined;
  #progressBar: ProgressBar | undefined;
  #stopping: Promise<void> | undefined;
  readonly #dead = Promise.withResolvers<string>();

  private constructor(conf: SparkConf) {
    this.#conf = conf;
    this.#jobs = new JobRunner({
      conf,
      capturer: this.#capturer,
      mergeAccumulator: (id, partial) =>
        this.#accumulators.get(id)?.merge(partial),
      readyToSend: () => this.#broadcasts.ready(),
    });
    this.#context = this.#rddContext();
  }

  /**
   * Connects to the cluster. Resolves when the application is registered and
   * the executors that were granted at once are up, or take too long.
   * @param options `signal` gives the start up.
   * @throws {ApplicationRefusedError} when no master answers.
   */
  static async start(
    conf: SparkConf,
    target: ContextTarget,
    options: { signal?: AbortSignal } = {},
  ): Promise<SparkContext> {
    const context = new SparkContext(conf);
    try {
      await context.#start(target, options.signal);
    } catch (error) {
      context.#capturer.close();
      throw error;
    }
    return context;
  }

  get applicationId(): string {
    return this.#backend?.appId ?? "";
  }

  get appName(): string {
    return this.#conf.get(APP_NAME) ?? "";
  }

  get master(): string {
    return this.#conf.get(MASTER) ?? "";
  }

  /** `spark.default.parallelism`, or all cores there are now; at least 2. */
  get defaultParallelism(): number {
    return this.#conf.get(DEFAULT_PARALLELISM) ??
      Math.max(this.#jobs.totalCores, MIN_PARALLELISM);
  }

  /** Resolves with the reason when the cluster has given the application up. */
  get dead(): Promise<string> {
    return this.#dead.promise;
  }

  /** Spreads the values of an iterable over partitions. */
  parallelize<T>(values: Iterable<T>, numPartitions?: number): RDD<T> {
    const all = Array.isArray(values) ? values : [...values];
    const count = this.#partitions(numPartitions);
    const slices = Array.from(
      { length: count },
      (_, i) =>
        encodeRecords(
          all.slice(
            Math.floor(i * all.length / count),
            Math.floor((i + 1) * all.length / count),
          ),
        ),
    );
    return new RDD(this.#context, "parallelize", { type: "values", slices });
  }

  /**
   * The numbers from 0 up to `end`, or from `start` up to `end` by `step`;
   * `end` is not among them.
   */
  range(
    startOrEnd: number,
    end?: number,
    options: { step?: number; numPartitions?: number } = {},
  ): RDD<number> {
    const [first, last] = end === undefined
      ? [0, startOrEnd]
      : [startOrEnd, end];
    const { step = 1 } = options;
    if (![first, last, step].every(Number.isSafeInteger) || step === 0) {
      throw new RangeError(
        `A range needs whole numbers and a step that is not 0: ${first}, ${last}, ${step}.`,
      );
    }
    const length = Math.max(0, Math.ceil((last - first) / step));
    const count = this.#partitions(options.numPartitions);
    const slices = Array.from({ length: count }, (_, i) => {
      const from = Math.floor(i * length / count);
      const to = Math.floor((i + 1) * length / count);
      return { start: first + from * step, step, count: to - from };
    });
    return new RDD(this.#context, "range", { type: "range", slices });
  }

  /**
   * The lines of text files: a path, a directory, a glob or several of these
   * with commas between. All hosts must see the files under these paths.
   *
   * @throws {InputPathError} when there is nothing at a path.
   */
  textFile(path: string, minPartitions?: number): RDD<string> {
    const splits = listTextSplits(path, {
      minPartitions: this.#partitions(minPartitions),
    });
    return new RDD(this.#context, "textFile", { type: "text", splits });
  }

  /** Gives every executor a value once, as it is now. */
  broadcast<T>(value: T): Broadcast<T> {
    return this.#broadcasts.add(
      value,
      (id) => this.#backend?.removeBroadcast(id),
    );
  }

  /** A sum that tasks add to. */
  accumulator(initial: number): Accumulator<number>;
  accumulator(initial: bigint): Accumulator<bigint>;
  accumulator(initial: number | bigint): Accumulator<number | bigint> {
    return this.#register(
      new Accumulator<number | bigint>(this.#accumulators.size, "sum", initial),
    );
  }

  /** A list that tasks add values to, in no special order. */
  collectionAccumulator<T>(): Accumulator<T, T[]> {
    return this.#register(
      new Accumulator<T, T[]>(this.#accumulators.size, "list", []),
    );
  }

  /** Ends the application: its jobs, its executors, its registration. */
  stop(reason = "SparkContext was shut down"): Promise<void> {
    this.#stopping ??= this.#stop(reason);
    return this.#stopping;
  }

  [travel](): Travel {
    return { refuse: "a SparkContext" };
  }

  async #start(target: ContextTarget, signal?: AbortSignal): Promise<void> {
    const events: BackendEvents = {
      executorAdded: (executor) => this.#jobs.executorAdded(executor),
      executorSuspended: (id) => this.#jobs.executorSuspended(id),
      executorLost: (id, reason, causedByApp) =>
        this.#jobs.executorLost(id, reason, causedByApp),
      statusUpdate: (taskId, state, outcome, data) =>
        this.#jobs.statusUpdate(taskId, state, outcome, data),
      dead: (reason) => {
        log.error(`Application has been killed. Reason: ${reason}`);
        this.#jobs.stop(reason);
        this.#dead.resolve(reason);
      },
    };
    const conf = this.#conf;
    const broadcast = (id: number) => this.#broadcasts.get(id);
    const backend = target.type === "local"
      ? await startLocalBackend(
        target.threads,
        conf,
        target.startExecutor,
        events,
        broadcast,
      )
      : await startStandaloneBackend({
        masters: target.masters,
        signal,
        appName: this.appName,
        conf,
        events,
        broadcast,
      });
    this.#backend = backend;
    this.#jobs.use(backend);
    if (conf.get(UI_SHOW_CONSOLE_PROGRESS) && Deno.stderr.isTerminal()) {
      this.#progressBar = new ProgressBar(() => this.#jobs.progress);
    }
  }

  async #stop(reason: string): Promise<void> {
    this.#progressBar?.[Symbol.dispose]();
    this.#jobs.stop(reason);
    try {
      await this.#backend?.stop();
    } finally {
      this.#capturer.close();
    }
  }

  #partitions(given: number | undefined): number {
    const count = given ?? this.defaultParallelism;
    if (!Number.isInteger(count) || count < 1) {
      throw new RangeError(
        `The number of partitions must be a whole number from 1 on, and is ${count}.`,
      );
    }
    return count;
  }

  #register<A extends Accumulator<never, unknown>>(accumulator: A): A {
    this.#accumulators.set(
      accumulator.id,
      accumulator as unknown as Accumulator<unknown>,
    );
    return accumulator;
  }

  #rddContext(): RddContext {
    let rdds = 0;
    let shuffles = 0;
    const jobs = this.#jobs;
    const parallelism = () => this.defaultParallelism;
    return {
      newRddId: () => rdds++,
      newShuffleId: () => shuffles++,
      get defaultParallelism() {
        return parallelism();
      },
      runJob: async (
        dataSet: DataSet,
        action: Action,
        partitions?: readonly number[],
      ) => {
        try {
          return await jobs.run(dataSet, action, partitions);
        } finally {
          // What the application writes next may go to the same terminal.
          this.#progressBar?.clear();
        }
      },
    };
  }
}
