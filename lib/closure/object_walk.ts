import { types } from "node:util";
import { serialize } from "node:v8";
import { Buffer } from "node:buffer";
import type { Capture, MadeFunction, Origin } from "./capture.ts";
import { intrinsicPath, intrinsicPathLate } from "./intrinsics.ts";
import type { Node, Shape, Slot } from "./recipe.ts";
import { isTraveller, travel } from "./travel.ts";

const { entries: mapEntries } = Map.prototype;
const { values: setValues } = Set.prototype;
const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype);
const typeOfView = Object.getOwnPropertyDescriptor(typedArrayPrototype, Symbol.toStringTag)!.get!;
const headerEntries = Headers.prototype.entries;

/** Kinds of runtime objects that never travel, by how they are told. */
const REFUSED: [is: (value: object) => boolean, what: string][] = [
  [types.isProxy, "a Proxy"],
  [types.isPromise, "a Promise"],
  [types.isWeakMap, "a WeakMap"],
  [types.isWeakSet, "a WeakSet"],
  [(value) => value instanceof WeakRef, "a WeakRef"],
  [types.isGeneratorObject, "a generator in progress"],
  [types.isMapIterator, "an iterator in progress"],
  [types.isSetIterator, "an iterator in progress"],
  [types.isSharedArrayBuffer, "a SharedArrayBuffer"],
  [types.isExternal, "a native handle"],
];

/**
 * Turns one object into its node. Returns false, having done nothing, when the object's class must
 * be looked at first (it is then in `capture.functions`).
 */
export function walkObject(capture: Capture, id: number, value: object, origin: Origin): boolean {
  const known = intrinsicPath(value);
  if (known !== undefined) {
    capture.nodes[id] = { t: "intrinsic", ...known };
    return true;
  }
  if (types.isProxy(value)) capture.refuse(origin, "a Proxy");
  if (isTraveller(value)) {
    capture.nodes[id] = travelNode(capture, value[travel](), origin);
    return true;
  }
  for (const [is, what] of REFUSED) if (is(value)) capture.refuse(origin, what);
  if (types.isModuleNamespaceObject(value)) {
    capture.nodes[id] = namespaceNode(capture, value, Object.keys(value), origin);
    return true;
  }
  const owner = prototypeOwner(capture, value, origin);
  if (owner === "unknown") return false;
  if (owner !== undefined) {
    capture.nodes[id] = prototypeNode(capture, owner, value, origin);
    return true;
  }
  const special = madeBy(value);
  if (special !== undefined) {
    capture.nodes[id] = special;
    return true;
  }
  const { node, defaultProto, skip, family } = base(capture, value, origin);
  const proto = Object.getPrototypeOf(value) as object | null;
  let shapeProto: Shape["proto"];
  let hasProto = false;
  if (proto !== defaultProto) {
    hasProto = true;
    if (!checkChain(capture, id, value, proto, family, origin)) return false;
    shapeProto = proto === null ? null : [capture.id(proto, { up: origin, step: ".__proto__", classOf: nativeName(value) })];
  }
  const shape = capture.shape(value, origin, skip);
  if (hasProto) shape.proto = shapeProto;
  capture.nodes[id] = { ...node, ...shape } as Node;
  return true;
}

/** The node of a module namespace, with some of its members, at their values of now. */
export function namespaceNode(capture: Capture, namespace: object, members: readonly string[], origin: Origin): Node {
  const props: [string, Slot][] = [];
  for (const member of members) {
    const at = { up: origin, step: `.${member}` };
    let value: unknown;
    try {
      value = Reflect.get(namespace, member);
    } catch {
      capture.refuse(at, "an export that is used before it is initialised");
    }
    props.push([member, capture.slot(value, at)]);
  }
  return { t: "object", proto: null, props };
}

/** The node of the function whose `prototype` the value is; "unknown" until that function is judged. */
function prototypeOwner(
  capture: Capture,
  value: object,
  origin: Origin,
): number | "unknown" | undefined {
  const known = capture.prototypeOwners.get(value);
  if (known !== undefined) return known;
  const owner = Object.getOwnPropertyDescriptor(value, "constructor")?.value;
  if (typeof owner !== "function" || intrinsicPath(owner) !== undefined || types.isProxy(owner)) return undefined;
  if (Object.getOwnPropertyDescriptor(owner, "prototype")?.value !== value) return undefined;
  const id = capture.id(owner, { up: origin, step: ".constructor" });
  return capture.judged.has(id) ? undefined : "unknown";
}

