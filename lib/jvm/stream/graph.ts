/**
 * What a Java object stream holds, without loss: written again it gives the
 * same bytes. Two references to one object are one object here too, so
 * identity means what it means in Java; nothing is looked up by name, and no
 * class is needed to read it.
 *
 * Names are those of the Java Object Serialization Specification, chapter 6.
 *
 * @module
 */

/** What a reference can point at. */
export type JavaReference =
  | JavaObject
  | JavaString
  | JavaArray
  | JavaEnum
  | JavaClass
  | ClassDescriptor
  | null;

/** The value of a field or of an array's element. */
export type JavaValue = JavaReference | number | bigint | boolean;

/**
 * The kinds of values by their letter in a descriptor: byte, char, double,
 * float, int, long, short, boolean, array, object. A `J` is a bigint, a `Z` a
 * boolean, the other primitives are numbers (`C` a UTF-16 code unit).
 */
export type TypeCode =
  | "B"
  | "C"
  | "D"
  | "F"
  | "I"
  | "J"
  | "S"
  | "Z"
  | "["
  | "L";

/** A field as a class descriptor declares it. */
export interface FieldDescriptor {
  readonly type: TypeCode;
  readonly name: string;
  /** The field's type, such as `Ljava/lang/String;`; null for a primitive. */
  readonly className: JavaString | null;
}

/** A class as the peer knows it. Also a value of type ObjectStreamClass. */
export interface ClassDescriptor {
  readonly kind: "descriptor";
  readonly name: string;
  readonly serialVersionUID: bigint;
  /** A sum of `ClassFlag`s. */
  readonly flags: number;
  /** In the order of their values in an object: primitives first, by name. */
  readonly fields: readonly FieldDescriptor[];
  readonly annotation: readonly Content[];
  readonly superclass: ClassDescriptor | null;
  /** The interfaces of a dynamic proxy class, which has no name or fields. */
  readonly proxyInterfaces: readonly string[] | null;
}

export const ClassFlag = {
  /** The class has a `writeObject`: an annotation follows its fields. */
  WRITE_METHOD: 1,
  SERIALIZABLE: 2,
  EXTERNALIZABLE: 4,
  /** An externalizable's data comes as block data. */
  BLOCK_DATA: 8,
  ENUM: 16,
} as const;

export interface JavaObject {
  readonly kind: "object";
  readonly descriptor: ClassDescriptor;
  /**
   * One for each serializable class, the topmost superclass first; for an
   * externalizable one alone, of its own class.
   */
  readonly data: readonly ClassData[];
}

/** What one class of an object's hierarchy holds. */
export interface ClassData {
  readonly descriptor: ClassDescriptor;
  /** One for each field of the descriptor, in its order. */
  readonly values: readonly JavaValue[];
  /** What its `writeObject` or `writeExternal` wrote; null if it has none. */
  readonly annotation: readonly Content[] | null;
}

export interface JavaString {
  readonly kind: "string";
  readonly value: string;
}

export interface JavaArray {
  readonly kind: "array";
  readonly descriptor: ClassDescriptor;
  /** Bytes as they are; other elements one by one. */
  readonly values: Uint8Array | readonly JavaValue[];
}

export interface JavaEnum {
  readonly kind: "enum";
  readonly descriptor: ClassDescriptor;
  readonly constant: JavaString;
}

/** A value of type `java.lang.Class`. */
export interface JavaClass {
  readonly kind: "class";
  readonly descriptor: ClassDescriptor;
}

/** Primitive data that was written outside of fields: one block as it came. */
export interface BlockData {
  readonly kind: "block";
  readonly bytes: Uint8Array;
}

/** Handles start anew from here. */
export interface Reset {
  readonly kind: "reset";
}

/** One item of a stream, or of an annotation. */
export type Content = JavaReference | BlockData | Reset;
