import process from "node:process";
import { ClosureRestoreError } from "./errors.ts";

/** Where an object of the runtime is found from its global object; `part` when it is half of an accessor. */
export interface IntrinsicPath {
  path: string[];
  part?: "get" | "set";
}

/** First step of a path that leads into a built-in module: `["node:path", "join"]`. */
export const NODE_PREFIX = "node:";

/** Values that no global names. */
export const HIDDEN: Readonly<Record<string, () => unknown>> = {
  "%TypedArray%": () => Object.getPrototypeOf(Uint8Array),
  "%GeneratorFunction%": () =>
    Object.getPrototypeOf(function* () {}).constructor,
  "%AsyncFunction%": () =>
    Object.getPrototypeOf(async function () {}).constructor,
  "%AsyncGeneratorFunction%": () =>
    Object.getPrototypeOf(async function* () {}).constructor,
  "%IteratorPrototype%": () =>
    Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())),
  "%ArrayIteratorPrototype%": () =>
    Object.getPrototypeOf([][Symbol.iterator]()),
  "%AsyncIteratorPrototype%": () =>
    Object.getPrototypeOf(
      Object.getPrototypeOf((async function* () {}).prototype),
    ),
};

/** The value at a path, in this process. @throws {ClosureRestoreError} when a step is missing. */
export function resolveIntrinsic({ path, part }: IntrinsicPath): unknown {
  const [first, ...rest] = path;
  let value: unknown = first! in HIDDEN
    ? HIDDEN[first!]!()
    : first!.startsWith(NODE_PREFIX)
    ? process.getBuiltinModule(first!.slice(NODE_PREFIX.length))
    : Reflect.get(globalThis, first!);
  for (const [index, step] of rest.entries()) {
    if (value === null || value === undefined) break;
    const key = step.startsWith("@@")
      ? Reflect.get(Symbol, step.slice(2)) as symbol
      : step;
    if (part !== undefined && index === rest.length - 1) {
      value = Object.getOwnPropertyDescriptor(value, key)?.[part];
    } else {
      value = Reflect.get(value as object, key);
    }
  }
  if (value === undefined || value === null) {
    throw new ClosureRestoreError(`This runtime has no ${path.join(".")}.`);
  }
  return value;
}
