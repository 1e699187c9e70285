import { deserialize, serialize } from "node:v8";
import { ClosureRestoreError } from "./errors.ts";

/** First byte of an encoded capture. */
export const RECIPE_VERSION = 1;

/** A primitive as it is, or a reference to the node of that index (a primitive is never an array). */
export type Slot = undefined | null | boolean | number | string | bigint | [
  nodeIndex: number,
];

/** A property key: a name, or a reference to a symbol node. */
export type Key = string | [nodeIndex: number];

/** Own properties, prototype and integrity that any object node may carry beyond its default. */
export interface Shape {
  /** Plain data properties: writable, enumerable, configurable. */
  props?: [key: Key, value: Slot][];
  /** All others; flags are 1 writable, 2 enumerable, 4 configurable. */
  descriptors?: [
    key: Key,
    flags: number,
    parts: { value: Slot } | { get: Slot; set: Slot },
  ][];
  /** Left out: the kind's usual prototype. */
  proto?: Slot;
  integrity?: "frozen" | "sealed" | "fixed";
  /** Classes whose private members the object carries, the base class first. */
  stamps?: number[];
  /** The first of `stamps` extends nothing: it makes the object. */
  allocates?: boolean;
  privates?: [classNode: number, name: string, value: Slot][];
}

/** What a compiled text needs when a function or class is made from it. */
export interface Made {
  unit: number;
  /** Member of the unit (or of the scope instance) that makes the function. */
  make: string;
  /** The scope instance that it is made in, when it shares variables that are assigned. */
  scope?: number;
  /** Values of the parameters of `make`, in order. */
  params: Slot[];
  /** Indexes of params that are only known once everything is made (cycles). */
  late?: number[];
  /** Lexical `this` of an arrow function. */
  self?: Slot;
  /** Lexical `arguments` of an arrow function, the first of what its maker takes. */
  args?: Slot[];
  /** The class whose text holds `make`, for a function that uses its private members. */
  inClass?: number;
}

export type Node =
  & Shape
  & (
    | { t: "object" }
    | {
      t: "array";
      length: number;
      items?: Slot[];
      sparse?: [index: number, value: Slot][];
    }
    | { t: "map"; entries: Slot[] }
    | { t: "set"; entries: Slot[] }
    | { t: "date"; time: number }
    | { t: "regexp"; source: string; flags: string; lastIndex: number }
    | { t: "error"; stack?: Slot }
    | { t: "boxed"; value: Slot }
    | { t: "arguments"; length: number }
    | { t: "buffer"; bytes: Uint8Array; maxByteLength?: number }
    | {
      t: "view";
      type: string;
      buffer: number;
      offset: number;
      length?: number;
    }
    | { t: "node-buffer"; bytes: Uint8Array }
    | { t: "made-by"; constructor: string; args: unknown[] }
    | { t: "symbol"; key: string; registered: boolean }
    | { t: "intrinsic"; path: string[]; part?: "get" | "set" }
    | { t: "import"; specifier: string; name?: string }
    | { t: "importer"; base: string }
    | { t: "travel"; kind: string; data: Uint8Array }
    | { t: "bound"; target: number; self: Slot; args: Slot[] }
    | {
      t: "scope";
      unit: number;
      make: string;
      parent?: number;
      values: Slot[];
    }
    | (
      & { t: "function"; as: "value" | "method" | "get" | "set"; home?: number }
      & Made
    )
    | (
      & {
        t: "class";
        parent?: Slot;
        /** Own members of the text that the live class no longer has. */
        removed: { of: "static" | "prototype"; key: Key }[];
        privateStatics: [name: string, value: Slot][];
        /** Whether the text was given a way to fill private fields of instances. */
        tools: boolean;
      }
      & Made
    )
    | { t: "prototype"; of: number }
    | {
      t: "member";
      class: number;
      of: "static" | "prototype";
      key: Key;
      part: "value" | "get" | "set";
    }
  );

/** One compiled text: an expression whose value is an object of makers. */
export interface Unit {
  text: string;
  /** Marker, segments and specifier: see `stack.ts`. */
  filename: string;
}

/** A captured value: its nodes, the order in which they can be made, and the texts to compile. */
export interface Recipe {
  nodes: Node[];
  order: number[];
  units: Unit[];
  root: Slot;
}

/** A recipe as bytes: the version, then the structured-clone form. */
export function encodeRecipe(recipe: Recipe): Uint8Array {
  const body = serialize(recipe);
  const bytes = new Uint8Array(body.byteLength + 1);
  bytes[0] = RECIPE_VERSION;
  bytes.set(body, 1);
  return bytes;
}

/** @throws {ClosureRestoreError} when the version is unknown or the bytes are damaged. */
export function decodeRecipe(bytes: Uint8Array): Recipe {
  if (bytes.length < 2) {
    throw new ClosureRestoreError(
      `Cannot restore a closure from ${bytes.length} bytes: the capture is empty.`,
    );
  }
  if (bytes[0] !== RECIPE_VERSION) {
    throw new ClosureRestoreError(
      `Cannot restore a closure: its format is version ${
        bytes[0]
      }, this build reads version ${RECIPE_VERSION}.`,
    );
  }
  let recipe: Recipe;
  try {
    recipe = deserialize(bytes.subarray(1)) as Recipe;
  } catch (cause) {
    throw new ClosureRestoreError(
      "Cannot restore a closure: its bytes are damaged.",
      { cause },
    );
  }
  if (
    typeof recipe !== "object" || recipe === null ||
    !Array.isArray(recipe.nodes) ||
    !Array.isArray(recipe.order) || !Array.isArray(recipe.units)
  ) {
    throw new ClosureRestoreError(
      "Cannot restore a closure: its bytes hold something else.",
    );
  }
  return recipe;
}
