import { Buffer } from "node:buffer";

/**
 * How deep a value may be nested to be encoded as JSON (what is deeper is structured clone's). Also
 * what ends the walk over a value that contains itself: a walk that goes deep first meets its own
 * trail within that many steps.
 */
const MAX_QUICK_DEPTH = 64;

/** How many steps of a path an error shows. */
const MAX_PATH_STEPS = 20;

/** A value that cannot travel between processes without damage. */
export class UnsendableValueError extends TypeError {
  override readonly name = "UnsendableValueError";
  /** Where in the value it is, such as `[3].user.name`; empty for the value itself. */
  readonly path: string;
  /** What it is, such as `a function` or `an instance of class Person`. */
  readonly kind: string;

  constructor(
    path: string,
    kind: string,
    advice: string,
    options?: ErrorOptions,
  ) {
    const where = path === "" ? "it" : path;
    super(
      `Cannot send a value to another process: ${where} is ${kind}${advice}`,
      options,
    );
    this.path = path;
    this.kind = kind;
  }
}

/**
 * Whether `JSON.parse(JSON.stringify(value))` gives the same value: finite numbers but -0, strings,
 * booleans, `null`, and arrays and plain objects of these, no more than 64 deep. (An object without
 * a prototype comes back with one, and what two places share comes back twice. So it is for all
 * values here.)
 */
export function isJsonSafe(value: unknown): boolean {
  return isSafe(value, MAX_QUICK_DEPTH, false);
}

/**
 * The walk over every record that is sent, so it asks as little as it can; the tests hold it to the
 * truth.
 *
 * @param clone Whether structured clone is to keep the value, and not JSON. Then `false` may also
 * mean that the value has to be looked at more closely.
 */
function isSafe(value: unknown, depth: number, clone: boolean): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return clone ||
        (Number.isFinite(value) && (value !== 0 || 1 / value > 0));
    case "object":
      if (value === null) return true;
      if (depth === 0) return false;
      return Array.isArray(value)
        ? isSafeArray(value, depth - 1, clone)
        : isSafeObject(value as Record<string, unknown>, depth - 1, clone);
    case "bigint":
    case "undefined":
      return clone;
    default:
      return false;
  }
}

function isSafeArray(array: unknown[], depth: number, clone: boolean): boolean {
  if (Object.getPrototypeOf(array) !== Array.prototype) return false;
  for (let i = 0; i < array.length; i++) {
    // A hole reads as undefined, which JSON does not keep.
    if (!isSafe(array[i], depth, clone)) return false;
  }
  // Properties beside the elements, as on what a regular expression's match gives.
  return Object.keys(array).length === array.length;
}

function isSafeObject(
  object: Record<string, unknown>,
  depth: number,
  clone: boolean,
): boolean {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    return clone && isSafeBuiltIn(object, prototype, depth);
  }
  let count = 0;
  for (const name in object) {
    if (!isSafe(object[name], depth, clone)) return false;
    count++;
  }
  // Both of these are cheap, other than Reflect.ownKeys. A difference is a hidden property.
  return Object.getOwnPropertyNames(object).length === count &&
    Object.getOwnPropertySymbols(object).length === 0;
}

function isSafeBuiltIn(
  object: object,
  prototype: object,
  depth: number,
): boolean {
  if (CLONED_PROTOTYPES.has(prototype)) return true;
  if (prototype === Map.prototype && object instanceof Map) {
    for (const [key, held] of object) {
      if (!isSafe(key, depth, true) || !isSafe(held, depth, true)) return false;
    }
  } else if (prototype === Set.prototype && object instanceof Set) {
    for (const member of object) {
      if (!isSafe(member, depth, true)) return false;
    }
  } else return false;
  return Object.getOwnPropertyNames(object).length === 0;
}

/** A value that is still to be looked at, and how one gets there. */
interface Step {
  readonly value: unknown;
  readonly from: Step | undefined;
  /** The last part of the path; the index of an element is a number. */
  readonly label: string | number;
}

/**
 * Refuses what structured clone would refuse or, worse, damage without a word: instances of
 * classes, functions, symbols, hidden properties and properties named by symbols.
 *
 * @throws {UnsendableValueError} naming the place and the kind of the first such value.
 */
export function assertSendable(value: unknown): void {
  // The walk below knows paths and cycles, and takes several times as long.
  if (isSafe(value, MAX_QUICK_DEPTH, true)) return;
  const seen = new Set<object>();
  // A list of our own and not recursion: values may be nested deeper than the stack is.
  const pending: Step[] = [{ value, from: undefined, label: "" }];
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    const value = step.value;
    if (typeof value === "function" || typeof value === "symbol") {
      throw unsendable(step, `a ${typeof value}`, "");
    }
    if (typeof value !== "object" || value === null || seen.has(value)) {
      continue;
    }
    seen.add(value);
    const first = pending.length;
    pushParts(pending, step, value);
    // So that they come off in the order written, and the first culprit is the one named.
    reverseFrom(pending, first);
  }
}

