import {
  annotationOf,
  fieldOf,
  type JavaObject,
  type JavaValue,
} from "../stream/mod.ts";
import { moduleOf } from "./modules.ts";
import { DEFAULT_PROXY, readProxiedElements } from "./sequences.ts";
import { UnexpectedValueError } from "./unexpected.ts";

/** The most maps with a default around one another. */
const MAX_WRAPPERS = 16;

/**
 * The entries of a Scala map, of any of the classes that Spark sends.
 *
 * @throws {UnexpectedValueError} for another class.
 */
export function readMap(value: JavaValue): [JavaValue, JavaValue][] {
  let map = value;
  for (let depth = 0; depth < MAX_WRAPPERS; depth++) {
    if (moduleOf(map) === "scala.collection.immutable.Map$EmptyMap$") return [];
    if (map === null || typeof map !== "object" || map.kind !== "object") break;
    const { name } = map.descriptor;
    if (name === "scala.collection.immutable.Map$WithDefault") {
      map = fieldOf(map, "underlying") ?? null;
      continue;
    }
    return entriesOf(map, name);
  }
  throw new UnexpectedValueError("a map", map);
}

function entriesOf(
  map: JavaObject,
  className: string,
): [JavaValue, JavaValue][] {
  const small = /^scala\.collection\.immutable\.Map\$Map([1-4])$/.exec(
    className,
  );
  if (small !== null) {
    return Array.from({ length: Number(small[1]) }, (_, i) => [
      smallMapField(map, `key${i + 1}`),
      smallMapField(map, `value${i + 1}`),
    ]);
  }
  switch (className) {
    case DEFAULT_PROXY:
      return readProxiedElements(map).map(readPair);
    // Scala 2.12: primitive data, and then keys and values in turn.
    case "scala.collection.mutable.HashMap":
    case "scala.collection.immutable.HashMap$SerializationProxy":
      return readAlternating(map);
    default:
      throw new UnexpectedValueError("a map", map);
  }
}

/** Scala 2.13 puts the class before the name of such a field. */
function smallMapField(map: JavaObject, name: string): JavaValue {
  const mangled = `${map.descriptor.name.replaceAll(".", "$")}$$${name}`;
  let value = fieldOf(map, name);
  if (value === undefined) value = fieldOf(map, mangled);
  if (value === undefined) throw new UnexpectedValueError("a map", map);
  return value;
}

function readPair(pair: JavaValue): [JavaValue, JavaValue] {
  if (
    pair === null || typeof pair !== "object" || pair.kind !== "object" ||
    pair.descriptor.name !== "scala.Tuple2"
  ) {
    throw new UnexpectedValueError("a pair", pair);
  }
  return [fieldOf(pair, "_1") ?? null, fieldOf(pair, "_2") ?? null];
}

function readAlternating(map: JavaObject): [JavaValue, JavaValue][] {
  const values: JavaValue[] = [];
  for (const content of annotationOf(map)) {
    if (content?.kind !== "block" && content?.kind !== "reset") {
      values.push(content);
    }
  }
  if (values.length % 2 !== 0) {
    throw new UnexpectedValueError("keys with values", map);
  }
  return Array.from({ length: values.length / 2 }, (_, i) => [
    values[i * 2],
    values[i * 2 + 1],
  ]);
}
