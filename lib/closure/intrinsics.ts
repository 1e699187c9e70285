import { types } from "node:util";
import process from "node:process";
import { HIDDEN, type IntrinsicPath, NODE_PREFIX } from "./intrinsic_values.ts";

/** Objects of the runtime that hold what the application or its user put there. */
const OPAQUE = new Set([
  "globalThis",
  "self",
  "window",
  "global",
  "localStorage",
  "sessionStorage",
]);

const MAX_DEPTH = 6;

/** Names of the global object before any application ran. */
const globalNames = new Set(Object.getOwnPropertyNames(globalThis));
const known = new Map<unknown, IntrinsicPath>();
let lateRead = false;
let modulesRead = false;

for (const [name, read] of Object.entries(HIDDEN)) add(read(), [name]);
for (const name of globalNames) {
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, name)!;
  if ("value" in descriptor && !OPAQUE.has(name)) add(descriptor.value, [name]);
}
known.set(globalThis, { path: ["globalThis"] });

/** The path of an object or function of the runtime itself; undefined for all others. */
export function intrinsicPath(value: unknown): IntrinsicPath | undefined {
  return known.get(value);
}

/** As {@link intrinsicPath}, after looking also at what the runtime only makes when it is first asked for. */
export function intrinsicPathLate(value: unknown): IntrinsicPath | undefined {
  if (!lateRead) {
    lateRead = true;
    for (const name of globalNames) {
      const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
      if (descriptor?.get === undefined || OPAQUE.has(name)) continue;
      const read = readQuietly(() => Reflect.get(globalThis, name));
      add(read, [name]);
    }
  }
  const found = known.get(value);
  if (found !== undefined || typeof value !== "function" || modulesRead) {
    return found;
  }
  modulesRead = true;
  for (const name of builtinModules()) {
    const exports = readQuietly(() => process.getBuiltinModule(name)) as
      | object
      | undefined;
    if (exports !== undefined) {
      add(exports, [NODE_PREFIX + name], MAX_DEPTH - 3);
    }
  }
  return known.get(value);
}

/** Whether a name of the global object belongs to the runtime and still has the runtime's value. */
export function isRuntimeGlobal(name: string): boolean {
  if (!globalNames.has(name)) return false;
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
  if (descriptor === undefined) return false;
  if (!("value" in descriptor)) return true;
  const { value } = descriptor;
  if (
    typeof value !== "object" && typeof value !== "function" || value === null
  ) return true;
  return known.has(value) || OPAQUE.has(name);
}

function add(value: unknown, path: string[], depth = MAX_DEPTH): void {
  const queue: [unknown, string[], number][] = [[value, path, depth]];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [object, at, left] = next;
    if (
      typeof object !== "function" &&
      (typeof object !== "object" || object === null)
    ) continue;
    if (known.has(object) || object === globalThis || types.isProxy(object)) {
      continue;
    }
    // Lists such as Deno.args differ from process to process: they travel as data.
    if (Array.isArray(object) && object !== Array.prototype) continue;
    known.set(object, { path: at });
    if (left === 0) continue;
    for (const key of Reflect.ownKeys(object)) {
      const step = typeof key === "string" ? key : wellKnownStep(key);
      if (
        step === undefined || step === "constructor" ||
        step.startsWith("@@") && typeof key === "string"
      ) continue;
      const descriptor = Object.getOwnPropertyDescriptor(object, key)!;
      if ("value" in descriptor) {
        queue.push([descriptor.value, [...at, step], left - 1]);
      }
      for (const part of ["get", "set"] as const) {
        const half = descriptor[part];
        if (half !== undefined && !known.has(half)) {
          known.set(half, { path: [...at, step], part });
        }
      }
    }
  }
}

function wellKnownStep(symbol: symbol): string | undefined {
  const name = symbol.description?.startsWith("Symbol.")
    ? symbol.description.slice("Symbol.".length)
    : undefined;
  return name !== undefined && Reflect.get(Symbol, name) === symbol
    ? `@@${name}`
    : undefined;
}

function builtinModules(): string[] {
  const module = process.getBuiltinModule("node:module");
  return module.builtinModules.filter((name) =>
    !name.startsWith("_") && !name.includes("repl")
  );
}

/** What a getter of the runtime gives, or undefined where this process may not have it. */
function readQuietly(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}
