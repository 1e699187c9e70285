import { type Travel, travel } from "../closure/travel.ts";
import type { Partitioner } from "../shuffle/partitioner.ts";
import {
  concatRecords,
  mergeCounts,
  mergeSamples,
  sumCounts,
} from "./actions.ts";
import type { RddContext } from "./context.ts";
import {
  type DataSet,
  type Lineage,
  partitionsOf,
  type ShuffleDependency,
} from "./lineage.ts";
import type { Fn, Op, ShuffleRead } from "./plan.ts";
import { rangeBounds } from "../shuffle/partitioner.ts";
import { abortOutput, commitOutput, prepareOutput } from "./text_output.ts";

/** What a function of the application may give: a value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** An action needs a record and there is none. */
export class EmptyCollectionError extends Error {
  override name = "EmptyCollectionError";
}

/** Keys that are sampled for each partition of a sort. */
const SAMPLE_PER_PARTITION = 20;
const MAX_SAMPLE = 1_000_000;
/** How many times as many partitions `take` looks at, try after try. */
const TAKE_SCALE_UP = 4;

/**
 * A data set, spread over the executors in partitions (Spark: `RDD`).
 *
 * Operators such as `map` only note what is to be done; an action such as
 * `collect` does it. The functions given to them run on executors and take
 * along, by value, whatever they refer to. One that is `async` is awaited, up
 * to 64 calls at a time in one task, and the order of the records stays.
 */
export class RDD<T> {
  readonly #context: RddContext;
  readonly #dataSet: DataSet;

  /** For the context; applications make data sets from it and from others. */
  constructor(context: RddContext, name: string, lineage: Lineage) {
    this.#context = context;
    this.#dataSet = { id: context.newRddId(), name, lineage, cached: false };
  }

  get id(): number {
    return this.#dataSet.id;
  }

