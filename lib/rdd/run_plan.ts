import { CombineTable } from "../shuffle/combine_table.ts";
import { compareKeys } from "../shuffle/compare.ts";
import { decodeRecords, encodeRecords } from "../shuffle/record_codec.ts";
import {
  chunked,
  chunkedAsync,
  type Chunks,
  flatten,
  isAsync,
} from "./chunks.ts";
import {
  applyAsync,
  type AsyncOp,
  fuse,
  type FusibleOp,
  isFusible,
  type Push,
} from "./fuse.ts";
import type { Fn, Op, PartitionSpec, Plan, ShuffleRead } from "./plan.ts";
import { type TaskEnvironment, TaskKilledError } from "./task_environment.ts";
import { openTextSplit } from "./text_input.ts";

/** Calls of an async function that are under way at once in one task. */
const MAX_CONCURRENT_CALLS = 64;
const RANGE_CHUNK = 4096;

/** Records on their way, and the operators that they have yet to pass. */
interface Flow {
  readonly chunks: Chunks;
  readonly ops: readonly FusibleOp[];
}

/** Thrown by a sink that has enough; ends the flow without being an error. */
export const ENOUGH = Symbol("enough");

/**
 * Runs a partition through its plan into a sink. It waits only where the plan
 * has something to wait for.
 */
export async function runPlan(
  plan: Plan,
  spec: PartitionSpec,
  environment: TaskEnvironment,
  sink: Push,
): Promise<void> {
  const { chunks, ops } = await open(plan, spec, environment);
  const push = fuse(ops, sink);
  try {
    if (isAsync(chunks)) {
      for await (const chunk of chunks) {
        pushUnlessKilled(chunk, push, environment);
      }
    } else {
      for (const chunk of chunks) pushUnlessKilled(chunk, push, environment);
    }
  } catch (error) {
    if (error !== ENOUGH) throw error;
  }
}

function pushUnlessKilled(
  chunk: readonly unknown[],
  push: Push,
  environment: TaskEnvironment,
): void {
  for (let i = 0; i < chunk.length; i++) {
    if (environment.isKilled()) {
      throw new TaskKilledError("The task was killed.");
    }
    push(chunk[i]);
  }
}

function pushAll(chunk: readonly unknown[], push: Push): void {
  for (let i = 0; i < chunk.length; i++) push(chunk[i]);
}

async function open(
  plan: Plan,
  spec: PartitionSpec,
  environment: TaskEnvironment,
): Promise<Flow> {
  switch (plan.type) {
    case "values":
      return source([decodeRecords(expect(spec, "values").records)]);
    case "range":
      return source(rangeChunks(expect(spec, "range")));
    case "text":
      return source(openTextSplit(expect(spec, "text").split));
    case "op":
      return apply(await open(plan.parent, spec, environment), plan.op);
    case "union": {
      const { branch, spec: inner } = expect(spec, "union");
      return open(plan.parents[branch], inner, environment);
    }
    case "shuffle": {
      const { blocks } = expect(spec, "shuffle");
      return source(readShuffle(environment.readShuffle(blocks), plan.read));
    }
    case "cogroup": {
      const sides = expect(spec, "cogroup").sides.map((blocks) =>
        environment.readShuffle(blocks)
      );
      return source(cogroup(sides));
    }
    case "cached":
      return openCached(plan, expect(spec, "cached"), environment);
  }
}

function expect<T extends PartitionSpec["type"]>(
  spec: PartitionSpec,
  type: T,
): Extract<PartitionSpec, { type: T }> {
  if (spec.type !== type) {
    throw new Error(`A ${type} plan was given a ${spec.type} partition.`);
  }
  return spec as Extract<PartitionSpec, { type: T }>;
}

function source(chunks: Chunks): Flow {
  return { chunks, ops: [] };
}

/** Adds an operator to the loop, or ends the loop where it cannot be fused. */
function apply(flow: Flow, op: Op): Flow {
  if (isFusible(op)) return { ...flow, ops: [...flow.ops, op] };
  if (op.type === "mapPartitions") {
    return source(applyToPartition(settle(flow), op.f));
  }
  return source(applyConcurrently(settle(flow), op));
}

/** The records after the operators so far, chunk by chunk. */
function settle({ chunks, ops }: Flow): Chunks {
  if (ops.length === 0) return chunks;
  let out: unknown[] = [];
  const push = fuse(ops, (record) => out.push(record));
  const through = (chunk: unknown[]) => {
    out = [];
    pushAll(chunk, push);
    return out;
  };
  return isAsync(chunks)
    ? (async function* () {
      for await (const chunk of chunks) yield through(chunk);
    })()
    : (function* () {
      for (const chunk of chunks) yield through(chunk);
    })();
}

/**
 * The application's function gets the records as a plain iterable, so that
 * records which must be waited for are gathered before it is called.
 */
function applyToPartition(chunks: Chunks, f: Fn): Chunks {
  if (isAsync(chunks)) {
    return (async function* () {
      const all: unknown[][] = [];
      for await (const chunk of chunks) all.push(chunk);
      yield* await chunksOfResult(f(flatten(all)));
    })();
  }
  const results = f(flatten(chunks));
  if (results instanceof Promise) {
    return (async function* () {
      yield* await chunksOfResult(results);
    })();
  }
  return chunksOfIterable(results);
}

async function chunksOfResult(results: unknown): Promise<Chunks> {
  return chunksOfIterable(await results);
}

