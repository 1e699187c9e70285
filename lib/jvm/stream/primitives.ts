/**
 * The values of fields and elements by their type, both ways.
 *
 * @module
 */
import {
  type ByteReader,
  type ByteWriter,
  MalformedBytesError,
} from "../../rpc/bytes.ts";
import type { JavaValue, TypeCode } from "./graph.ts";

/** The types of which a value is a reference. */
export type ReferenceCode = "[" | "L";
export type PrimitiveCode = Exclude<TypeCode, ReferenceCode>;

const TYPE_CODES: ReadonlySet<string> = new Set("BCDFIJSZ[L");

export function isTypeCode(code: string): code is TypeCode {
  return TYPE_CODES.has(code);
}

export function isReferenceCode(type: TypeCode): type is ReferenceCode {
  return type === "[" || type === "L";
}

/** What an array holds, by the name of its class; undefined for other names. */
export function elementType(className: string): TypeCode | undefined {
  const code = className[1] ?? "";
  if (className[0] !== "[" || !isTypeCode(code)) return undefined;
  return isReferenceCode(code) || className.length === 2 ? code : undefined;
}

/** What a field is that nobody has set. */
export function initialValue(type: TypeCode): JavaValue {
  switch (type) {
    case "J":
      return 0n;
    case "Z":
      return false;
    case "L":
    case "[":
      return null;
    default:
      return 0;
  }
}

const INTEGER_RANGES = {
  B: [-0x80, 0x7f],
  C: [0, 0xffff],
  I: [-0x8000_0000, 0x7fff_ffff],
  S: [-0x8000, 0x7fff],
} as const;

/** Whether a field or an element of that type can hold the value. */
export function fits(type: TypeCode, value: JavaValue): boolean {
  switch (type) {
    case "B":
    case "C":
    case "I":
    case "S": {
      const [least, most] = INTEGER_RANGES[type];
      return Number.isInteger(value) && value as number >= least &&
        value as number <= most;
    }
    case "D":
    case "F":
      return typeof value === "number";
    case "J":
      return typeof value === "bigint" && BigInt.asIntN(64, value) === value;
    case "Z":
      return typeof value === "boolean";
    case "[":
    case "L":
      return typeof value === "object";
  }
}

/** @throws {MalformedBytesError} when no JVM writes a value so. */
export function readPrimitive(
  reader: ByteReader,
  type: PrimitiveCode,
): JavaValue {
  switch (type) {
    case "B":
      return reader.u8() << 24 >> 24;
    case "C":
      return reader.u16();
    case "D":
      return readFloat(reader, 8);
    case "F":
      return readFloat(reader, 4);
    case "I":
      return reader.i32();
    case "J":
      return BigInt(reader.anyI64());
    case "S":
      return reader.u16() << 16 >> 16;
    case "Z": {
      const value = reader.u8();
      if (value > 1) throw new MalformedBytesError(`A boolean is ${value}.`);
      return value === 1;
    }
  }
}

/** Of a type that the value `fits`. */
export function writePrimitive(
  writer: ByteWriter,
  type: PrimitiveCode,
  value: JavaValue,
): void {
  switch (type) {
    case "B":
      return writer.u8(value as number);
    case "C":
    case "S":
      return writer.u16(value as number);
    case "D":
      if (!Number.isNaN(value)) return writer.f64(value as number);
      writer.i32(DOUBLE_NAN);
      return writer.i32(0);
    case "F":
      if (!Number.isNaN(value)) return writer.f32(value as number);
      return writer.i32(FLOAT_NAN);
    case "I":
      return writer.i32(value as number);
    case "J":
      return writer.i64(value as bigint);
    case "Z":
      return writer.u8(value === true ? 1 : 0);
  }
}

// There are many NaNs. A JVM writes but one of them, whichever it has; here
// they cannot be told apart, and what a number's bytes are is left open.

/** The upper half of it; the lower is 0. */
const DOUBLE_NAN = 0x7ff8_0000;
const FLOAT_NAN = 0x7fc0_0000;

function readFloat(reader: ByteReader, size: 4 | 8): number {
  const { buffer, byteOffset } = reader.bytes(size);
  const view = new DataView(buffer, byteOffset, size);
  const value = size === 4 ? view.getFloat32(0) : view.getFloat64(0);
  if (
    Number.isNaN(value) &&
    (size === 4
      ? view.getInt32(0) !== FLOAT_NAN
      : view.getInt32(0) !== DOUBLE_NAN || view.getInt32(4) !== 0)
  ) {
    throw new MalformedBytesError("A number is a NaN that no JVM writes.");
  }
  return value;
}
