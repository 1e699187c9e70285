import type { PeerDescriptors } from "../descriptors/mod.ts";
import {
  fieldOf,
  type JavaObject,
  type JavaValue,
  newObject,
} from "../stream/mod.ts";
import { moduleObject } from "./modules.ts";
import { UnexpectedValueError } from "./unexpected.ts";

/**
 * The position of a value of a Scala `Enumeration`; its name is not sent.
 *
 * @throws {UnexpectedValueError} when it is no such value.
 */
export function readEnumeration(value: JavaValue): number {
  if (value !== null && typeof value === "object" && value.kind === "object") {
    const position = fieldOf(value, "i");
    if (typeof position === "number") return position;
  }
  throw new UnexpectedValueError("a value of an enumeration", value);
}

/** The value at a position; `className` is that of the enumeration's object. */
export function writeEnumeration(
  className: string,
  position: number,
  descriptors: PeerDescriptors,
): JavaObject {
  const outer = moduleObject(className, descriptors);
  return newObject(descriptors.get("scala.Enumeration$Val"), {
    $outer: outer,
    scala$Enumeration$$outerEnum: outer,
    i: position,
  });
}
