import { types } from "node:util";
import { serialize } from "node:v8";
import type { Capture, MadeFunction, Origin } from "./capture.ts";
import { intrinsicPath, intrinsicPathLate } from "./intrinsics.ts";
import type { Node, Shape, Slot } from "./recipe.ts";
import type { AstNode } from "./script.ts";
import { nativeName } from "./native_name.ts";
import { base, madeBy } from "./object_kinds.ts";
import { isTraveller, travel } from "./travel.ts";

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
];

/**
 * Turns one object into its node. Returns false, having done nothing, when the object's class must
 * be looked at first (it is then in `capture.functions`).
 */
export function walkObject(
  capture: Capture,
  id: number,
  value: object,
  origin: Origin,
): boolean {
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
    capture.nodes[id] = namespaceNode(
      capture,
      value,
      Object.keys(value),
      origin,
    );
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
  const { node, defaultProto, skip, family, bare } = base(
    capture,
    value,
    origin,
  );
  const proto = Object.getPrototypeOf(value) as object | null;
  let shapeProto: Shape["proto"];
  let hasProto = false;
  if (proto !== defaultProto) {
    hasProto = true;
    if (!checkChain(capture, id, value, proto, family, origin)) return false;
    shapeProto = proto === null ? null : [
      capture.id(proto, {
        up: origin,
        step: ".__proto__",
        classOf: nativeName(value),
      }),
    ];
  }
  const shape = bare === true && Object.isExtensible(value)
    ? {}
    : capture.shape(value, origin, skip);
  if (hasProto) shape.proto = shapeProto;
  capture.nodes[id] = { ...node, ...shape } as Node;
  return true;
}

/** The node of a module namespace, with some of its members, at their values of now. */
export function namespaceNode(
  capture: Capture,
  namespace: object,
  members: readonly string[],
  origin: Origin,
): Node {
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
  if (
    typeof owner !== "function" || intrinsicPath(owner) !== undefined ||
    types.isProxy(owner)
  ) return undefined;
  if (Object.getOwnPropertyDescriptor(owner, "prototype")?.value !== value) {
    return undefined;
  }
  const id = capture.id(owner, { up: origin, step: ".constructor" });
  return capture.judged.has(id) ? undefined : "unknown";
}

/** What a prototype has beyond what making its function gives it. */
function prototypeNode(
  capture: Capture,
  of: number,
  value: object,
  origin: Origin,
): Node {
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
  } else if (
    proto !== parent && owner.code.as === "function" &&
    !isGenerator(owner.code.source.node)
  ) {
    shape.proto = proto === null
      ? null
      : [capture.id(proto, { up: origin, step: ".__proto__" })];
  }
  return { t: "prototype", of, ...shape };
}

function isGenerator(node: AstNode): boolean {
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
  const parts = (["value", "get", "set"] as const).filter((part) =>
    found[part] !== undefined
  );
  return parts.length > 0 && parts.every((part) => {
    const member = capture.members.get(found[part]);
    return member !== undefined && member.class === owner && member.of === of &&
      member.part === part &&
      (typeof key === "string"
        ? member.key === key
        : typeof member.key !== "string");
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
    if (types.isProxy(at)) {
      capture.refuse(origin, "an object whose prototype is a Proxy");
    }
    const known = intrinsicPathLate(at);
    if (known !== undefined) {
      if (/Iterator/.test(known.path[0]!)) {
        capture.refuse(origin, "an iterator in progress");
      }
      if (known.path.at(-1) !== "prototype" || !family(known.path)) {
        capture.refuse(origin, nativeName(value));
      }
      continue;
    }
    const owner = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (
      typeof owner !== "function" ||
      Object.getOwnPropertyDescriptor(owner, "prototype")?.value !== at
    ) continue;
    const at1 = {
      up: origin,
      step: ".constructor",
      classOf: nativeName(value),
    };
    const id = capture.id(owner, at1);
    judged &&= capture.judged.has(id);
    const made = capture.made.get(id);
    if (made?.code.class?.hasPrivateInstance === true) classes.unshift(made);
  }
  if (judged && classes.length > 0) {
    capture.instances.push({ id: self, value, classes, origin });
  }
  return judged;
}

function travelNode(
  capture: Capture,
  how: ReturnType<import("./travel.ts").Traveller[typeof travel]>,
  origin: Origin,
): Node {
  if ("refuse" in how) capture.refuse(origin, how.refuse);
  let data: Uint8Array;
  try {
    data = new Uint8Array(serialize(how.data));
  } catch (cause) {
    capture.refuse(
      origin,
      `a ${how.kind} with data that is not plain (${(cause as Error).message})`,
    );
  }
  capture.weigh(data.length, origin);
  return { t: "travel", kind: how.kind, data };
}
