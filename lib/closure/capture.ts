import { ClosureCaptureError } from "./errors.ts";
import type { FunctionFacts, Inspector } from "./inspector.ts";
import type { ClassMember } from "./class_code.ts";
import type { FunctionCode } from "./function_code.ts";
import type { Key, Node, Shape, Slot } from "./recipe.ts";
import type { Script } from "./script.ts";
import { basePosition } from "./function_label.ts";

/** How the walk came to a value: from a variable of a function, then by properties. */
export interface Origin {
  up: Origin | undefined;
  /** The variable's name, or a step such as `.name`, `[3]`. */
  step: string;
  /** The function that captures the variable. */
  by?: FunctionCode;
  /** The object that holds the value as a property. */
  holder?: object;
  /** The variable at the upper end, once it was looked for. */
  top?: Origin;
  /** The value is only needed as (part of) the class of the object at `up`. */
  classOf?: string;
}

/** A function or class that is part of a capture. */
export interface MadeFunction {
  id: number;
  value: object;
  code: FunctionCode;
  facts: FunctionFacts;
  origin: Origin;
  slots: Map<string, Slot>;
  self?: Slot;
  args?: Slot[];
  /** Keys of a class's computed members. */
  keys: Map<ClassMember, Key>;
  home?: number;
}

/** Estimated bytes of a node, a property or a slot of the encoded form. */
const NODE_BYTES = 32;

/** The state of one walk over a value graph. */
export class Capture {
  readonly nodes: Node[] = [];
  readonly made = new Map<number, MadeFunction>();
  /** Functions whose node is known. */
  readonly judged = new Set<number>();
  /** Objects of classes with private members. */
  readonly instances: {
    id: number;
    value: object;
    classes: MadeFunction[];
    origin: Origin;
  }[] = [];
  /** Classes whose text must let private members be filled. */
  readonly stamped = new Set<number>();
  /** Prototype objects by the node of their function. */
  readonly prototypeOwners = new Map<object, number>();
  /** Methods and accessors that a captured class's text defines. */
  readonly members = new Map<unknown, Extract<Node, { t: "member" }>>();
  readonly objects: { id: number; value: object; origin: Origin }[] = [];
  readonly functions: { id: number; value: object; origin: Origin }[] = [];
  readonly #ids = new Map<unknown, number>();
  readonly #bytes = new Map<Origin, number>();
  #total = 0;

  constructor(
    readonly inspector: Inspector,
    readonly script: (id: string) => Promise<Script>,
    readonly limit: number,
    readonly name: string,
  ) {}

