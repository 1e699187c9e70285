/**
 * What those who read or build a graph need of its nodes.
 *
 * @module
 */
import {
  type ClassData,
  type ClassDescriptor,
  type Content,
  type JavaObject,
  type JavaString,
  type JavaValue,
} from "./graph.ts";
import {
  isAnnotated,
  isExternalizable,
  superclassWithData,
} from "./hierarchy.ts";
import { initialValue } from "./primitives.ts";

/**
 * The value of an object's field; undefined when no class of it has such a
 * field. Of fields of one name the most derived class's counts.
 */
export function fieldOf(
  object: JavaObject,
  name: string,
): JavaValue | undefined {
  for (let i = object.data.length - 1; i >= 0; i--) {
    const { descriptor, values } = object.data[i];
    const at = descriptor.fields.findIndex((field) => field.name === name);
    if (at >= 0 && at < values.length) return values[at];
  }
  return undefined;
}

/** What the object's own class wrote beside its fields. */
export function annotationOf(object: JavaObject): readonly Content[] {
  return object.data.at(-1)?.annotation ?? [];
}

export function javaString(value: string): JavaString {
  return { kind: "string", value };
}

/**
 * An object of a class, with its fields by name, whichever of its classes
 * declares them. Those not given are 0, false or null, as in Java. The
 * annotation is that of the class itself.
 *
 * @throws {TypeError} for a field that no class of it has, and for an
 * annotation when the class writes none.
 */
export function newObject(
  descriptor: ClassDescriptor,
  fields: Readonly<Record<string, JavaValue>>,
  annotation: readonly Content[] = [],
): JavaObject {
  const left = new Map(Object.entries(fields));
  if (annotation.length > 0 && !isAnnotated(descriptor)) {
    throw new TypeError(`${descriptor.name} writes nothing beside its fields.`);
  }
  const data: ClassData[] = [];
  for (
    let each: ClassDescriptor | null = descriptor;
    each !== null;
    each = superclassWithData(each)
  ) {
    const declared = isExternalizable(each) ? [] : each.fields;
    const values = declared.map(({ name, type }) => {
      const value = left.get(name);
      left.delete(name);
      return value === undefined ? initialValue(type) : value;
    });
    data.unshift({
      descriptor: each,
      values,
      annotation: isAnnotated(each)
        ? each === descriptor ? annotation : []
        : null,
    });
  }
  if (left.size > 0) {
    throw new TypeError(
      `${descriptor.name} has no field ${[...left.keys()].join(", ")}.`,
    );
  }
  return { kind: "object", descriptor, data };
}
