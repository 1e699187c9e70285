import type { PeerDescriptors } from "../descriptors/mod.ts";
import {
  type ClassDescriptor,
  fieldOf,
  type JavaObject,
  type JavaValue,
  newObject,
} from "../stream/mod.ts";

const MODULE_PROXY = "scala.runtime.ModuleSerializationProxy";

/**
 * The class of a Scala `object`, such as `scala.None$`; undefined for other
 * values. Scala 2.12 writes the object itself, 2.13 a proxy that names it.
 */
export function moduleOf(value: JavaValue): string | undefined {
  if (value === null || typeof value !== "object") return undefined;
  if (value.kind !== "object") return undefined;
  const { name } = value.descriptor;
  if (name !== MODULE_PROXY) return name.endsWith("$") ? name : undefined;
  const type = fieldOf(value, "moduleClass");
  return type !== null && typeof type === "object" && type.kind === "class"
    ? type.descriptor.name
    : undefined;
}

/** One object a class, so that a message refers to it where it comes again. */
const moduleObjects = new WeakMap<ClassDescriptor, JavaObject>();

/** A Scala `object`, by the name of its class, with the `$` at its end. */
export function moduleObject(
  className: string,
  descriptors: PeerDescriptors,
): JavaObject {
  const descriptor = descriptors.get(className);
  let object = moduleObjects.get(descriptor);
  if (object === undefined) {
    // A reader takes its own module, whatever the fields here hold.
    object = descriptors.scala === "2.12"
      ? newObject(descriptor, {})
      : newObject(descriptors.get(MODULE_PROXY), {
        moduleClass: { kind: "class", descriptor },
      });
    moduleObjects.set(descriptor, object);
  }
  return object;
}
