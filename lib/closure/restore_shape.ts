import type { Key, Node, Slot } from "./recipe.ts";

/** Gives a restored object its own properties and, last, what makes it fixed. */
export function finishShape(
  made: unknown,
  node: Node,
  valueOf: (slot: Slot) => unknown,
): void {
  const { props, descriptors, integrity } = node;
  if (
    props === undefined && descriptors === undefined &&
    integrity === undefined && node.proto === undefined
  ) return;
  const object = made as Record<PropertyKey, unknown>;
  const keyOf = (key: Key) =>
    typeof key === "string" ? key : valueOf(key) as symbol;
  if (
    node.t === "function" || node.t === "class" || node.t === "prototype" ||
    node.t === "bound"
  ) {
    if (node.proto !== undefined) {
      Object.setPrototypeOf(object, valueOf(node.proto) as object | null);
    }
  }
  for (const [key, slot] of props ?? []) {
    const name = keyOf(key);
    const value = valueOf(slot);
    // Assignment keeps objects in their fast form, where nothing inherited can catch it.
    const found = Object.getOwnPropertyDescriptor(object, name);
    if (found === undefined ? name in object : found.writable !== true) {
      Object.defineProperty(object, name, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } else {
      object[name] = value;
    }
  }
  for (const [key, flags, parts] of descriptors ?? []) {
    const name = keyOf(key);
    const found = Object.getOwnPropertyDescriptor(object, name);
    const enumerable = (flags & 2) !== 0;
    const configurable = (flags & 4) !== 0;
    if ("value" in parts) {
      const value = valueOf(parts.value);
      const writable = (flags & 1) !== 0;
      if (
        found !== undefined && "value" in found &&
        Object.is(found.value, value) && found.writable === writable &&
        found.enumerable === enumerable && found.configurable === configurable
      ) continue;
      Object.defineProperty(object, name, {
        value,
        writable,
        enumerable,
        configurable,
      });
    } else {
      const get = valueOf(parts.get) as (() => unknown) | undefined;
      const set = valueOf(parts.set) as ((value: unknown) => void) | undefined;
      Object.defineProperty(object, name, {
        get,
        set,
        enumerable,
        configurable,
      });
    }
  }
  if (integrity === "frozen") Object.freeze(object);
  else if (integrity === "sealed") Object.seal(object);
  else if (integrity === "fixed") Object.preventExtensions(object);
}
