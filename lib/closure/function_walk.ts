import type { Capture, MadeFunction, Origin } from "./capture.ts";
import type { ClassMember } from "./class_code.ts";
import { ClosureCaptureError } from "./errors.ts";
import { type FreeVariable, type FunctionCode, functionCode } from "./function_code.ts";
import { basePosition } from "./function_label.ts";
import { resolveImport } from "./imports.ts";
import type { FunctionFacts } from "./inspector.ts";
import { intrinsicPath, intrinsicPathLate, isRuntimeGlobal } from "./intrinsics.ts";
import { isMemberOf, namespaceNode, nativeName } from "./object_walk.ts";
import type { Shape, Slot } from "./recipe.ts";

/** A function or class that is waiting for its node. */
export type Pending = Capture["functions"][number];

/** Scripts of the runtime itself: their functions are never captured by their text. */
const RUNTIME_SCRIPT = /^(?:ext|node|internal|checkin):/;

const sourceOf = (value: object) => Reflect.apply(Function.prototype.toString, value, []) as string;

/** Gives nodes to a batch of functions. Methods of classes come back: their class may still be met. */
export async function walkFunctions(capture: Capture, batch: Pending[]): Promise<Pending[]> {
  const waiting: Pending[] = [];
  const scripted = batch.filter(({ id, value }) => {
    const known = intrinsicPath(value);
    if (known === undefined) return true;
    capture.nodes[id] = { t: "intrinsic", ...known };
    capture.judged.add(id);
    return false;
  });
  const facts = await capture.inspector.functions(scripted.map(({ value }) => value));
  for (const [index, pending] of scripted.entries()) {
    if (!await walkFunction(capture, pending, facts[index])) waiting.push(pending);
  }
  return waiting;
}

