import {
  type ClassDescriptor,
  type FieldDescriptor,
  javaString,
  type TypeCode,
} from "../stream/mod.ts";
import data from "./descriptors.json" with { type: "json" };

/** Releases of Spark whose classes have the same descriptors. */
export interface SparkLine {
  /** As a person calls it, such as `4.1/4.2`. */
  readonly name: string;
  /** The Scala that its classes are made with, and whose values they hold. */
  readonly scala: ScalaLine;
  /** The releases whose classes were compared. */
  readonly releases: readonly string[];
}

export type ScalaLine = "2.12" | "2.13";

/** A class's descriptor as some lines have it, as it stands in the table. */
interface TableEntry {
  /** Indexes of lines. */
  readonly lines: readonly number[];
  readonly uid: string;
  readonly flags: number;
  /** The type's code and the name, and for a reference its type. */
  readonly fields: readonly string[];
  readonly super: string | null;
}

/** The lines that sparkts knows, the oldest first. */
export const SPARK_LINES = data.lines as readonly SparkLine[];

const CLASSES = new Map(
  Object.entries(data.classes as Record<string, readonly TableEntry[]>),
);

/** A class as a line has it; undefined when the table doesn't have it. */
export interface KnownClass {
  readonly serialVersionUID: bigint;
  readonly lines: readonly SparkLine[];
  /** Its descriptor, with the one of its superclass as `superclassOf` says. */
  describe(
    superclassOf: (name: string) => ClassDescriptor,
  ): ClassDescriptor;
}

/** The forms in which the lines have a class; empty for an unknown one. */
export function knownForms(className: string): KnownClass[] {
  return (CLASSES.get(className) ?? []).map((entry) => ({
    serialVersionUID: BigInt(entry.uid),
    lines: entry.lines.map((index) => SPARK_LINES[index]),
    describe: (superclassOf) => ({
      kind: "descriptor",
      name: className,
      serialVersionUID: BigInt(entry.uid),
      flags: entry.flags,
      fields: entry.fields.map(readField),
      annotation: [],
      superclass: entry.super === null ? null : superclassOf(entry.super),
      proxyInterfaces: null,
    }),
  }));
}

/** All classes that the table has. */
export function knownClassNames(): string[] {
  return [...CLASSES.keys()];
}

function readField(text: string): FieldDescriptor {
  const [type, name, className] = text.split(" ");
  return {
    type: type as TypeCode,
    name,
    className: className === undefined ? null : javaString(className),
  };
}
