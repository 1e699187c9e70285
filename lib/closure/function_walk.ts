import { types } from "node:util";
import type { Capture, MadeFunction, Origin } from "./capture.ts";
import {
  freeSlot,
  GLOBAL,
  metaSlot,
  scopeValue,
} from "./captured_variables.ts";
import { nameOf, readMembers, sourceOf, walkClass } from "./class_walk.ts";
import { type FunctionCode, functionCode } from "./function_code.ts";
import { refuseFunction, refusePrivate } from "./function_refusal.ts";
import type { FunctionFacts } from "./inspector.ts";
import { intrinsicPath, intrinsicPathLate } from "./intrinsics.ts";
import { isMemberOf } from "./object_walk.ts";
import type { Shape, Slot } from "./recipe.ts";

/** A function or class that is waiting for its node. */
export type Pending = Capture["functions"][number];

/** Scripts of the runtime itself: their functions are never captured by their text. */
const RUNTIME_SCRIPT = /^(?:ext|node|internal|checkin):/;

/** Gives nodes to a batch of functions. Methods of classes come back: their class may still be met. */
export async function walkFunctions(
  capture: Capture,
  batch: Pending[],
): Promise<Pending[]> {
  const waiting: Pending[] = [];
  const scripted = batch.filter(({ id, value, origin }) => {
    if (types.isProxy(value)) capture.refuse(origin, "a Proxy");
    const known = intrinsicPath(value);
    if (known === undefined) return true;
    capture.nodes[id] = { t: "intrinsic", ...known };
    capture.judged.add(id);
    return false;
  });
  const facts = await capture.inspector.functions(
    scripted.map(({ value }) => value),
  );
  for (const [index, pending] of scripted.entries()) {
    if (!await walkFunction(capture, pending, facts[index])) {
      waiting.push(pending);
    }
  }
  return waiting;
}

async function walkFunction(
  capture: Capture,
  pending: Pending,
  facts: FunctionFacts | undefined,
): Promise<boolean> {
  const { id, value, origin } = pending;
  const script = facts === undefined
    ? undefined
    : await capture.script(facts.script);
  if (
    facts === undefined || script === undefined ||
    RUNTIME_SCRIPT.test(script.facts.url)
  ) {
    await walkNative(capture, pending, script?.facts.url);
    capture.judged.add(id);
    return true;
  }
  const source = script.find(facts.line, facts.column, sourceOf(value));
  if (source === undefined) {
    capture.refuse(
      origin,
      `the function "${nameOf(value)}"`,
      "whose source cannot be found",
    );
  }
  const code = functionCode(script, source);
  if (source.member !== undefined && source.ofClass !== undefined) {
    const member = capture.members.get(value);
    if (member === undefined) return false;
    capture.nodes[id] = { ...member };
    capture.judged.add(id);
    return true;
  }
  makeFunction(capture, pending, facts, code);
  const made = capture.made.get(id)!;
  if (code.class !== undefined) await walkClass(capture, made);
  capture.judged.add(id);
  return true;
}

/** A method whose class is not part of the capture is made alone, as a method of an object. */
export async function walkLoneMethod(
  capture: Capture,
  pending: Pending,
): Promise<void> {
  const member = capture.members.get(pending.value);
  if (member !== undefined) {
    capture.nodes[pending.id] = { ...member };
    return;
  }
  const [facts] = await capture.inspector.functions([pending.value]);
  const script = await capture.script(facts!.script);
  const source = script.find(
    facts!.line,
    facts!.column,
    sourceOf(pending.value),
  )!;
  const code = functionCode(script, source);
  if (code.usesSuper) {
    refuseFunction(
      code,
      'it uses "super", and its class is not captured with it',
    );
  }
  makeFunction(capture, pending, facts!, code);
  capture.judged.add(pending.id);
}

function makeFunction(
  capture: Capture,
  { id, value, origin }: Pending,
  facts: FunctionFacts,
  code: FunctionCode,
): void {
  if (code.refusal !== undefined) refuseFunction(code, code.refusal);
  if (code.outerPrivate !== undefined && code.as !== "arrow") {
    refusePrivate(code);
  }
  const made: MadeFunction = {
    id,
    value,
    code,
    facts,
    origin,
    slots: new Map(),
    keys: new Map(),
  };
  capture.made.set(id, made);
  capture.weigh(code.source.end - code.source.start, origin);
  for (const variable of code.free) {
    const slot = freeSlot(capture, code, facts, variable);
    if (slot !== GLOBAL) made.slots.set(variable.name, slot);
  }
  const at = (step: string): Origin => ({ up: origin, step, by: code });
  if (code.meta !== undefined) {
    made.slots.set(code.meta.name, metaSlot(capture, code, at("import.meta")));
  }
  if (code.importer !== undefined) {
    made.slots.set(code.importer, [
      capture.add({ t: "importer", base: code.script.facts.url }, origin),
    ]);
  }
  if (code.usesArguments) {
    const list = scopeValue(capture, code, facts, "arguments") as ArrayLike<
      unknown
    >;
    made.args = Array.from(
      list,
      (value, index) => capture.slot(value, at(`arguments[${index}]`)),
    );
  }
  if (code.usesSuper && code.as !== "class") {
    if (origin.holder === undefined) {
      refuseFunction(
        code,
        'it uses "super", and its object is not captured with it',
      );
    }
    made.home = capture.id(origin.holder, origin);
  }
  const shape = functionShape(capture, made, origin);
  const as = code.as === "method" || code.as === "get" || code.as === "set"
    ? code.as
    : "value";
  capture.nodes[id] = code.as === "class"
    ? {
      t: "class",
      removed: [],
      privateStatics: [],
      tools: false,
      unit: 0,
      make: "",
      params: [],
      ...shape,
    }
    : { t: "function", as, unit: 0, make: "", params: [], ...shape };
  if (made.home !== undefined) {
    Object.assign(capture.nodes[id]!, { home: made.home });
  }
}

