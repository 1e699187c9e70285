import type { PeerDescriptors } from "../descriptors/mod.ts";
import {
  fieldOf,
  type JavaObject,
  type JavaValue,
  newObject,
} from "../stream/mod.ts";
import { UnexpectedValueError } from "./unexpected.ts";

/** A number as Java boxes it: an object of Integer, Long, Double and so on. */
export function unboxNumber(value: JavaValue): number {
  if (value !== null && typeof value === "object" && value.kind === "object") {
    const inner = fieldOf(value, "value");
    if (typeof inner === "number") return inner;
    if (typeof inner === "bigint") return Number(inner);
  }
  throw new UnexpectedValueError("a boxed number", value);
}

export function boxInteger(
  value: number,
  descriptors: PeerDescriptors,
): JavaObject {
  return newObject(descriptors.get("java.lang.Integer"), { value });
}

export function boxBoolean(
  value: boolean,
  descriptors: PeerDescriptors,
): JavaObject {
  return newObject(descriptors.get("java.lang.Boolean"), { value });
}