/** What a prototype has beyond what making its function gives it. */
function prototypeNode(capture: Capture, of: number, value: object, origin: Origin): Node {
  const owner = capture.made.get(of);
  if (owner === undefined) return { t: "prototype", of };
  const shape = capture.shape(value, origin, (key, found) => {
    if (key === "constructor" && found.value === owner.value) return true;
    return isMemberOf(capture, of, "prototype", key, found);
  });
  const parent = owner.code.class?.hasHeritage === true
    ? (Object.getPrototypeOf(owner.value) as { prototype: object }).prototype
    : Object.prototype;
  const proto = Object.getPrototypeOf(value) as object | null;
  if (proto !== parent && owner.code.as !== "function" && proto !== null) {
    shape.proto = [capture.id(proto, { up: origin, step: ".__proto__" })];
  } else if (proto !== parent && owner.code.as === "function" && !isGenerator(owner.code.source.node)) {
    shape.proto = proto === null ? null : [capture.id(proto, { up: origin, step: ".__proto__" })];
  }
  return { t: "prototype", of, ...shape };
}

function isGenerator(node: { generator?: unknown }): boolean {
  return node.generator === true;
}

/** Whether all of a property is what the text of the class defines. */
export function isMemberOf(
  capture: Capture,
  owner: number,
  of: "static" | "prototype",
  key: string | symbol,
  found: PropertyDescriptor,
): boolean {
  const parts = (["value", "get", "set"] as const).filter((part) => found[part] !== undefined);
  return parts.length > 0 && parts.every((part) => {
    const member = capture.members.get(found[part]);
    return member !== undefined && member.class === owner && member.of === of && member.part === part &&
      (typeof key === "string" ? member.key === key : typeof member.key !== "string");
  });
}

/** False when a class of the chain is not judged yet. @throws when the chain holds a class of the runtime that the object is not made for. */
function checkChain(
  capture: Capture,
  self: number,
  value: object,
  proto: object | null,
  family: (path: string[]) => boolean,
  origin: Origin,
): boolean {
  let judged = true;
  const classes: MadeFunction[] = [];
  for (let at = proto; at !== null; at = Object.getPrototypeOf(at)) {
    if (at === Object.prototype) continue;
    if (types.isProxy(at)) capture.refuse(origin, "an object whose prototype is a Proxy");
    const known = intrinsicPathLate(at);
    if (known !== undefined) {
      if (known.path.at(-1) !== "prototype" || !family(known.path)) capture.refuse(origin, nativeName(value));
      continue;
    }
    const owner = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof owner !== "function" || Object.getOwnPropertyDescriptor(owner, "prototype")?.value !== at) continue;
    const at1 = { up: origin, step: ".constructor", classOf: nativeName(value) };
    const id = capture.id(owner, at1);
    judged &&= capture.judged.has(id);
    const made = capture.made.get(id);
    if (made?.code.class?.hasPrivateInstance === true) classes.unshift(made);
  }
  if (judged && classes.length > 0) capture.instances.push({ id: self, value, classes, origin });
  return judged;
}

interface Base {
  node: Node;
  defaultProto: object | null;
  skip: (key: string | symbol, found: PropertyDescriptor) => boolean;
  /** Whether a class of the runtime may be among the object's prototypes. */
  family: (path: string[]) => boolean;
}