  /** How a value stands in another node; what it refers to is walked later. */
  slot(value: unknown, origin: Origin): Slot {
    switch (typeof value) {
      case "symbol":
        return [this.#symbol(value, origin)];
      case "object":
      case "function":
        return value === null ? null : [this.id(value, origin)];
      case "string":
        this.weigh(value.length * 2, origin);
        return value;
      default:
        return value as Slot;
    }
  }

  /** The node of an object or function. */
  id(value: object, origin: Origin): number {
    const known = this.#ids.get(value);
    if (known !== undefined) return known;
    const id = this.#allocate(value, origin);
    (typeof value === "function" ? this.functions : this.objects).push({
      id,
      value,
      origin,
    });
    return id;
  }

  /** Whether the value has a node already. */
  has(value: unknown): boolean {
    return this.#ids.has(value);
  }

  /** Gives an object a node that is known at once: nothing below it is walked. */
  settle(value: object, node: Node, origin: Origin): number {
    const known = this.#ids.get(value);
    if (known !== undefined) return known;
    const id = this.#allocate(value, origin);
    this.nodes[id] = node;
    this.judged.add(id);
    return id;
  }

  /** A node that stands for no object of the driver. */
  add(node: Node, origin: Origin): number {
    const id = this.#allocate(undefined, origin);
    this.nodes[id] = node;
    return id;
  }

  key(key: string | symbol, origin: Origin): Key {
    return typeof key === "string" ? key : [this.#symbol(key, origin)];
  }

  /** Own properties of an object, without running its getters. */
  shape(
    value: object,
    origin: Origin,
    skip: (key: string | symbol, found: PropertyDescriptor) => boolean,
  ): Shape {
    const keys: [string | symbol, PropertyDescriptor][] = [];
    let plain = true;
    for (const key of Reflect.ownKeys(value)) {
      const found = Object.getOwnPropertyDescriptor(value, key)!;
      if (skip(key, found)) continue;
      keys.push([key, found]);
      plain &&= "value" in found && found.writable === true &&
        found.enumerable === true && found.configurable === true;
    }
    const shape: Shape = {};
    if (Object.isFrozen(value)) shape.integrity = "frozen";
    else if (Object.isSealed(value)) shape.integrity = "sealed";
    else if (!Object.isExtensible(value)) shape.integrity = "fixed";
    if (shape.integrity === "frozen" || shape.integrity === "sealed") {
      plain = keys.every(([, found]) =>
        "value" in found && found.enumerable === true
      );
    }
    if (keys.length === 0) return shape;
    this.weigh(keys.length * NODE_BYTES / 2, origin);
    const below = (key: string | symbol): Origin => ({
      up: origin,
      step: stepOf(key),
      holder: value,
    });
    if (plain) {
      shape.props = keys.map((
        [key, found],
      ) => [this.key(key, below(key)), this.slot(found.value, below(key))]);
      return shape;
    }
    shape.descriptors = keys.map(([key, found]) => {
      const flags = (found.writable === true ? 1 : 0) |
        (found.enumerable === true ? 2 : 0) |
        (found.configurable === true ? 4 : 0);
      const at = below(key);
      return [
        this.key(key, at),
        flags,
        "value" in found
          ? { value: this.slot(found.value, at) }
          : { get: this.slot(found.get, at), set: this.slot(found.set, at) },
      ];
    });
    return shape;
  }

  /** Counts bytes towards the limit, for the variable that they came by. */
  weigh(bytes: number, origin: Origin): void {
    this.#total += bytes;
    const variable = root(origin);
    this.#bytes.set(variable, (this.#bytes.get(variable) ?? 0) + bytes);
    if (this.#total > this.limit) this.tooLarge(this.#total);
  }

  tooLarge(bytes: number): never {
    const variables = new Map<string, number>();
    for (const [{ step, by }, size] of this.#bytes) {
      const name = `"${step}"${
        by === undefined ? "" : ` by the function ${basePosition(by)}`
      }`;
      variables.set(name, (variables.get(name) ?? 0) + size);
    }
    const [biggest] = [...variables].sort(([, a], [, b]) => b - a);
    throw new ClosureCaptureError(
      `Cannot send ${this.name}: it is larger than the limit of ${
        mebibytes(this.limit)
      } ` +
        `(${mebibytes(bytes)} so far), most of it captured as ${
          biggest?.[0] ?? this.name
        }; ` +
        "share large data with sc.broadcast instead.",
    );
  }

  /** @throws {ClosureCaptureError} that names the function, the variable and what it holds. */
  refuse(
    origin: Origin,
    what: string,
    why = "which cannot travel to an executor",
  ): never {
    let at = origin;
    let kind = what;
    for (
      let up: Origin | undefined = origin;
      up !== undefined && up.by === undefined;
      up = up.up
    ) {
      if (up.classOf !== undefined) {
        kind = up.classOf;
        at = up.up!;
      }
    }
    const variable = root(at);
    const path = pathOf(at);
    throw new ClosureCaptureError(
      variable.by === undefined
        ? `Cannot send "${path}": it is ${kind}, ${why}.`
        : `Cannot send the function ${
          basePosition(variable.by)
        }: it captures "${path}", ${kind}, ${why}.`,
    );
  }

  #symbol(symbol: symbol, origin: Origin): number {
    const known = this.#ids.get(symbol);
    if (known !== undefined) return known;
    const registered = Symbol.keyFor(symbol);
    const wellKnown = symbol.description?.replace(/^Symbol\./, "") ?? "";
    let node: Node;
    if (registered !== undefined) {
      node = { t: "symbol", key: registered, registered: true };
    } else if (Reflect.get(Symbol, wellKnown) === symbol) {
      node = { t: "symbol", key: wellKnown, registered: false };
    } else this.refuse(origin, `the unregistered ${String(symbol)}`);
    const id = this.#allocate(symbol, origin);
    this.nodes[id] = node;
    return id;
  }

  #allocate(value: unknown, origin: Origin): number {
    const id = this.nodes.length;
    this.nodes.push({ t: "object" });
    if (value !== undefined) this.#ids.set(value, id);
    this.weigh(NODE_BYTES, origin);
    return id;
  }
}

function stepOf(key: string | symbol): string {
  if (typeof key === "symbol") return `[${String(key)}]`;
  if (/^\d+$/.test(key)) return `[${key}]`;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)
    ? `.${key}`
    : `[${JSON.stringify(key)}]`;
}

/** The variable that a value came by; remembered, as paths may be long. */
function root(origin: Origin): Origin {
  let at = origin;
  while (at.top === undefined && at.by === undefined && at.up !== undefined) {
    at = at.up;
  }
  const top = at.top ?? at;
  if (at !== origin) origin.top = top;
  return top;
}

/** Longest path that an error shows, in steps. */
const MAX_STEPS = 8;

function pathOf(origin: Origin): string {
  const steps: string[] = [];
  for (
    let at: Origin | undefined = origin;
    at !== undefined;
    at = at.by === undefined ? at.up : undefined
  ) {
    steps.push(at.step);
  }
  steps.reverse();
  if (steps.length > MAX_STEPS) {
    steps.splice(1, steps.length - MAX_STEPS, " … ");
  }
  return steps.join("");
}

function mebibytes(bytes: number): string {
  const value = bytes / 1_048_576;
  return `${value >= 10 ? Math.round(value) : value.toFixed(1)} MiB`;
}
