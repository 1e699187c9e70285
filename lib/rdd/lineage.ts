/**
 * How a data set comes about, as the driver keeps it: the graph that actions
 * turn into stages. Pure data and pure functions.
 *
 * @module
 */
import { blocksOf, type MapOutput } from "../shuffle/map_output.ts";
import { partitionCount, type Partitioner } from "../shuffle/partitioner.ts";
import type { Fn, Op, PartitionSpec, Plan, ShuffleRead, Sink } from "./plan.ts";
import type { TextSplit } from "./text_splits.ts";

export type Lineage =
  | { readonly type: "values"; readonly slices: readonly Uint8Array[] }
  | {
    readonly type: "range";
    readonly slices: readonly { start: number; step: number; count: number }[];
  }
  | { readonly type: "text"; readonly splits: readonly TextSplit[] }
  | { readonly type: "op"; readonly parent: DataSet; readonly op: Op }
  | { readonly type: "union"; readonly parents: readonly DataSet[] }
  | {
    readonly type: "shuffle";
    readonly dependency: ShuffleDependency;
    readonly read: ShuffleRead;
  }
  | {
    readonly type: "cogroup";
    readonly dependencies: readonly ShuffleDependency[];
  };

/** One data set of the graph, without the API around it. */
export interface DataSet {
  readonly id: number;
  /** The operation that made it, for progress and errors: `reduceByKey`. */
  readonly name: string;
  readonly lineage: Lineage;
  /** Set by `cache`, at any time before an action. */
  cached: boolean;
}

export interface ShuffleDependency {
  readonly shuffleId: number;
  readonly parent: DataSet;
  readonly combine: "none" | "distinct" | { readonly f: Fn };
  /**
   * Known at once for a hash; a sort must look at a sample of the keys first,
   * which is `prepare`'s, awaited by the first action that needs it.
   */
  partitioner: Partitioner;
  readonly prepare?: () => Promise<void>;
}

export function partitionsOf(dataSet: DataSet): number {
  const { lineage } = dataSet;
  switch (lineage.type) {
    case "values":
    case "range":
      return lineage.slices.length;
    case "text":
      return lineage.splits.length;
    case "op":
      return partitionsOf(lineage.parent);
    case "union":
      return lineage.parents.reduce(
        (sum, parent) => sum + partitionsOf(parent),
        0,
      );
    case "shuffle":
      return partitionCount(lineage.dependency.partitioner);
    case "cogroup":
      return partitionCount(lineage.dependencies[0].partitioner);
  }
}

/** What a task of this data set does, up to the shuffles it reads. */
export function planOf(dataSet: DataSet): Plan {
  const plan = planOfLineage(dataSet.lineage);
  return dataSet.cached
    ? { type: "cached", rddId: dataSet.id, parent: plan }
    : plan;
}

function planOfLineage(lineage: Lineage): Plan {
  switch (lineage.type) {
    case "values":
    case "range":
    case "text":
      return { type: lineage.type };
    case "op":
      return { type: "op", parent: planOf(lineage.parent), op: lineage.op };
    case "union":
      return { type: "union", parents: lineage.parents.map(planOf) };
    case "shuffle":
      return { type: "shuffle", read: lineage.read };
    case "cogroup":
      return { type: "cogroup", sides: lineage.dependencies.length };
  }
}

/**
 * What this partition's task needs beside the plan. Whether a data set is
 * cached is taken from the plan, which was fixed when the stage began.
 */
export function specOf(
  dataSet: DataSet,
  plan: Plan,
  partition: number,
  outputs: (shuffleId: number) => readonly MapOutput[],
): PartitionSpec {
  if (plan.type !== "cached") {
    return specOfLineage(dataSet.lineage, plan, partition, outputs);
  }
  const { lineage } = dataSet;
  const spec = specOfLineage(lineage, plan.parent, partition, outputs);
  return { type: "cached", partition, spec };
}

function specOfLineage(
  lineage: Lineage,
  plan: Plan,
  partition: number,
  outputs: (shuffleId: number) => readonly MapOutput[],
): PartitionSpec {
  switch (lineage.type) {
    case "values":
      return { type: "values", records: lineage.slices[partition] };
    case "range":
      return { type: "range", ...lineage.slices[partition] };
    case "text":
      return { type: "text", split: lineage.splits[partition] };
    case "op": {
      const { parent } = plan as Extract<Plan, { type: "op" }>;
      return specOf(lineage.parent, parent, partition, outputs);
    }
    case "union": {
      const { parents } = plan as Extract<Plan, { type: "union" }>;
      const [branch, inner] = branchOf(lineage.parents, partition);
      const parent = lineage.parents[branch];
      const spec = specOf(parent, parents[branch], inner, outputs);
      return { type: "union", branch, spec };
    }
    case "shuffle": {
      const { shuffleId } = lineage.dependency;
      const blocks = blocksOf(shuffleId, outputs(shuffleId), partition);
      return { type: "shuffle", blocks };
    }
    case "cogroup": {
      const sides = lineage.dependencies.map(({ shuffleId }) =>
        blocksOf(shuffleId, outputs(shuffleId), partition)
      );
      return { type: "cogroup", sides };
    }
  }
}

function branchOf(
  parents: readonly DataSet[],
  partition: number,
): [branch: number, partition: number] {
  let rest = partition;
  for (const [branch, parent] of parents.entries()) {
    const count = partitionsOf(parent);
    if (rest < count) return [branch, rest];
    rest -= count;
  }
  throw new RangeError(`A union has no partition ${partition}.`);
}

/** The shuffles that must be written before this data set can be computed. */
export function shufflesOf(dataSet: DataSet): ShuffleDependency[] {
  const found = new Map<number, ShuffleDependency>();
  const seen = new Set<DataSet>();
  const waiting = [dataSet];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const { lineage } = next;
    switch (lineage.type) {
      case "op":
        waiting.push(lineage.parent);
        break;
      case "union":
        waiting.push(...lineage.parents);
        break;
      case "shuffle":
        found.set(lineage.dependency.shuffleId, lineage.dependency);
        break;
      case "cogroup":
        for (const side of lineage.dependencies) {
          found.set(side.shuffleId, side);
        }
    }
  }
  return [...found.values()];
}

/** The cached partitions that a task of this partition would read. */
export function cachedPartitionsOf(
  dataSet: DataSet,
  partition: number,
): { rddId: number; partition: number }[] {
  const own = dataSet.cached ? [{ rddId: dataSet.id, partition }] : [];
  const { lineage } = dataSet;
  if (lineage.type === "op") {
    return [...own, ...cachedPartitionsOf(lineage.parent, partition)];
  }
  if (lineage.type === "union") {
    const [branch, inner] = branchOf(lineage.parents, partition);
    return [...own, ...cachedPartitionsOf(lineage.parents[branch], inner)];
  }
  return own;
}

export function shuffleSink(dependency: ShuffleDependency): Sink {
  const { shuffleId, partitioner, combine } = dependency;
  return { type: "shuffle", shuffleId, partitioner, combine };
}