function base(capture: Capture, value: object, origin: Origin): Base {
  const none = () => false;
  const named = (name: string) => (path: string[]) => path[0] === name;
  const of = (
    node: Node,
    defaultProto: object,
    name: string,
    skip: Base["skip"] = none,
  ): Base => ({ node, defaultProto, skip, family: named(name) });
  if (Array.isArray(value)) {
    return of(arrayNode(capture, value, origin), Array.prototype, "Array", (key) =>
      key === "length" || typeof key === "string" && isIndex(key) && isPlainIndex(value, key));
  }
  if (types.isMap(value)) {
    const entries: Slot[] = [];
    for (const [key, item] of Reflect.apply(mapEntries, value, [])) {
      const at = { up: origin, step: ` (map entry ${entries.length / 2})` };
      entries.push(capture.slot(key, at), capture.slot(item, at));
    }
    return of({ t: "map", entries }, Map.prototype, "Map");
  }
  if (types.isSet(value)) {
    const entries: Slot[] = [];
    for (const item of Reflect.apply(setValues, value, [])) {
      entries.push(capture.slot(item, { up: origin, step: ` (set member ${entries.length})` }));
    }
    return of({ t: "set", entries }, Set.prototype, "Set");
  }
  if (types.isDate(value)) {
    return of({ t: "date", time: Date.prototype.getTime.call(value) }, Date.prototype, "Date");
  }
  if (types.isRegExp(value)) {
    const source = Reflect.get(RegExp.prototype, "source", value) as string;
    const flags = [..."dgimsuvy"].filter((flag) => Reflect.get(RegExp.prototype, FLAGS[flag]!, value) === true).join("");
    return of({ t: "regexp", source, flags, lastIndex: value.lastIndex }, RegExp.prototype, "RegExp", (key) =>
      key === "lastIndex");
  }
  if (types.isNativeError(value)) {
    const node: Node = { t: "error" };
    const stack = Object.getOwnPropertyDescriptor(value, "stack");
    if (stack !== undefined && !("value" in stack)) {
      // V8's own accessor; what it gives is a plain property elsewhere.
      node.stack = capture.slot(value.stack, origin);
    }
    return {
      node,
      defaultProto: Error.prototype,
      skip: (key) => key === "stack" && node.stack !== undefined,
      family: (path) => path[0]!.endsWith("Error"),
    };
  }
  if (types.isArrayBuffer(value)) return of(bufferNode(capture, value, origin), ArrayBuffer.prototype, "ArrayBuffer");
  if (ArrayBuffer.isView(value)) return viewBase(capture, value, origin);
  if (types.isBoxedPrimitive(value)) {
    const primitive = Reflect.apply(Object.prototype.valueOf, value, []) as object;
    const name = types.isNumberObject(primitive)
      ? "Number"
      : types.isStringObject(primitive)
      ? "String"
      : types.isBooleanObject(primitive)
      ? "Boolean"
      : types.isBigIntObject(primitive)
      ? "BigInt"
      : "Symbol";
    const { prototype } = Reflect.get(globalThis, name) as { prototype: { valueOf(): unknown } };
    const node: Node = { t: "boxed", value: capture.slot(prototype.valueOf.call(value), origin) };
    return of(node, prototype, name, (key) => key === "length" || typeof key === "string" && isIndex(key));
  }
  if (types.isArgumentsObject(value)) {
    const { length } = value as unknown as { length: number };
    return of({ t: "arguments", length }, Object.prototype, "Object", (key) =>
      key === "length" || key === "callee" || key === Symbol.iterator);
  }
  return of({ t: "object" }, Object.prototype, "Object");
}

const FLAGS: Readonly<Record<string, string>> = {
  d: "hasIndices",
  g: "global",
  i: "ignoreCase",
  m: "multiline",
  s: "dotAll",
  u: "unicode",
  v: "unicodeSets",
  y: "sticky",
};

function arrayNode(capture: Capture, value: unknown[], origin: Origin): Node {
  const { length } = value;
  let dense = true;
  for (let index = 0; index < length; index++) {
    if (!isPlainIndex(value, String(index))) {
      dense = false;
      break;
    }
  }
  capture.weigh((dense ? length : 0) * 9, origin);
  const slotAt = (index: number) => {
    const item = value[index];
    if (typeof item === "number" || typeof item === "boolean") return item;
    return capture.slot(item, { up: origin, step: `[${index}]`, holder: value });
  };
  if (dense) {
    const items = new Array<Slot>(length);
    for (let index = 0; index < length; index++) items[index] = slotAt(index);
    return { t: "array", length, items };
  }
  const sparse: [number, Slot][] = [];
  for (const key of Object.keys(value)) {
    if (isIndex(key) && isPlainIndex(value, key)) sparse.push([Number(key), slotAt(Number(key))]);
  }
  return { t: "array", length, sparse };
}

function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(key);
}

