import { Buffer } from "node:buffer";
import { deserialize } from "node:v8";
import { ClosureRestoreError } from "./errors.ts";
import { resolveIntrinsic } from "./intrinsic_values.ts";
import {
  decodeRecipe,
  type Key,
  type Node,
  type Recipe,
  type Slot,
} from "./recipe.ts";
import {
  type Callable,
  type ClassTools,
  compile,
  importer,
  makeArguments,
  makeBuffer,
  type Makers,
  stampObject,
} from "./restore_parts.ts";
import { finishShape } from "./restore_shape.ts";

/** Options of {@link restoreClosure}. */
export interface RestoreOptions {
  /** Makes the objects that travelled by `[travel]()`, by kind. */
  revive?: Record<string, (data: unknown) => unknown>;
}

/**
 * The value of a capture, made in this process. Evaluates nothing but the texts of the captured
 * functions and classes, and of those neither constructors nor initialisers.
 *
 * @throws {ClosureRestoreError} when the bytes can't be read, or name what this process lacks.
 */
export async function restoreClosure(
  bytes: Uint8Array,
  { revive = {} }: RestoreOptions = {},
): Promise<unknown> {
  const recipe = decodeRecipe(bytes);
  const imports = new Map<number, unknown>();
  await Promise.all(recipe.nodes.map(async (node, id) => {
    if (node.t !== "import") return;
    const module = await import(node.specifier) as Record<string, unknown>;
    if (node.name !== undefined && !(node.name in module)) {
      throw new ClosureRestoreError(
        `The module "${node.specifier}" has no export "${node.name}".`,
      );
    }
    imports.set(id, node.name === undefined ? module : module[node.name]);
  }));
  return new Restorer(recipe, imports, revive).run();
}

class Restorer {
  readonly #recipe: Recipe;
  readonly #values: unknown[];
  readonly #units: (Makers | undefined)[];
  readonly #tools = new Map<number, ClassTools>();
  readonly #setLate = new Map<number, Callable>();
  /** Object literals that hold a method which uses `super`. */
  readonly #homes = new Map<number, object>();

  constructor(
    recipe: Recipe,
    readonly imports: ReadonlyMap<number, unknown>,
    readonly revive: Record<string, (data: unknown) => unknown>,
  ) {
    this.#recipe = recipe;
    this.#values = new Array(recipe.nodes.length);
    this.#units = new Array(recipe.units.length);
  }

  run(): unknown {
    const { nodes, order, root } = this.#recipe;
    for (const id of order) this.#values[id] = this.#make(id, nodes[id]!);
    for (const id of order) this.#connect(id, nodes[id]!);
    for (const id of order) this.#fill(id, nodes[id]!);
    for (const id of order) {
      finishShape(this.#values[id], nodes[id]!, this.#value);
    }
    return this.#value(root);
  }

  readonly #value = (slot: Slot): unknown =>
    Array.isArray(slot) ? this.#values[slot[0]] : slot;

  readonly #key = (key: Key): PropertyKey =>
    typeof key === "string" ? key : this.#values[key[0]] as symbol;

  /** An object without its contents, or a function without what a cycle brings. */
  #make(id: number, node: Node): unknown {
    switch (node.t) {
      case "object":
        return this.#object(node);
      case "array":
        return this.#withProto(
          node,
          new Array(node.items === undefined ? node.length : 0),
        );
      case "map":
        return this.#withProto(node, new Map());
      case "set":
        return this.#withProto(node, new Set());
      case "date":
        return this.#withProto(node, new Date(node.time));
      case "regexp": {
        const made = new RegExp(node.source, node.flags);
        made.lastIndex = node.lastIndex;
        return this.#withProto(node, made);
      }
      case "error": {
        const made = this.#withProto(node, new Error());
        Reflect.deleteProperty(made, "stack");
        return made;
      }
      case "boxed":
        return this.#withProto(node, Object(this.#value(node.value)) as object);
      case "arguments":
        return makeArguments(node.length);
      case "buffer":
        return this.#withProto(
          node,
          makeBuffer(node.bytes, node.maxByteLength),
        );
      case "view": {
        const constructor = Reflect.get(globalThis, node.type) as new (
          ...args: unknown[]
        ) => object;
        return this.#withProto(
          node,
          new constructor(this.#values[node.buffer], node.offset, node.length),
        );
      }
      case "node-buffer":
        return this.#withProto(node, Buffer.from(node.bytes));
      case "made-by": {
        const constructor = resolveIntrinsic({
          path: node.constructor.split("."),
        });
        return Reflect.construct(constructor as () => unknown, node.args);
      }
      case "symbol":
        return node.registered
          ? Symbol.for(node.key)
          : Reflect.get(Symbol, node.key);
      case "intrinsic":
        return resolveIntrinsic(node);
      case "import":
        return this.imports.get(id);
      case "importer":
        return importer(node.base);
      case "travel": {
        const revive = Object.hasOwn(this.revive, node.kind)
          ? this.revive[node.kind]
          : undefined;
        if (revive === undefined) {
          throw new ClosureRestoreError(
            `Nothing here revives a "${node.kind}".`,
          );
        }
        return revive(deserialize(node.data));
      }
      case "bound":
        return Reflect.apply(
          Function.prototype.bind,
          this.#values[node.target],
          [
            this.#value(node.self),
            ...node.args.map(this.#value),
          ],
        );
      case "scope": {
        const parent = node.parent === undefined
          ? this.#unit(node.unit)
          : this.#values[node.parent] as Makers;
        return this.#maker(parent, node.make)();
      }
      case "function":
      case "class":
        return this.#function(id, node);
      case "prototype":
        return (this.#values[node.of] as { prototype: unknown }).prototype;
      case "member": {
        const owner = this.#values[node.class] as { prototype: object };
        const holder = node.of === "static" ? owner : owner.prototype;
        return Object.getOwnPropertyDescriptor(holder, this.#key(node.key))
          ?.[node.part];
      }
      default:
        throw new ClosureRestoreError(
          `A capture holds the unknown kind "${(node as { t: unknown }).t}".`,
        );
    }
  }

  #object(node: Extract<Node, { t: "object" }>): object {
    const proto = node.proto === undefined
      ? Object.prototype
      : this.#value(node.proto) as object | null;
    if (node.allocates !== true) {
      return proto === Object.prototype ? {} : Object.create(proto);
    }
    // The base class's own construction is what puts its private members on an object.
    const target = function () {};
    target.prototype = proto;
    const [base] = node.stamps!;
    const tools = this.#tools.get(base!)!;
    tools.guard(true);
    try {
      return Reflect.construct(
        this.#values[base!] as () => unknown,
        [],
        target,
      );
    } finally {
      tools.guard(false);
    }
  }

