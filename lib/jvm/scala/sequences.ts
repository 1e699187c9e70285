import {
  annotationOf,
  type Content,
  fieldOf,
  type JavaObject,
  type JavaValue,
} from "../stream/mod.ts";
import { moduleOf } from "./modules.ts";
import { UnexpectedValueError } from "./unexpected.ts";

/** What a 2.13 collection writes in its place. */
export const DEFAULT_PROXY =
  "scala.collection.generic.DefaultSerializationProxy";

/**
 * The elements of a Scala sequence, of any of the classes that Spark sends.
 *
 * @throws {UnexpectedValueError} for another class.
 */
export function readSequence(value: JavaValue): JavaValue[] {
  if (moduleOf(value) === "scala.collection.immutable.Nil$") return [];
  if (value === null || typeof value !== "object" || value.kind !== "object") {
    throw new UnexpectedValueError("a sequence", value);
  }
  switch (value.descriptor.name) {
    case "scala.collection.immutable.List$SerializationProxy":
      return elementsUntil(
        annotationOf(value),
        "scala.collection.immutable.ListSerializeEnd$",
      );
    case DEFAULT_PROXY:
      return readProxiedElements(value);
    // Scala 2.12
    case "scala.collection.mutable.ArraySeq":
      return elementsOfArray(value, "array", fieldOf(value, "length"));
    case "scala.collection.mutable.ArrayBuffer":
      return elementsOfArray(value, "array", fieldOf(value, "size0"));
    case "scala.collection.mutable.WrappedArray$ofRef":
      return elementsOfArray(value, "array");
    // Scala 2.13
    case "scala.collection.immutable.ArraySeq$ofRef":
      return elementsOfArray(value, "unsafeArray");
    case "scala.collection.mutable.ArraySeq$ofRef":
      return elementsOfArray(value, "array");
    default:
      throw new UnexpectedValueError("a sequence", value);
  }
}

/**
 * What a `DefaultSerializationProxy` holds: a count of 4 bytes, and so many
 * elements; or the count −1, and elements up to the mark of the end.
 */
export function readProxiedElements(proxy: JavaObject): JavaValue[] {
  const [count, ...contents] = annotationOf(proxy);
  if (count?.kind !== "block" || count.bytes.length < 4) {
    throw new UnexpectedValueError("a count of elements", proxy);
  }
  const { bytes } = count;
  const size = new DataView(bytes.buffer, bytes.byteOffset).getInt32(0);
  if (size < 0) {
    return elementsUntil(
      contents,
      "scala.collection.generic.SerializeEnd$",
    );
  }
  if (size !== contents.length) {
    throw new UnexpectedValueError(`a proxy of ${size} elements`, proxy);
  }
  return contents.map(asElement);
}

function elementsUntil(
  contents: readonly Content[],
  endModule: string,
): JavaValue[] {
  const elements: JavaValue[] = [];
  for (const content of contents) {
    const element = asElement(content);
    if (moduleOf(element) === endModule) return elements;
    elements.push(element);
  }
  throw new UnexpectedValueError("the end of a list", undefined);
}

function asElement(content: Content): JavaValue {
  if (content?.kind === "block" || content?.kind === "reset") {
    throw new UnexpectedValueError("an element", undefined);
  }
  return content;
}

function elementsOfArray(
  sequence: JavaObject,
  field: string,
  length?: JavaValue,
): JavaValue[] {
  const array = fieldOf(sequence, field);
  if (
    array === null || typeof array !== "object" || array.kind !== "array" ||
    array.values instanceof Uint8Array
  ) {
    throw new UnexpectedValueError("an array", array);
  }
  return typeof length === "number"
    ? array.values.slice(0, length)
    : [...array.values];
}
