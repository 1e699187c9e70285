import type { Capture, Origin } from "./capture.ts";
import type { FreeVariable, FunctionCode } from "./function_code.ts";
import { refuseFunction } from "./function_refusal.ts";
import { resolveImport } from "./imports.ts";
import type { FunctionFacts } from "./inspector.ts";
import { isRuntimeGlobal } from "./intrinsics.ts";
import { namespaceNode } from "./object_walk.ts";
import type { Slot } from "./recipe.ts";

/** In place of a slot: the name stays a global name. */
export const GLOBAL = Symbol("global");

/** The slot of a free variable, or GLOBAL when the name stays a global name. */
export function freeSlot(
  capture: Capture,
  code: FunctionCode,
  facts: FunctionFacts,
  { name, variable, members }: FreeVariable,
): Slot | typeof GLOBAL {
  const origin: Origin = { up: undefined, step: name, by: code };
  if (
    variable === undefined || variable.defs.length === 0 && name !== "arguments"
  ) {
    const lexical = facts.scopes.find((scope) =>
      scope !== globalThis as unknown && Object.hasOwn(scope, name)
    );
    if (lexical !== undefined) {
      return capture.slot(readScope(capture, lexical, name, origin), origin);
    }
    if (isRuntimeGlobal(name)) return GLOBAL;
    const found = Object.getOwnPropertyDescriptor(globalThis, name);
    if (found === undefined) return GLOBAL;
    if (!("value" in found)) {
      capture.refuse(origin, "a global accessor that the application defined");
    }
    return capture.slot(found.value, origin);
  }
  const value = scopeValue(capture, code, facts, name);
  const binding = code.script.imports.get(name);
  if (binding === undefined || variable.defs[0]?.type !== "ImportBinding") {
    return capture.slot(value, origin);
  }
  const specifier = resolveImport(binding.specifier);
  if (
    specifier !== undefined &&
    (typeof value === "object" || typeof value === "function") && value !== null
  ) {
    const id = capture.settle(value, {
      t: "import",
      specifier,
      name: binding.name,
    }, origin);
    const prototype = Object.getOwnPropertyDescriptor(value, "prototype")
      ?.value;
    if (typeof prototype === "object" && prototype !== null) {
      capture.prototypeOwners.set(prototype, id);
    }
    return [id];
  }
  if (
    binding.name === undefined && members !== undefined && members.length > 0
  ) {
    const known = members.filter((member) =>
      Object.hasOwn(value as object, member)
    );
    return [
      capture.add(
        namespaceNode(capture, value as object, known, origin),
        origin,
      ),
    ];
  }
  return capture.slot(value, origin);
}

/** The value that a variable has in the scopes around a function, innermost first. */
export function scopeValue(
  capture: Capture,
  code: FunctionCode,
  facts: FunctionFacts,
  name: string,
): unknown {
  const origin: Origin = { up: undefined, step: name, by: code };
  const scope = facts.scopes.find((each) =>
    each !== globalThis as unknown && Object.hasOwn(each, name)
  );
  if (scope === undefined) {
    capture.refuse(origin, "a variable", "which the runtime does not show");
  }
  return readScope(capture, scope, name, origin);
}

function readScope(
  capture: Capture,
  scope: Readonly<Record<string, unknown>>,
  name: string,
  origin: Origin,
): unknown {
  try {
    return scope[name];
  } catch {
    capture.refuse(
      origin,
      "a variable",
      "which is used before it is initialised",
    );
  }
}

/** What `import.meta` gives elsewhere: the members that are used, of the original module. */
export function metaSlot(
  capture: Capture,
  code: FunctionCode,
  origin: Origin,
): Slot {
  const { url } = code.script.facts;
  const props: [string, Slot][] = [];
  for (const member of new Set(code.meta!.members)) {
    if (member === undefined || member === "resolve") {
      refuseFunction(
        code,
        `it uses import.meta${
          member === undefined ? "" : ".resolve"
        }, which belongs to its module`,
      );
    }
    if (member === "url") props.push(["url", url]);
    else if (member === "main") props.push(["main", false]);
    else if (
      (member === "filename" || member === "dirname") && url.startsWith("file:")
    ) {
      const path = decodeURIComponent(
        new URL(member === "filename" ? url : ".", url).pathname,
      );
      props.push([
        member,
        member === "filename" ? path : path.replace(/(?<=.)\/$/, ""),
      ]);
    }
  }
  return [capture.add({ t: "object", props }, origin)];
}