  #withProto<T extends object>(node: Node, made: T): T {
    if (node.proto !== undefined) {
      Object.setPrototypeOf(made, this.#value(node.proto) as object | null);
    }
    return made;
  }

  #function(
    id: number,
    node: Extract<Node, { t: "function" | "class" }>,
  ): unknown {
    const makers = node.inClass !== undefined
      ? this.#tools.get(node.inClass)!.make
      : node.scope === undefined
      ? this.#unit(node.unit)
      : this.#values[node.scope] as Makers;
    const params = node.params.map((slot, index) =>
      node.late?.includes(index) ? undefined : this.#value(slot)
    );
    if (node.args !== undefined) params.unshift(node.args.map(this.#value));
    let made = Reflect.apply(
      this.#maker(makers, node.make),
      this.#value(node.self),
      params,
    );
    if (node.late !== undefined || node.t === "class" && node.tools) {
      const [value, setLate, tools] = made as [
        unknown,
        Callable,
        ClassTools | undefined,
      ];
      made = value;
      if (node.late !== undefined) this.#setLate.set(id, setLate);
      if (tools !== undefined) this.#tools.set(id, tools);
    }
    if (node.t === "class" || node.as === "value") return made;
    const literal = made as object;
    const descriptor = Object.getOwnPropertyDescriptor(
      literal,
      Reflect.ownKeys(literal)[0]!,
    )!;
    if (node.home !== undefined) this.#homes.set(id, literal);
    return node.as === "method" ? descriptor.value : descriptor[node.as];
  }

  /** Private members come onto objects; classes get back to what the driver's had. */
  #connect(id: number, node: Node): void {
    if (node.t === "class") {
      const made = this.#values[id] as { prototype: object };
      for (const { of, key } of node.removed) {
        Reflect.deleteProperty(
          of === "static" ? made : made.prototype,
          this.#key(key),
        );
      }
    }
    for (const [index, stamp] of (node.stamps ?? []).entries()) {
      if (index === 0 && node.allocates === true) continue;
      stampObject(
        this.#values[id],
        this.#values[stamp] as () => unknown,
        this.#tools.get(stamp)!,
      );
    }
  }

  #fill(id: number, node: Node): void {
    const made = this.#values[id];
    switch (node.t) {
      case "array": {
        const array = made as unknown[];
        if (node.items !== undefined) {
          for (const slot of node.items) array.push(this.#value(slot));
        }
        for (const [index, slot] of node.sparse ?? []) {
          array[index] = this.#value(slot);
        }
        break;
      }
      case "map":
        for (let at = 0; at < node.entries.length; at += 2) {
          Map.prototype.set.call(
            made,
            this.#value(node.entries[at]),
            this.#value(node.entries[at + 1]),
          );
        }
        break;
      case "set":
        for (const slot of node.entries) {
          Set.prototype.add.call(made, this.#value(slot));
        }
        break;
      case "error":
        if (node.stack !== undefined) {
          const value = this.#value(node.stack);
          Object.defineProperty(made, "stack", {
            value,
            writable: true,
            enumerable: false,
            configurable: true,
          });
        }
        break;
      case "scope":
        this.#maker(made as Makers, "put")(node.values.map(this.#value));
        break;
      case "function":
      case "class":
        if (node.late !== undefined) {
          this.#setLate.get(id)!(
            node.late.map((index) => this.#value(node.params[index])),
          );
        }
        if (node.t === "class") {
          for (const [name, slot] of node.privateStatics) {
            this.#tools.get(id)!.set[name]!(made, this.#value(slot));
          }
        } else if (node.home !== undefined) {
          Object.setPrototypeOf(
            this.#homes.get(id)!,
            Object.getPrototypeOf(this.#values[node.home]),
          );
        }
        break;
    }
    for (const [of, name, slot] of node.privates ?? []) {
      this.#tools.get(of)!.set[name]!(made, this.#value(slot));
    }
  }

  #unit(index: number): Makers {
    return this.#units[index] ??= compile(this.#recipe.units[index]!);
  }

  #maker(makers: Makers, name: string): Callable {
    const maker = Object.hasOwn(makers, name) ? makers[name] : undefined;
    if (typeof maker !== "function") {
      throw new ClosureRestoreError(
        `A capture's text lacks its part "${name}".`,
      );
    }
    return maker;
  }
}