function chunksOfIterable(results: unknown): Chunks {
  if (typeof results === "object" && results !== null) {
    if (Symbol.asyncIterator in results) {
      return chunkedAsync(results as AsyncIterable<unknown>);
    }
    if (Symbol.iterator in results) {
      return chunked(results as Iterable<unknown>);
    }
  }
  throw new TypeError(
    `The function of mapPartitions returned ${
      results === null ? "null" : typeof results
    }, and not an iterable.`,
  );
}

/** Calls an async function for many records at once, and keeps their order. */
async function* applyConcurrently(
  chunks: Chunks,
  op: AsyncOp,
): AsyncGenerator<unknown[]> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += MAX_CONCURRENT_CALLS) {
      const part = chunk.slice(at, at + MAX_CONCURRENT_CALLS);
      const results = await Promise.all(
        part.map((record: unknown) => applyAsync(op, record)),
      );
      yield results.flat();
    }
  }
}

function* rangeChunks(
  { start, step, count }: { start: number; step: number; count: number },
): Generator<unknown[]> {
  for (let at = 0; at < count; at += RANGE_CHUNK) {
    const length = Math.min(RANGE_CHUNK, count - at);
    const chunk = new Array<unknown>(length);
    for (let i = 0; i < length; i++) chunk[i] = start + (at + i) * step;
    yield chunk;
  }
}

// Shuffles

function readShuffle(chunks: Chunks, read: ShuffleRead): Chunks {
  if (read.type === "plain") return chunks;
  const gather = gatherer(read);
  if (isAsync(chunks)) {
    return (async function* () {
      for await (const chunk of chunks) pushAll(chunk, gather.push);
      yield* gather.chunks();
    })();
  }
  return (function* () {
    for (const chunk of chunks) pushAll(chunk, gather.push);
    yield* gather.chunks();
  })();
}

interface Gatherer {
  readonly push: Push;
  chunks(): Iterable<unknown[]>;
}

function gatherer(read: Exclude<ShuffleRead, { type: "plain" }>): Gatherer {
  switch (read.type) {
    case "reduce":
      return reducer(read.f);
    case "distinct":
      return reducer((held) => held);
    case "group":
      return grouper();
    case "sort":
      return sorter(read.ascending);
  }
}

function reducer(f: Fn): Gatherer {
  const table = new CombineTable<unknown, unknown>();
  return {
    push(record) {
      const pair = record as [unknown, unknown];
      table.combine(pair[0], pair[1], itself, f);
    },
    chunks: () => chunked(table.entries()),
  };
}

function itself(value: unknown): unknown {
  return value;
}

function alone(value: unknown): unknown[] {
  return [value];
}

function append(held: unknown[], value: unknown): unknown[] {
  held.push(value);
  return held;
}

function grouper(): Gatherer {
  const table = new CombineTable<unknown, unknown[]>();
  return {
    push(record) {
      const pair = record as [unknown, unknown];
      table.combine(pair[0], pair[1], alone, append);
    },
    chunks: () => chunked(table.entries()),
  };
}

function sorter(ascending: boolean): Gatherer {
  const pairs: [unknown, unknown][] = [];
  return {
    push: (record) => void pairs.push(record as [unknown, unknown]),
    chunks() {
      const order = ascending
        ? (a: [unknown, unknown], b: [unknown, unknown]) =>
          compareKeys(a[0], b[0])
        : (a: [unknown, unknown], b: [unknown, unknown]) =>
          compareKeys(b[0], a[0]);
      return chunked(pairs.sort(order));
    },
  };
}

async function* cogroup(sides: Chunks[]): AsyncGenerator<unknown[]> {
  const table = new CombineTable<unknown, unknown[][]>();
  for (const [side, chunks] of sides.entries()) {
    const add = (groups: unknown[][], value: unknown) => {
      groups[side].push(value);
      return groups;
    };
    const create = (value: unknown) => add(sides.map(() => []), value);
    for await (const chunk of chunks) {
      for (const record of chunk) {
        const pair = record as [unknown, unknown];
        table.combine(pair[0], pair[1], create, add);
      }
    }
  }
  yield* chunked(table.entries());
}

// Caching

async function openCached(
  plan: Extract<Plan, { type: "cached" }>,
  spec: Extract<PartitionSpec, { type: "cached" }>,
  environment: TaskEnvironment,
): Promise<Flow> {
  const { blocks } = environment;
  const kept = await blocks.get(plan.rddId, spec.partition);
  if (kept !== undefined) return source(decoded(kept));
  const chunks = settle(await open(plan.parent, spec.spec, environment));
  const keep = (encoded: Uint8Array[]) =>
    blocks.put(plan.rddId, spec.partition, encoded);
  return source(
    isAsync(chunks) ? keepAsync(chunks, keep) : keepSync(chunks, keep),
  );
}

function* decoded(chunks: readonly Uint8Array[]): Generator<unknown[]> {
  for (const chunk of chunks) yield decodeRecords(chunk);
}

// A partition that was not read to its end is not kept: it would be short.

function* keepSync(
  chunks: Iterable<unknown[]>,
  keep: (encoded: Uint8Array[]) => void,
): Generator<unknown[]> {
  const encoded: Uint8Array[] = [];
  for (const chunk of chunks) {
    encoded.push(encodeRecords(chunk));
    yield chunk;
  }
  keep(encoded);
}

async function* keepAsync(
  chunks: AsyncIterable<unknown[]>,
  keep: (encoded: Uint8Array[]) => void,
): AsyncGenerator<unknown[]> {
  const encoded: Uint8Array[] = [];
  for await (const chunk of chunks) {
    encoded.push(encodeRecords(chunk));
    yield chunk;
  }
  keep(encoded);
}
