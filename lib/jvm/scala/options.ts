import type { PeerDescriptors } from "../descriptors/mod.ts";
import { fieldOf, type JavaValue, newObject } from "../stream/mod.ts";
import { moduleObject, moduleOf } from "./modules.ts";
import { UnexpectedValueError } from "./unexpected.ts";

/**
 * What an `Option` holds; undefined for None.
 *
 * @throws {UnexpectedValueError} when the value is no option.
 */
export function readOption(value: JavaValue): JavaValue | undefined {
  if (moduleOf(value) === "scala.None$") return undefined;
  if (
    value !== null && typeof value === "object" && value.kind === "object" &&
    value.descriptor.name === "scala.Some"
  ) return fieldOf(value, "value") ?? null;
  throw new UnexpectedValueError("an Option", value);
}

/** `Some` of a value, or None for undefined. */
export function writeOption(
  value: JavaValue | undefined,
  descriptors: PeerDescriptors,
): JavaValue {
  return value === undefined
    ? moduleObject("scala.None$", descriptors)
    : newObject(descriptors.get("scala.Some"), { value });
}