function pushParts(pending: Step[], from: Step, value: object): void {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) {
    pushProperties(pending, from, value);
  } else if (prototype === Array.prototype && Array.isArray(value)) {
    pushElements(pending, from, value);
  } else if (prototype === Map.prototype && value instanceof Map) {
    refuseOwnProperties(from, value, "Map");
    for (const [key, held] of value) {
      const name = describeKey(key);
      pending.push({ value: key, from, label: ` key ${name}` });
      pending.push({ value: held, from, label: `.get(${name})` });
    }
  } else if (prototype === Set.prototype && value instanceof Set) {
    refuseOwnProperties(from, value, "Set");
    for (const member of value) {
      pending.push({ value: member, from, label: " member" });
    }
  } else if (ERROR_PROTOTYPES.has(prototype)) {
    pushError(pending, from, value as Error);
  } else if (!CLONED_PROTOTYPES.has(prototype)) {
    throw refusal(from, value, prototype);
  }
}

/** Errors keep their class only when it is one of these. */
const ERROR_PROTOTYPES = new Set<object>(
  [
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
  ].map((constructor) => constructor.prototype),
);

/** What structured clone keeps whole and has no parts to look at. */
const CLONED_PROTOTYPES = new Set<object>(
  [
    Date,
    RegExp,
    Boolean,
    Number,
    String,
    BigInt,
    ArrayBuffer,
    DataView,
    Buffer,
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float16Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
  ].map((constructor) => constructor.prototype),
);

function pushProperties(pending: Step[], from: Step, value: object): void {
  for (const name of Object.getOwnPropertyNames(value)) {
    pushProperty(pending, from, value, name);
  }
  refuseSymbols(from, value);
}

function pushProperty(
  pending: Step[],
  from: Step,
  object: object,
  name: string,
): void {
  const label = /^(?:0|[1-9]\d*)$/.test(name)
    ? `[${name}]`
    : /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)
    ? `.${name}`
    : `[${JSON.stringify(name)}]`;
  const value: unknown = Reflect.get(object, name);
  const step = { value, from, label };
  if (!Object.prototype.propertyIsEnumerable.call(object, name)) {
    throw unsendable(step, "a hidden (non-enumerable) property", "");
  }
  pending.push(step);
}

function pushElements(pending: Step[], from: Step, array: unknown[]): void {
  const names = Object.keys(array);
  if (names.length < array.length) {
    // Holes: the array may be mostly of them.
    for (const name of names) pushProperty(pending, from, array, name);
  } else {
    for (let i = 0; i < array.length; i++) {
      const value = array[i];
      // Most elements of large arrays need no look.
      if (typeof value === "string" || typeof value === "number") continue;
      pending.push({ value, from, label: i });
    }
    // Properties beside the elements come after them.
    for (const name of names.slice(array.length)) {
      pushProperty(pending, from, array, name);
    }
  }
  refuseSymbols(from, array);
}

function pushError(pending: Step[], from: Step, error: Error): void {
  for (const name of Object.getOwnPropertyNames(error)) {
    if (name === "cause") {
      pending.push({ value: error.cause, from, label: ".cause" });
    } else if (name !== "message" && name !== "stack") {
      throw unsendable(
        { value: undefined, from, label: `.${name}` },
        "a property of an Error, which travels with message, stack and cause only",
        ": put it into a plain object",
      );
    }
  }
}

function refuseOwnProperties(from: Step, value: object, kind: string): void {
  for (const name of Object.getOwnPropertyNames(value)) {
    throw unsendable(
      { value: undefined, from, label: `.${name}` },
      `a property of a ${kind}, which travels without it`,
      "",
    );
  }
}

function refuseSymbols(from: Step, value: object): void {
  const [symbol] = Object.getOwnPropertySymbols(value);
  if (symbol === undefined) return;
  throw unsendable(
    { value: undefined, from, label: `[${String(symbol)}]` },
    "a property named by a symbol",
    ": name it by a string",
  );
}

function refusal(
  step: Step,
  value: object,
  prototype: object,
): UnsendableValueError {
  if (value instanceof Promise) {
    return unsendable(
      step,
      "a Promise",
      ": make the function async, or await it, so that its result is sent",
    );
  }
  if ("next" in value && typeof value.next === "function") {
    return unsendable(
      step,
      "an iterator",
      ": make it an array, as in [...value]",
    );
  }
  const constructor: unknown = prototype.constructor;
  const className = typeof constructor === "function" ? constructor.name : "";
  if (
    constructor === WeakMap || constructor === WeakSet ||
    constructor === WeakRef
  ) return unsendable(step, `a ${className}`, "");
  if (className === "" || constructor === Object) {
    return unsendable(
      step,
      "an object with a prototype of its own",
      ": make it a plain object",
    );
  }
  return unsendable(
    step,
    `an instance of class ${className}`,
    ": make it a plain object, as in { ...value }, and the class again where it is used",
  );
}

function unsendable(
  step: Step,
  kind: string,
  advice: string,
  options?: ErrorOptions,
): UnsendableValueError {
  const labels: string[] = [];
  for (let at: Step | undefined = step; at !== undefined; at = at.from) {
    labels.push(typeof at.label === "number" ? `[${at.label}]` : at.label);
  }
  labels.reverse();
  const shown = labels.length > MAX_PATH_STEPS
    ? [...labels.slice(0, MAX_PATH_STEPS), "…"]
    : labels;
  return new UnsendableValueError(shown.join("").trim(), kind, advice, options);
}

function describeKey(key: unknown): string {
  return typeof key === "string"
    ? JSON.stringify(key.length > 40 ? `${key.slice(0, 40)}…` : key)
    : typeof key === "object" || typeof key === "function"
    ? "…"
    : String(key);
}

function reverseFrom(steps: Step[], first: number): void {
  for (let low = first, high = steps.length - 1; low < high; low++, high--) {
    [steps[low], steps[high]] = [steps[high], steps[low]];
  }
}
