import { types } from "node:util";
import { Buffer } from "node:buffer";
import type { Capture, Origin } from "./capture.ts";
import type { Node, Slot } from "./recipe.ts";

const { entries: mapEntries } = Map.prototype;
const { values: setValues } = Set.prototype;
const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype);
const typeOfView = Object.getOwnPropertyDescriptor(
  typedArrayPrototype,
  Symbol.toStringTag,
)!.get!;
const headerEntries = Headers.prototype.entries;

const none = () => false;

/** What an object is before its own properties. */
export interface Base {
  node: Node;
  defaultProto: object | null;
  skip: (key: string | symbol, found: PropertyDescriptor) => boolean;
  /** There is no property beside the elements, so that the many keys need no look. */
  bare?: boolean;
  /** Whether a class of the runtime may be among the object's prototypes. */
  family: (path: string[]) => boolean;
}

/** The kind of an object, told by what the engine made it, whatever its prototype. */
export function base(capture: Capture, value: object, origin: Origin): Base {
  const named = (name: string) => (path: string[]) => path[0] === name;
  const of = (
    node: Node,
    defaultProto: object,
    name: string,
    skip: Base["skip"] = none,
  ): Base => ({ node, defaultProto, skip, family: named(name) });
  if (Array.isArray(value)) {
    const { node, plain } = arrayNode(capture, value, origin);
    const made = of(
      node,
      Array.prototype,
      "Array",
      (key) =>
        key === "length" ||
        typeof key === "string" && isIndex(key) &&
          isPlainIndex(value, Number(key)),
    );
    return { ...made, bare: plain };
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
      entries.push(
        capture.slot(item, {
          up: origin,
          step: ` (set member ${entries.length})`,
        }),
      );
    }
    return of({ t: "set", entries }, Set.prototype, "Set");
  }
  if (types.isDate(value)) {
    return of(
      { t: "date", time: Date.prototype.getTime.call(value) },
      Date.prototype,
      "Date",
    );
  }
  if (types.isRegExp(value)) {
    const source = Reflect.get(RegExp.prototype, "source", value) as string;
    const flags = [..."dgimsuvy"].filter((flag) =>
      Reflect.get(RegExp.prototype, FLAGS[flag]!, value) === true
    ).join("");
    return of(
      { t: "regexp", source, flags, lastIndex: value.lastIndex },
      RegExp.prototype,
      "RegExp",
      (key) => key === "lastIndex",
    );
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
  if (types.isArrayBuffer(value)) {
    return of(
      bufferNode(capture, value, origin),
      ArrayBuffer.prototype,
      "ArrayBuffer",
    );
  }
  if (ArrayBuffer.isView(value)) return viewBase(capture, value, origin);
  if (types.isBoxedPrimitive(value)) {
    const primitive = Reflect.apply(
      Object.prototype.valueOf,
      value,
      [],
    ) as object;
    const name = types.isNumberObject(primitive)
      ? "Number"
      : types.isStringObject(primitive)
      ? "String"
      : types.isBooleanObject(primitive)
      ? "Boolean"
      : types.isBigIntObject(primitive)
      ? "BigInt"
      : "Symbol";
    const { prototype } = Reflect.get(globalThis, name) as {
      prototype: { valueOf(): unknown };
    };
    const node: Node = {
      t: "boxed",
      value: capture.slot(prototype.valueOf.call(value), origin),
    };
    return of(
      node,
      prototype,
      name,
      (key) => key === "length" || typeof key === "string" && isIndex(key),
    );
  }
  if (types.isArgumentsObject(value)) {
    const { length } = value as unknown as { length: number };
    return of(
      { t: "arguments", length },
      Object.prototype,
      "Object",
      (key) => key === "length" || key === "callee" || key === Symbol.iterator,
    );
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

/** The elements of an array; `plain` when it has no other property. */
function arrayNode(
  capture: Capture,
  value: unknown[],
  origin: Origin,
): { node: Node; plain: boolean } {
  const { length } = value;
  const keys = Reflect.ownKeys(value);
  const slotAt = (index: number) => {
    const item = value[index];
    if (typeof item === "number" || typeof item === "boolean") return item;
    return capture.slot(item, {
      up: origin,
      step: `[${index}]`,
      holder: value,
    });
  };
  let dense = keys.length > length;
  for (let index = 0; dense && index < length; index++) {
    dense = isPlainIndex(value, index);
  }
  if (dense) {
    capture.weigh(length * 9, origin);
    const items = new Array<Slot>(length);
    for (let index = 0; index < length; index++) items[index] = slotAt(index);
    return {
      node: { t: "array", length, items },
      plain: keys.length === length + 1,
    };
  }
  const sparse: [number, Slot][] = [];
  for (const key of keys) {
    if (
      typeof key !== "string" || !isIndex(key) ||
      !isPlainIndex(value, Number(key))
    ) continue;
    sparse.push([Number(key), slotAt(Number(key))]);
  }
  capture.weigh(sparse.length * 20, origin);
  return { node: { t: "array", length, sparse }, plain: false };
}

function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(key);
}

function isPlainIndex(value: unknown[], index: number): boolean {
  const found = Object.getOwnPropertyDescriptor(value, index);
  return found !== undefined && "value" in found && found.enumerable === true;
}

function bufferNode(
  capture: Capture,
  value: ArrayBuffer,
  origin: Origin,
): Node {
  if (value.detached) capture.refuse(origin, "a detached ArrayBuffer");
  capture.weigh(value.byteLength, origin);
  const node: Node = { t: "buffer", bytes: new Uint8Array(value.slice(0)) };
  if (value.resizable) node.maxByteLength = value.maxByteLength;
  return node;
}

function viewBase(
  capture: Capture,
  value: ArrayBufferView,
  origin: Origin,
): Base {
  if (Buffer.isBuffer(value)) {
    capture.weigh(value.byteLength, origin);
    return {
      // A Buffer may be a piece of a pool that others share: only its own bytes travel.
      node: { t: "node-buffer", bytes: new Uint8Array(value) },
      defaultProto: Buffer.prototype,
      skip: none,
      family: () => true,
      bare: true,
    };
  }
  const type = (Reflect.apply(typeOfView, value, []) as string | undefined) ??
    "DataView";
  if (!types.isArrayBuffer(value.buffer)) {
    capture.refuse(origin, `a ${type} over a SharedArrayBuffer`);
  }
  const buffer = capture.id(value.buffer, { up: origin, step: ".buffer" });
  const length = type === "DataView"
    ? value.byteLength
    : (value as Uint8Array).length;
  return {
    node: { t: "view", type, buffer, offset: value.byteOffset, length },
    defaultProto:
      (Reflect.get(globalThis, type) as { prototype: object }).prototype,
    skip: none,
    // Properties that were added to a view do not travel: listing keys would list every element.
    bare: true,
    family: (path) => path[0] === type || path[0] === "%TypedArray%",
  };
}

/** Objects of the runtime whose constructor makes an equal one from plain data. */
export function madeBy(value: object): Node | undefined {
  const make = (constructor: string, ...args: unknown[]): Node => ({
    t: "made-by",
    constructor,
    args,
  });
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
      const { locale, ...options } = (value as Intl.Collator)
        .resolvedOptions() as { locale: string };
      return make(`Intl.${intlName(value)}`, locale, options);
    }
    default:
      return undefined;
  }
}

function intlName(value: object): string {
  return Object.prototype.toString.call(value).slice(
    "[object Intl.".length,
    -1,
  );
}
