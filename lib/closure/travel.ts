/**
 * The key under which an engine's own object says how it travels to an executor. It is registered,
 * so that every copy of this module in a process agrees on it.
 */
export const travel: unique symbol = Symbol.for(
  "sparkts.closure.travel",
) as never;

/** How an object travels: as a `kind` and structured-cloneable `data` that `revive[kind]` takes back, or not at all. */
export type Travel =
  | { readonly kind: string; readonly data: unknown }
  | { readonly refuse: string };

/** An object that decides itself how it travels (a broadcast variable, an accumulator, a context). */
export interface Traveller {
  [travel](): Travel;
}

/** Whether the class of `value` defines `[travel]()`. Proxies are never asked. */
export function isTraveller(value: object): value is Traveller {
  let holder: object | null = value;
  while (holder !== null) {
    const found = Object.getOwnPropertyDescriptor(holder, travel);
    if (found !== undefined) return typeof found.value === "function";
    holder = Object.getPrototypeOf(holder);
  }
  return false;
}
