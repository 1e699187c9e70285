/**
 * What a task does, as data that travels: where its records come from, what
 * happens to each, and where they go. Functions in it are the application's.
 *
 * A plan is the same for all tasks of a stage. What differs by partition is in
 * a PartitionSpec, a tree of the same shape.
 *
 * @module
 */
import type { ShuffleBlock } from "../shuffle/map_output.ts";
import type { Partitioner } from "../shuffle/partitioner.ts";
import type { TextSplit } from "./text_splits.ts";

// deno-lint-ignore no-explicit-any -- a record's type is known to the typed API only
export type Fn = (...args: any[]) => any;

/** What happens to records on their way. */
export type Op =
  | { readonly type: "map"; readonly f: Fn; readonly async: boolean }
  | { readonly type: "filter"; readonly f: Fn; readonly async: boolean }
  | { readonly type: "flatMap"; readonly f: Fn; readonly async: boolean }
  | { readonly type: "mapValues"; readonly f: Fn; readonly async: boolean }
  | { readonly type: "keyBy"; readonly f: Fn; readonly async: boolean }
  | { readonly type: "mapPartitions"; readonly f: Fn; readonly async: boolean }
  | { readonly type: "pairWithNull" }
  | { readonly type: "keys" }
  | { readonly type: "values" }
  /** `[key, [lefts, rights]]` to one `[key, [left, right]]` a combination. */
  | { readonly type: "joinGroups" };

/** How the records of a shuffle are put together where they arrive. */
export type ShuffleRead =
  | { readonly type: "plain" }
  | { readonly type: "reduce"; readonly f: Fn }
  | { readonly type: "distinct" }
  | { readonly type: "group" }
  | { readonly type: "sort"; readonly ascending: boolean };

export type Plan =
  | { readonly type: "values" }
  | { readonly type: "range" }
  | { readonly type: "text" }
  | { readonly type: "op"; readonly parent: Plan; readonly op: Op }
  | { readonly type: "union"; readonly parents: readonly Plan[] }
  | { readonly type: "shuffle"; readonly read: ShuffleRead }
  | { readonly type: "cogroup"; readonly sides: number }
  | { readonly type: "cached"; readonly rddId: number; readonly parent: Plan };

export type PartitionSpec =
  | { readonly type: "values"; readonly records: Uint8Array }
  | {
    readonly type: "range";
    readonly start: number;
    readonly step: number;
    readonly count: number;
  }
  | { readonly type: "text"; readonly split: TextSplit }
  | {
    readonly type: "union";
    readonly branch: number;
    readonly spec: PartitionSpec;
  }
  | { readonly type: "shuffle"; readonly blocks: readonly ShuffleBlock[] }
  | {
    readonly type: "cogroup";
    readonly sides: readonly (readonly ShuffleBlock[])[];
  }
  | {
    readonly type: "cached";
    readonly partition: number;
    readonly spec: PartitionSpec;
  };

/** What an action takes from each partition; see `actions.ts`. */
export type Action =
  | { readonly type: "collect" }
  | { readonly type: "count" }
  | { readonly type: "reduce"; readonly f: Fn }
  | { readonly type: "take"; readonly limit: number }
  | { readonly type: "foreach"; readonly f: Fn; readonly async: boolean }
  | { readonly type: "countByKey" }
  | { readonly type: "saveAsTextFile"; readonly path: string }
  /** Up to `size` keys, drawn evenly, for the bounds of a sort. */
  | { readonly type: "sampleKeys"; readonly size: number };

/** Where a task's records go. */
export type Sink =
  | {
    readonly type: "shuffle";
    readonly shuffleId: number;
    readonly partitioner: Partitioner;
    readonly combine: "none" | "distinct" | { readonly f: Fn };
  }
  | { readonly type: "action"; readonly action: Action };

/** The code of a stage: what is captured, once, and sent to executors. */
export interface StageProgram {
  readonly plan: Plan;
  readonly sink: Sink;
}