/** Own properties of a function beyond what its text gives it. */
function functionShape(
  capture: Capture,
  made: MadeFunction,
  origin: Origin,
): Shape {
  const { id, value, code } = made;
  const isClass = code.class !== undefined;
  if (isClass) readMembers(capture, made);
  const prototype = Object.getOwnPropertyDescriptor(value, "prototype");
  const owns = prototype !== undefined &&
    isOwnPrototype(prototype.value, value, code);
  if (owns) capture.prototypeOwners.set(prototype.value, id);
  const shape = capture.shape(value, origin, (key, found) => {
    if (key === "length" || key === "arguments" || key === "caller") {
      return "value" in found;
    }
    if (
      key === "name" && found.writable === false &&
      typeof found.value === "string"
    ) return true;
    if (key === "prototype") return owns;
    return isClass && isMemberOf(capture, id, "static", key, found);
  });
  const name = Object.getOwnPropertyDescriptor(value, "name");
  if (typeof name?.value === "string" && name.writable === false) {
    const fixed: NonNullable<Shape["descriptors"]> = [["name", 4, {
      value: name.value,
    }]];
    if (isClass) {
      fixed.push(["length", 4, {
        value: Object.getOwnPropertyDescriptor(value, "length")?.value as Slot,
      }]);
    }
    const rest = (shape.props ?? []).map((
      [key, slot],
    ): NonNullable<Shape["descriptors"]>[number] => [
      key,
      7,
      { value: slot },
    ]);
    shape.descriptors = [...fixed, ...rest, ...(shape.descriptors ?? [])];
    delete shape.props;
  }
  if (owns && (isClass || !isPristine(prototype.value))) {
    capture.id(prototype.value, { up: origin, step: ".prototype" });
  }
  const proto = Object.getPrototypeOf(value) as object | null;
  if (!isClass && proto !== null && intrinsicPath(proto) === undefined) {
    shape.proto = [capture.id(proto, { up: origin, step: ".__proto__" })];
  }
  return shape;
}

function isOwnPrototype(
  prototype: unknown,
  owner: object,
  { source }: FunctionCode,
): prototype is object {
  if (typeof prototype !== "object" || prototype === null) return false;
  if (source.node.generator === true) return true;
  return Object.getOwnPropertyDescriptor(prototype, "constructor")?.value ===
    owner;
}

function isPristine(prototype: object): boolean {
  const keys = Reflect.ownKeys(prototype);
  return keys.length === 0 ||
    keys.length === 1 && keys[0] === "constructor" &&
      Object.getPrototypeOf(prototype) === Object.prototype;
}

async function walkNative(
  capture: Capture,
  { id, value, origin }: Pending,
  url = "",
): Promise<void> {
  const bound = await capture.inspector.bound(value);
  if (bound !== undefined) {
    const at = (step: string): Origin => ({ up: origin, step: ` (${step})` });
    const shape = capture.shape(
      value,
      origin,
      (key) => key === "name" || key === "length",
    );
    capture.nodes[id] = {
      t: "bound",
      target: capture.id(bound.target as object, at("bound function")),
      self: capture.slot(bound.self, at("bound this")),
      args: bound.args.map((argument, index) =>
        capture.slot(argument, at(`bound argument ${index}`))
      ),
      ...shape,
    };
    return;
  }
  const known = intrinsicPathLate(value);
  if (known === undefined) {
    const name = nameOf(value);
    // Classes that Deno's own scripts define and no global names: people know them as Deno's.
    if (
      origin.classOf !== undefined && /^ext:deno_(?!node)/.test(url) &&
      !Object.hasOwn(globalThis, name)
    ) {
      origin.classOf = `a Deno.${name}`;
    }
    capture.refuse(
      origin,
      name === "" ? "a built-in function" : `the built-in function "${name}"`,
    );
  }
  capture.nodes[id] = { t: "intrinsic", ...known };
}
