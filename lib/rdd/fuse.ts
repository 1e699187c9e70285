import type { Op } from "./plan.ts";

/** Takes one record. */
export type Push = (record: unknown) => void;

/** An operator that hands each record on within the call that brings it. */
export type FusibleOp = Exclude<Op, { type: "mapPartitions" }>;

/** Whether an operator can be part of a fused loop. */
export function isFusible(op: Op): op is FusibleOp {
  return op.type !== "mapPartitions" && !("async" in op && op.async);
}

/**
 * Makes one function of a chain of operators: a record pushed into it comes
 * out at `sink` as what the operators make of it. No array and no iterator is
 * made on the way.
 */
export function fuse(ops: readonly FusibleOp[], sink: Push): Push {
  return ops.reduceRight((next, op) => link(op, next), sink);
}

function link(op: FusibleOp, next: Push): Push {
  switch (op.type) {
    case "map": {
      const { f } = op;
      return (record) => next(settled(f(record), op.type));
    }
    case "filter": {
      const { f } = op;
      return (record) => {
        if (settled(f(record), op.type)) next(record);
      };
    }
    case "flatMap": {
      const { f } = op;
      return (record) => {
        const results = settled(f(record), op.type);
        if (Array.isArray(results)) {
          for (let i = 0; i < results.length; i++) next(results[i]);
        } else {
          for (const result of results) next(result);
        }
      };
    }
    case "mapValues": {
      const { f } = op;
      return (record) => {
        const pair = record as [unknown, unknown];
        next([pair[0], settled(f(pair[1]), op.type)]);
      };
    }
    case "keyBy": {
      const { f } = op;
      return (record) => next([settled(f(record), op.type), record]);
    }
    case "pairWithNull":
      return (record) => next([record, null]);
    case "keys":
      return (record) => next((record as [unknown, unknown])[0]);
    case "values":
      return (record) => next((record as [unknown, unknown])[1]);
    case "joinGroups":
      return (record) => {
        const [key, [lefts, rights]] = record as [
          unknown,
          [unknown[], unknown[]],
        ];
        for (const left of lefts) {
          for (const right of rights) next([key, [left, right]]);
        }
      };
  }
}

/** A function that is not declared `async` returned a promise. */
export class UnexpectedPromiseError extends TypeError {
  override name = "UnexpectedPromiseError";
}

/**
 * Passes a function's result through, unless it is a promise: a loop of calls
 * that are not awaited would take it for the result.
 *
 * @throws {UnexpectedPromiseError} for a promise.
 */
export function settled<T>(result: T, name: string): T {
  if (result instanceof Promise) {
    // Its own failure would be nobody's, and end the thread.
    result.catch(() => {});
    throw new UnexpectedPromiseError(
      `The function of ${name} returned a promise and is not declared async: write async before it.`,
    );
  }
  return result;
}

/** An operator whose function may be async; `mapPartitions` is not one here. */
export type AsyncOp = Exclude<
  Extract<Op, { readonly async: boolean }>,
  { readonly type: "mapPartitions" }
>;

/** What one record becomes under an async function, as a list. */
export async function applyAsync(
  op: AsyncOp,
  record: unknown,
): Promise<unknown[]> {
  const result = op.f(op.type === "mapValues" ? pairValue(record) : record);
  switch (op.type) {
    case "map":
      return [await result];
    case "filter":
      return await result ? [record] : [];
    case "flatMap":
      return await Array.fromAsync(await result);
    case "mapValues":
      return [[(record as [unknown, unknown])[0], await result]];
    case "keyBy":
      return [[await result, record]];
  }
}

function pairValue(record: unknown): unknown {
  return (record as [unknown, unknown])[1];
}