async function walkFunction(capture: Capture, pending: Pending, facts: FunctionFacts | undefined): Promise<boolean> {
  const { id, value, origin } = pending;
  const script = facts === undefined ? undefined : await capture.script(facts.script);
  if (facts === undefined || script === undefined || RUNTIME_SCRIPT.test(script.facts.url)) {
    await walkNative(capture, pending);
    capture.judged.add(id);
    return true;
  }
  const source = script.find(facts.line, facts.column, sourceOf(value));
  if (source === undefined) capture.refuse(origin, `the function "${nameOf(value)}"`, "whose source cannot be found");
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
export async function walkLoneMethod(capture: Capture, pending: Pending): Promise<void> {
  const member = capture.members.get(pending.value);
  if (member !== undefined) {
    capture.nodes[pending.id] = { ...member };
    return;
  }
  const [facts] = await capture.inspector.functions([pending.value]);
  const script = await capture.script(facts!.script);
  const source = script.find(facts!.line, facts!.column, sourceOf(pending.value))!;
  const code = functionCode(script, source);
  if (code.usesSuper) refuseFunction(code, 'it uses "super", and its class is not captured with it');
  makeFunction(capture, pending, facts!, code);
  capture.judged.add(pending.id);
}

function makeFunction(capture: Capture, { id, value, origin }: Pending, facts: FunctionFacts, code: FunctionCode): void {
  if (code.refusal !== undefined) refuseFunction(code, code.refusal);
  if (code.outerPrivate !== undefined) {
    refuseFunction(code, `it uses the private member ${code.outerPrivate} of a class around it`);
  }
  const made: MadeFunction = { id, value, code, facts, origin, slots: new Map() };
  capture.made.set(id, made);
  capture.weigh(code.source.end - code.source.start, origin);
  for (const variable of code.free) {
    const slot = freeSlot(capture, code, facts, variable);
    if (slot !== GLOBAL) made.slots.set(variable.name, slot);
  }
  const at = (step: string): Origin => ({ up: origin, step, by: code });
  if (code.meta !== undefined) made.slots.set(code.meta.name, metaSlot(capture, code, at("import.meta")));
  if (code.importer !== undefined) {
    made.slots.set(code.importer, [capture.add({ t: "importer", base: code.script.facts.url }, origin)]);
  }
  if (code.usesArguments) {
    made.args = capture.slot(scopeValue(capture, code, facts, "arguments"), at("arguments"));
  }
  if (code.usesSuper && code.as !== "class") {
    if (origin.holder === undefined) refuseFunction(code, 'it uses "super", and its object is not captured with it');
    made.home = capture.id(origin.holder, origin);
  }
  const shape = functionShape(capture, made, origin);
  const as = code.as === "method" || code.as === "get" || code.as === "set" ? code.as : "value";
  capture.nodes[id] = code.as === "class"
    ? { t: "class", removed: [], privateStatics: [], stamps: false, unit: 0, make: "", params: [], ...shape }
    : { t: "function", as, unit: 0, make: "", params: [], ...shape };
  if (made.home !== undefined) Object.assign(capture.nodes[id]!, { home: made.home });
}

const GLOBAL = Symbol("global");

/** The slot of a free variable, or GLOBAL when the name stays a global name. */
function freeSlot(
  capture: Capture,
  code: FunctionCode,
  facts: FunctionFacts,
  { name, variable, members }: FreeVariable,
): Slot | typeof GLOBAL {
  const origin: Origin = { up: undefined, step: name, by: code };
  if (variable === undefined || variable.defs.length === 0 && name !== "arguments") {
    const lexical = facts.scopes.find((scope) => scope !== globalThis as unknown && Object.hasOwn(scope, name));
    if (lexical !== undefined) return capture.slot(readScope(capture, lexical, name, origin), origin);
    if (isRuntimeGlobal(name)) return GLOBAL;
    const found = Object.getOwnPropertyDescriptor(globalThis, name);
    if (found === undefined) return GLOBAL;
    if (!("value" in found)) capture.refuse(origin, "a global accessor that the application defined");
    return capture.slot(found.value, origin);
  }
  const value = scopeValue(capture, code, facts, name);
  const binding = code.script.imports.get(name);
  if (binding === undefined || variable.defs[0]?.type !== "ImportBinding") return capture.slot(value, origin);
  const specifier = resolveImport(binding.specifier, code.script.facts.url);
  if (specifier !== undefined && (typeof value === "object" || typeof value === "function") && value !== null) {
    const id = capture.settle(value, { t: "import", specifier, name: binding.name }, origin);
    const prototype = Object.getOwnPropertyDescriptor(value, "prototype")?.value;
    if (typeof prototype === "object" && prototype !== null) capture.prototypeOwners.set(prototype, id);
    return [id];
  }
  if (binding.name === undefined && members !== undefined && members.length > 0) {
    const known = members.filter((member) => Object.hasOwn(value as object, member));
    return [capture.add(namespaceNode(capture, value as object, known, origin), origin)];
  }
  return capture.slot(value, origin);
}

function scopeValue(capture: Capture, code: FunctionCode, facts: FunctionFacts, name: string): unknown {
  const origin: Origin = { up: undefined, step: name, by: code };
  const scope = facts.scopes.find((each) => each !== globalThis as unknown && Object.hasOwn(each, name));
  if (scope === undefined) capture.refuse(origin, "a variable", "which the runtime does not show");
  return readScope(capture, scope, name, origin);
}

function readScope(capture: Capture, scope: Readonly<Record<string, unknown>>, name: string, origin: Origin): unknown {
  try {
    return scope[name];
  } catch {
    capture.refuse(origin, "a variable", "which is used before it is initialised");
  }
}

function metaSlot(capture: Capture, code: FunctionCode, origin: Origin): Slot {
  const { url } = code.script.facts;
  const props: [string, Slot][] = [];
  for (const member of new Set(code.meta!.members)) {
    if (member === undefined || member === "resolve") {
      refuseFunction(code, `it uses import.meta${member === undefined ? "" : ".resolve"}, which belongs to its module`);
    }
    if (member === "url") props.push(["url", url]);
    else if (member === "main") props.push(["main", false]);
    else if ((member === "filename" || member === "dirname") && url.startsWith("file:")) {
      const path = decodeURIComponent(new URL(member === "filename" ? url : ".", url).pathname);
      props.push([member, member === "filename" ? path : path.replace(/(?<=.)\/$/, "")]);
    }
  }
  return [capture.add({ t: "object", props }, origin)];
}

/** Own properties of a function beyond what its text gives it. */
function functionShape(capture: Capture, made: MadeFunction, origin: Origin): Shape {
  const { id, value, code } = made;
  const isClass = code.class !== undefined;
  if (isClass) readMembers(capture, made);
  const prototype = Object.getOwnPropertyDescriptor(value, "prototype");
  const owns = prototype !== undefined && isOwnPrototype(prototype.value, value, code);
  if (owns) capture.prototypeOwners.set(prototype.value, id);
  const shape = capture.shape(value, origin, (key, found) => {
    if (key === "length" || key === "arguments" || key === "caller") return "value" in found;
    if (key === "name" && found.writable === false && typeof found.value === "string") return true;
    if (key === "prototype") return owns;
    return isClass && isMemberOf(capture, id, "static", key, found);
  });
  const name = Object.getOwnPropertyDescriptor(value, "name");
  if (typeof name?.value === "string" && name.writable === false) {
    const fixed: NonNullable<Shape["descriptors"]> = [["name", 4, { value: name.value }]];
    if (isClass) fixed.push(["length", 4, { value: Object.getOwnPropertyDescriptor(value, "length")?.value as Slot }]);
    const rest = (shape.props ?? []).map(([key, slot]): NonNullable<Shape["descriptors"]>[number] => [
      key,
      7,
      { value: slot },
    ]);
    shape.descriptors = [...fixed, ...rest, ...(shape.descriptors ?? [])];
    delete shape.props;
  }
  if (owns && (isClass || !isPristine(prototype.value))) capture.id(prototype.value, { up: origin, step: ".prototype" });
  const proto = Object.getPrototypeOf(value) as object | null;
  if (!isClass && proto !== null && intrinsicPath(proto) === undefined) {
    shape.proto = [capture.id(proto, { up: origin, step: ".__proto__" })];
  }
  return shape;
}

function isOwnPrototype(prototype: unknown, owner: object, { source }: FunctionCode): prototype is object {
  if (typeof prototype !== "object" || prototype === null) return false;
  if (source.node.generator === true) return true;
  return Object.getOwnPropertyDescriptor(prototype, "constructor")?.value === owner;
}

function isPristine(prototype: object): boolean {
  const keys = Reflect.ownKeys(prototype);
  return keys.length === 0 ||
    keys.length === 1 && keys[0] === "constructor" && Object.getPrototypeOf(prototype) === Object.prototype;
}

/** Tells which functions of a class and its prototype are what its text defines. */
function readMembers(capture: Capture, { id, value, code }: MadeFunction): void {
  const prototype = Object.getOwnPropertyDescriptor(value, "prototype")!.value as object;
  const byText = new Map<string, ClassMember[]>();
  for (const member of code.class!.members) {
    const key = `${member.of} ${member.part} ${member.text}`;
    byText.set(key, [...(byText.get(key) ?? []), member]);
  }
  for (const [of, holder] of [["static", value], ["prototype", prototype]] as const) {
    for (const key of Reflect.ownKeys(holder)) {
      const found = Object.getOwnPropertyDescriptor(holder, key)!;
      for (const part of ["value", "get", "set"] as const) {
        const candidate = found[part];
        if (typeof candidate !== "function" || capture.members.has(candidate)) continue;
        const same = byText.get(`${of} ${part} ${sourceOf(candidate)}`) ?? [];
        if (!same.some((member) => member.key === undefined || member.key === key)) continue;
        const at = { up: undefined, step: String(key), by: code };
        capture.members.set(candidate, { t: "member", class: id, of, key: capture.key(key, at), part });
      }
    }
  }
}

async function walkClass(capture: Capture, made: MadeFunction): Promise<void> {
  const { id, value, code, origin } = made;
  const edit = code.class!;
  const node = capture.nodes[id]!;
  if (node.t !== "class") return;
  const prototype = Object.getOwnPropertyDescriptor(value, "prototype")!.value as object;
  if (edit.hasHeritage) {
    const parent = Object.getPrototypeOf(value) as object;
    if (parent !== Function.prototype) {
      node.parent = [capture.id(parent, { up: undefined, step: `${nameOf(value)} extends`, by: code })];
    }
  }
  for (const { of, key } of edit.members) {
    if (key !== undefined && !Object.hasOwn(of === "static" ? value : prototype, key)) node.removed.push({ of, key });
  }
  if (edit.staticFields.length > 0) {
    capture.stamped.add(id);
    for (const [name, field] of await capture.inspector.privateFields(value)) {
      if (!edit.staticFields.includes(name)) continue;
      node.privateStatics.push([name, capture.slot(field, { up: origin, step: `.${name}` })]);
    }
  }
}

async function walkNative(capture: Capture, { id, value, origin }: Pending): Promise<void> {
  const bound = await capture.inspector.bound(value);
  if (bound !== undefined) {
    const at = (step: string): Origin => ({ up: origin, step: ` (${step})` });
    const shape = capture.shape(value, origin, (key) => key === "name" || key === "length");
    capture.nodes[id] = {
      t: "bound",
      target: capture.id(bound.target as object, at("bound function")),
      self: capture.slot(bound.self, at("bound this")),
      args: bound.args.map((argument, index) => capture.slot(argument, at(`bound argument ${index}`))),
      ...shape,
    };
    return;
  }
  const known = intrinsicPathLate(value);
  if (known === undefined) {
    const name = nameOf(value);
    capture.refuse(origin, name === "" ? "a built-in function" : `the built-in function "${name}"`);
  }
  capture.nodes[id] = { t: "intrinsic", ...known };
}

/** Reads the private fields of instances whose classes are known. */
export async function walkInstances(capture: Capture): Promise<void> {
  for (const { id, value, classes, origin } of capture.instances.splice(0)) {
    const node = capture.nodes[id]!;
    node.stamps = classes.map((made) => made.id);
    if (!classes[0]!.code.class!.hasHeritage) node.allocates = true;
    for (const made of classes) capture.stamped.add(made.id);
    const owners = classes.flatMap((made) => made.code.class!.instanceFields.map((name) => ({ made, name })));
    node.privates = [];
    for (const [name, field] of await capture.inspector.privateFields(value)) {
      const index = owners.findIndex((owner) => owner.name === name);
      if (index === -1) capture.refuse({ up: origin, step: `.${name}` }, `a private field of ${nativeName(value)}`);
      const [{ made }] = owners.splice(index, 1) as [typeof owners[number]];
      node.privates.push([made.id, name, capture.slot(field, { up: origin, step: `.${name}` })]);
    }
  }
}

function nameOf(value: object): string {
  const name = Object.getOwnPropertyDescriptor(value, "name")?.value;
  return typeof name === "string" ? name : "";
}

/** @throws {ClosureCaptureError} for what a function's own text does. */
export function refuseFunction(code: FunctionCode, why: string): never {
  throw new ClosureCaptureError(`Cannot send the function ${basePosition(code)}: ${why}.`);
}
