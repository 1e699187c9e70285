import vm from "node:vm";
import { ClosureRestoreError } from "./errors.ts";
import type { Unit } from "./recipe.ts";

/** A function of a compiled text. */
export type Callable = (this: unknown, ...args: unknown[]) => unknown;
/** What a compiled text gives. */
export type Makers = Record<string, Callable>;

/** What a class with private members lets restoring do. */
export interface ClassTools {
  guard(on: boolean): void;
  set: Record<string, (object: unknown, value: unknown) => void>;
  make: Makers;
}

/** Compiled texts kept, by text and name: the same stage is restored for each of its tasks. */
const MAX_COMPILED = 1_000;
const compiled = new Map<string, vm.Script>();

/** The makers of a unit, compiled under its marked name. */
export function compile({ text, filename }: Unit): Makers {
  const key = `${filename}\n${text}`;
  let script = compiled.get(key);
  if (script === undefined) {
    try {
      script = new vm.Script(text, { filename });
    } catch (cause) {
      throw new ClosureRestoreError(
        "Cannot restore a closure: the text of a function does not compile.",
        { cause },
      );
    }
    if (compiled.size >= MAX_COMPILED) {
      compiled.delete(compiled.keys().next().value!);
    }
    compiled.set(key, script);
  }
  return script.runInThisContext() as Makers;
}

/** Runs the field definitions of a derived class on an object that exists already. */
export function stampObject(
  object: unknown,
  derived: () => unknown,
  tools: ClassTools,
): void {
  const parent = Object.getPrototypeOf(derived);
  Object.setPrototypeOf(derived, function () {
    return object;
  });
  tools.guard(true);
  try {
    Reflect.construct(derived, []);
  } finally {
    tools.guard(false);
    Object.setPrototypeOf(derived, parent);
  }
}

/** An arguments object of that length. */
export function makeArguments(length: number): object {
  return (function (..._: unknown[]) {
    return arguments;
  })(...new Array(length));
}

/** A buffer of its own with the bytes. */
export function makeBuffer(
  bytes: Uint8Array,
  maxByteLength?: number,
): ArrayBuffer {
  const buffer = new ArrayBuffer(
    bytes.length,
    maxByteLength === undefined ? undefined : { maxByteLength },
  );
  new Uint8Array(buffer).set(bytes);
  return buffer;
}

/** `import(…)` of a module of the application: relative specifiers are relative to that module. */
export function importer(
  base: string,
): (specifier: unknown) => Promise<unknown> {
  return async (specifier) => {
    const text = String(specifier);
    return await import(
      /^\.{0,2}\//.test(text) ? new URL(text, base).href : text
    );
  };
}