  getNumPartitions(): number {
    return partitionsOf(this.#dataSet);
  }

  // Operators on records

  /** Replaces each record by `f(record)`. */
  map<U>(f: (record: T) => MaybePromise<U>): RDD<U> {
    return this.#apply("map", { type: "map", f, async: isAsync(f) });
  }

  /** Keeps the records for which `f(record)` is true. */
  filter<U extends T>(f: (record: T) => record is U): RDD<U>;
  filter(f: (record: T) => MaybePromise<boolean>): RDD<T>;
  filter(f: (record: T) => MaybePromise<boolean>): RDD<T> {
    return this.#apply("filter", { type: "filter", f, async: isAsync(f) });
  }

  /** Replaces each record by all that `f(record)` yields. */
  flatMap<U>(
    f: (record: T) => MaybePromise<Iterable<U>> | AsyncIterable<U>,
  ): RDD<U> {
    return this.#apply("flatMap", { type: "flatMap", f, async: isAsync(f) });
  }

  /**
   * Replaces each partition by all that `f(records)` yields: for what is to be
   * set up once a partition. It draws the records as it needs them.
   */
  mapPartitions<U>(
    f: (
      records: Iterable<T>,
    ) => MaybePromise<Iterable<U>> | AsyncIterable<U>,
  ): RDD<U> {
    return this.#apply("mapPartitions", {
      type: "mapPartitions",
      f,
      async: isAsync(f),
    });
  }

  /** Pairs each record with its key: `[f(record), record]`. */
  keyBy<K>(f: (record: T) => MaybePromise<K>): RDD<[K, T]> {
    return this.#apply("keyBy", { type: "keyBy", f, async: isAsync(f) });
  }

  /** The records of this and of the others, one after the other. */
  union(...others: RDD<T>[]): RDD<T> {
    const parents = [this.#dataSet, ...others.map((each) => each.#dataSet)];
    return new RDD(this.#context, "union", { type: "union", parents });
  }

  /** Each record once; arrays and plain objects are compared by value. */
  distinct(numPartitions?: number): RDD<T> {
    return this.#apply("distinct", { type: "pairWithNull" }).#shuffle<T>(
      "distinct",
      "distinct",
      { type: "distinct" },
      numPartitions,
    ).#apply("distinct", { type: "keys" });
  }

  /**
   * All records in the order of `key(record)`: numbers, strings by code unit,
   * dates, or arrays of these. Equal keys keep no special order.
   */
  sortBy<K>(
    key: (record: T) => MaybePromise<K>,
    options: { ascending?: boolean; numPartitions?: number } = {},
  ): RDD<T> {
    const { ascending = true, numPartitions } = options;
    const partitions = checkedPartitions(
      numPartitions ?? this.#shufflePartitions(),
    );
    const keyed = this.keyBy(key);
    const dependency: ShuffleDependency = {
      shuffleId: this.#context.newShuffleId(),
      parent: keyed.#dataSet,
      combine: "none",
      // The bounds come with `prepare`; the number of partitions stays.
      partitioner: { type: "range", partitions, bounds: [], ascending },
      prepare: once(async () => {
        if (partitions === 1) return;
        const bounds = await keyed.#sampleBounds(partitions);
        dependency.partitioner = {
          type: "range",
          partitions,
          bounds,
          ascending,
        };
      }),
    };
    const sorted = new RDD<[K, T]>(this.#context, "sortBy", {
      type: "shuffle",
      dependency,
      read: { type: "sort", ascending },
    });
    return sorted.#apply("sortBy", { type: "values" });
  }

  /** Keeps what is computed in the executors' memory, for later actions. */
  cache(): this {
    this.#dataSet.cached = true;
    return this;
  }

  // Operators on pairs

  keys<K, V>(this: RDD<[K, V]>): RDD<K> {
    return this.#apply("keys", { type: "keys" });
  }

  values<K, V>(this: RDD<[K, V]>): RDD<V> {
    return this.#apply("values", { type: "values" });
  }

  /** Replaces the value of each pair by `f(value)`. */
  mapValues<K, V, U>(
    this: RDD<[K, V]>,
    f: (value: V) => MaybePromise<U>,
  ): RDD<[K, U]> {
    return this.#apply("mapValues", {
      type: "mapValues",
      f,
      async: isAsync(f),
    });
  }

  /**
   * One pair for each key, with all its values made one by `f`, which must be
   * associative and commutative. Values are combined before they are sent.
   */
  reduceByKey<K, V>(
    this: RDD<[K, V]>,
    f: (a: V, b: V) => V,
    numPartitions?: number,
  ): RDD<[K, V]> {
    return this.#shuffle(
      "reduceByKey",
      { f },
      { type: "reduce", f },
      numPartitions,
    );
  }

  /** One pair for each key, with all its values, in no special order. */
  groupByKey<K, V>(
    this: RDD<[K, V]>,
    numPartitions?: number,
  ): RDD<[K, V[]]> {
    return this.#shuffle(
      "groupByKey",
      "none",
      { type: "group" },
      numPartitions,
    );
  }

  /** For each key, its values here and its values there. */
  cogroup<K, V, W>(
    this: RDD<[K, V]>,
    other: RDD<[K, W]>,
    numPartitions?: number,
  ): RDD<[K, [V[], W[]]]> {
    const partitions = numPartitions ??
      Math.max(this.#shufflePartitions(), other.#shufflePartitions());
    return new RDD(this.#context, "cogroup", {
      type: "cogroup",
      dependencies: [
        this.#dependency("none", partitions),
        other.#dependency("none", partitions),
      ],
    });
  }

  /** For each key, every value here with every value there. */
  join<K, V, W>(
    this: RDD<[K, V]>,
    other: RDD<[K, W]>,
    numPartitions?: number,
  ): RDD<[K, [V, W]]> {
    return this.cogroup(other, numPartitions).#apply("join", {
      type: "joinGroups",
    });
  }

  // Actions

  /** All records, in the driver. */
  async collect(): Promise<T[]> {
    return concatRecords(await this.#run({ type: "collect" })) as T[];
  }

  async count(): Promise<number> {
    return sumCounts(await this.#run({ type: "count" }));
  }

  /**
   * All records made one by `f`, which must be associative and commutative.
   *
   * @throws {EmptyCollectionError} when there is none.
   */
  async reduce(f: (a: T, b: T) => T): Promise<T> {
    const parts = concatRecords(await this.#run({ type: "reduce", f })) as T[];
    if (parts.length === 0) throw new EmptyCollectionError("empty collection");
    return parts.reduce((a, b) => f(a, b));
  }

  /** The first `limit` records; looks at no more partitions than it must. */
  async take(limit: number): Promise<T[]> {
    const taken: T[] = [];
    const total = this.getNumPartitions();
    let next = 0;
    let count = 1;
    while (taken.length < limit && next < total) {
      const end = Math.min(next + count, total);
      const partitions = Array.from({ length: end - next }, (_, i) => next + i);
      const results = await this.#context.runJob(
        this.#dataSet,
        { type: "take", limit: limit - taken.length },
        partitions,
      );
      for (const record of concatRecords(results)) {
        if (taken.length === limit) break;
        taken.push(record as T);
      }
      next = end;
      count = partitions.length * TAKE_SCALE_UP;
    }
    return taken;
  }

  /** @throws {EmptyCollectionError} when there is no record. */
  async first(): Promise<T> {
    const [first] = await this.take(1);
    if (first === undefined && await this.#isEmpty()) {
      throw new EmptyCollectionError("empty collection");
    }
    return first;
  }

  /** How often each key occurs. */
  async countByKey<K, V>(this: RDD<[K, V]>): Promise<Map<K, number>> {
    return mergeCounts(await this.#run({ type: "countByKey" })) as Map<
      K,
      number
    >;
  }

  /** Calls `f` for each record, on the executors. */
  async foreach(f: (record: T) => MaybePromise<void>): Promise<void> {
    await this.#run({ type: "foreach", f, async: isAsync(f) });
  }

  /**
   * Writes a file of lines for each partition into a new directory, which all
   * hosts must see under this path, and `_SUCCESS` at the end.
   *
   * @throws {OutputExistsError} when there is something at the path already.
   */
  async saveAsTextFile(path: string): Promise<void> {
    prepareOutput(path);
    try {
      await this.#run({ type: "saveAsTextFile", path: absolute(path) });
    } catch (error) {
      abortOutput(path);
      throw error;
    }
    commitOutput(path);
  }

  [travel](): Travel {
    return {
      refuse:
        "a data set; use its records through a shuffle, a join or a broadcast",
    };
  }

  // How it is done

  #apply<U>(name: string, op: Op): RDD<U> {
    return new RDD(this.#context, name, {
      type: "op",
      parent: this.#dataSet,
      op,
    });
  }

  #shuffle<U>(
    name: string,
    combine: ShuffleDependency["combine"],
    read: ShuffleRead,
    numPartitions: number | undefined,
  ): RDD<U> {
    const partitions = numPartitions ?? this.#shufflePartitions();
    return new RDD(this.#context, name, {
      type: "shuffle",
      dependency: this.#dependency(combine, partitions),
      read,
    });
  }

  #dependency(
    combine: ShuffleDependency["combine"],
    partitions: number,
  ): ShuffleDependency {
    const partitioner: Partitioner = {
      type: "hash",
      partitions: checkedPartitions(partitions),
    };
    const shuffleId = this.#context.newShuffleId();
    return { shuffleId, parent: this.#dataSet, combine, partitioner };
  }

  /** As many as the parent has, which is what Spark does without a setting. */
  #shufflePartitions(): number {
    return Math.max(1, this.getNumPartitions());
  }

  async #sampleBounds(partitions: number): Promise<unknown[]> {
    const wanted = Math.min(partitions * SAMPLE_PER_PARTITION, MAX_SAMPLE);
    const size = Math.ceil(3 * wanted / Math.max(1, this.getNumPartitions()));
    const results = await this.#run({ type: "sampleKeys", size });
    return rangeBounds(mergeSamples(results), partitions);
  }

  async #isEmpty(): Promise<boolean> {
    return (await this.count()) === 0;
  }

  #run(action: Parameters<RddContext["runJob"]>[1]): Promise<Uint8Array[]> {
    return this.#context.runJob(this.#dataSet, action);
  }
}

function isAsync(f: Fn): boolean {
  const tag = Object.prototype.toString.call(f);
  return tag === "[object AsyncFunction]" ||
    tag === "[object AsyncGeneratorFunction]";
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run();
    // A failed try must not be the last one.
    running.catch(() => running = undefined);
    return running;
  };
}

/** @throws {RangeError} unless it is a whole number from 1 on. */
function checkedPartitions(partitions: number): number {
  if (Number.isInteger(partitions) && partitions >= 1) return partitions;
  throw new RangeError(
    `The number of partitions must be a whole number from 1 on, and is ${partitions}.`,
  );
}

function absolute(path: string): string {
  return path.startsWith("/") ? path : `${Deno.cwd()}/${path}`;
}
