import { CombineTable } from "../shuffle/combine_table.ts";
import {
  decodeRecords,
  decodeValue,
  encodeRecords,
  encodeValue,
} from "../shuffle/record_codec.ts";
import { type Push, settled } from "./fuse.ts";
import type { Action, Fn } from "./plan.ts";
import { ENOUGH } from "./run_plan.ts";
import type { SampledKey } from "../shuffle/partitioner.ts";
import { asPair } from "../shuffle/shuffle_writer.ts";
import type { TaskContext } from "./task_environment.ts";
import { TextPartWriter } from "./text_output.ts";

/** The executor's half of an action: takes a partition, yields its result. */
export interface ActionSink extends Disposable {
  readonly push: Push;
  /** The result's bytes, for the driver's half. */
  finish(): Uint8Array;
}

export function actionSink(action: Action, context: TaskContext): ActionSink {
  switch (action.type) {
    case "collect":
      return collectSink(Infinity);
    case "take":
      return collectSink(action.limit);
    case "count":
      return countSink();
    case "foreach": {
      const { f } = action;
      const counted = countSink();
      return {
        ...counted,
        push(record) {
          settled(f(record), "foreach");
          counted.push(record);
        },
      };
    }
    case "reduce":
      return reduceSink(action.f);
    case "countByKey":
      return countByKeySink();
    case "saveAsTextFile":
      return textSink(action.path, context);
    case "sampleKeys":
      return sampleSink(action.size);
  }
}

function nothingToDispose(): void {}

function collectSink(limit: number): ActionSink {
  const records: unknown[] = [];
  return {
    push(record) {
      records.push(record);
      if (records.length >= limit) throw ENOUGH;
    },
    finish: () => encodeRecords(records),
    [Symbol.dispose]: nothingToDispose,
  };
}

function countSink(): ActionSink {
  let count = 0;
  return {
    push: () => void count++,
    finish: () => encodeValue(count),
    [Symbol.dispose]: nothingToDispose,
  };
}

function reduceSink(f: Fn): ActionSink {
  let empty = true;
  let held: unknown;
  return {
    push(record) {
      held = empty ? record : f(held, record);
      empty = false;
    },
    finish: () => encodeRecords(empty ? [] : [held]),
    [Symbol.dispose]: nothingToDispose,
  };
}

function countByKeySink(): ActionSink {
  const counts = new CombineTable<unknown, number>();
  return {
    push(record) {
      const [key] = asPair(record);
      counts.combine(key, 1, (one) => one, (held, one) => held + one);
    },
    finish: () => encodeRecords([...counts.entries()]),
    [Symbol.dispose]: nothingToDispose,
  };
}

function textSink(path: string, context: TaskContext): ActionSink {
  const writer = new TextPartWriter(path, {
    partition: context.partition,
    attempt: context.taskId,
  });
  let count = 0;
  return {
    push(record) {
      writer.write(String(record));
      count++;
    },
    finish() {
      writer.commit();
      return encodeValue(count);
    },
    [Symbol.dispose]: () => writer[Symbol.dispose](),
  };
}

/**
 * Keeps an even sample without knowing how much comes: when it is full, every
 * second key is dropped and from then on only every second one is taken. It
 * needs no random numbers, so a task that runs again gives the same.
 */
function sampleSink(size: number): ActionSink {
  let sample: unknown[] = [];
  let stride = 1;
  let seen = 0;
  return {
    push(record) {
      if (seen++ % stride !== 0) return;
      sample.push((record as [unknown, unknown])[0]);
      if (sample.length === 2 * size) {
        sample = sample.filter((_, i) => i % 2 === 0);
        stride *= 2;
      }
    },
    // Each key stands for `stride` ones; the driver weighs the partitions so.
    finish: () => encodeValue([stride, sample]),
    [Symbol.dispose]: nothingToDispose,
  };
}

// The driver's half

export function sumCounts(results: readonly Uint8Array[]): number {
  return results.reduce(
    (sum, bytes) => sum + (decodeValue(bytes) as number),
    0,
  );
}

export function concatRecords(results: readonly Uint8Array[]): unknown[] {
  const all: unknown[] = [];
  for (const bytes of results) {
    for (const record of decodeRecords(bytes)) all.push(record);
  }
  return all;
}

/** A `Map` from key to count, in no special order. */
export function mergeCounts(
  results: readonly Uint8Array[],
): Map<unknown, number> {
  const counts = new CombineTable<unknown, number>();
  for (const bytes of results) {
    for (const record of decodeRecords(bytes)) {
      const [key, count] = record as [unknown, number];
      counts.combine(key, count, (first) => first, (held, more) => held + more);
    }
  }
  return new Map(counts.entries());
}

/** The sampled keys of all partitions, each with how many it stands for. */
export function mergeSamples(results: readonly Uint8Array[]): SampledKey[] {
  return results.flatMap((bytes) => {
    const [stride, keys] = decodeValue(bytes) as [number, unknown[]];
    return keys.map((key): SampledKey => [key, stride]);
  });
}