function isPlainIndex(value: unknown[], key: string): boolean {
  const found = Object.getOwnPropertyDescriptor(value, key);
  return found !== undefined && "value" in found && found.enumerable === true;
}

function bufferNode(capture: Capture, value: ArrayBuffer, origin: Origin): Node {
  if (value.detached) capture.refuse(origin, "a detached ArrayBuffer");
  capture.weigh(value.byteLength, origin);
  const node: Node = { t: "buffer", bytes: new Uint8Array(value.slice(0)) };
  if (value.resizable) node.maxByteLength = value.maxByteLength;
  return node;
}

function viewBase(capture: Capture, value: ArrayBufferView, origin: Origin): Base {
  if (Buffer.isBuffer(value)) {
    capture.weigh(value.byteLength, origin);
    return {
      // A Buffer may be a piece of a pool that others share: only its own bytes travel.
      node: { t: "node-buffer", bytes: new Uint8Array(value) },
      defaultProto: Buffer.prototype,
      skip: (key) => typeof key === "string" && isIndex(key),
      family: () => true,
    };
  }
  const type = (Reflect.apply(typeOfView, value, []) as string | undefined) ?? "DataView";
  if (!types.isArrayBuffer(value.buffer)) capture.refuse(origin, `a ${type} over a SharedArrayBuffer`);
  const buffer = capture.id(value.buffer, { up: origin, step: ".buffer" });
  const length = type === "DataView" ? value.byteLength : (value as Uint8Array).length;
  return {
    node: { t: "view", type, buffer, offset: value.byteOffset, length },
    defaultProto: (Reflect.get(globalThis, type) as { prototype: object }).prototype,
    skip: (key) => typeof key === "string" && isIndex(key),
    family: (path) => path[0] === type || path[0] === "%TypedArray%",
  };
}

/** Objects of the runtime whose constructor makes an equal one from plain data. */
function madeBy(value: object): Node | undefined {
  const make = (constructor: string, ...args: unknown[]): Node => ({ t: "made-by", constructor, args });
  switch (Object.getPrototypeOf(value)) {
    case URL.prototype:
      return make("URL", (value as URL).href);
    case URLSearchParams.prototype:
      return make("URLSearchParams", (value as URLSearchParams).toString());
    case TextEncoder.prototype:
      return make("TextEncoder");
    case TextDecoder.prototype: {
      const { encoding, fatal, ignoreBOM } = value as TextDecoder;
      return make("TextDecoder", encoding, { fatal, ignoreBOM });
    }
    case Headers.prototype:
      return make("Headers", [...Reflect.apply(headerEntries, value, [])]);
    case Intl.NumberFormat.prototype:
    case Intl.DateTimeFormat.prototype:
    case Intl.Collator.prototype:
    case Intl.PluralRules.prototype: {
      const { locale, ...options } = (value as Intl.Collator).resolvedOptions() as { locale: string };
      return make(`Intl.${intlName(value)}`, locale, options);
    }
    default:
      return undefined;
  }
}

function intlName(value: object): string {
  return Object.prototype.toString.call(value).slice("[object Intl.".length, -1);
}

function travelNode(capture: Capture, how: ReturnType<import("./travel.ts").Traveller[typeof travel]>, origin: Origin): Node {
  if ("refuse" in how) capture.refuse(origin, how.refuse);
  let data: Uint8Array;
  try {
    data = new Uint8Array(serialize(how.data));
  } catch (cause) {
    capture.refuse(origin, `a ${how.kind} with data that is not plain (${(cause as Error).message})`);
  }
  capture.weigh(data.length, origin);
  return { t: "travel", kind: how.kind, data };
}

/** How errors name an object's kind: `a Deno.TcpConn`. */
export function nativeName(value: object): string {
  let at: object | null = value;
  while (at !== null) {
    const owner = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof owner === "function") {
      const name = Object.getOwnPropertyDescriptor(owner, "name")?.value;
      if (typeof name === "string" && name !== "" && name !== "Object") {
        const own = intrinsicPathLate(owner)?.path.join(".") ?? name;
        return `${/^[AEIOU]/.test(own) ? "an" : "a"} ${own}`;
      }
    }
    at = Object.getPrototypeOf(at);
  }
  return "an object of the runtime";
}
