import { ByteWriter } from "../../rpc/bytes.ts";
import {
  type ClassData,
  type ClassDescriptor,
  type Content,
  type FieldDescriptor,
  type JavaArray,
  type JavaObject,
  type JavaReference,
  type JavaValue,
  type TypeCode,
} from "./graph.ts";
import {
  isAnnotated,
  isExternalizable,
  superclassWithData,
} from "./hierarchy.ts";
import {
  elementType,
  fits,
  isReferenceCode,
  writePrimitive,
} from "./primitives.ts";
import {
  FIRST_HANDLE,
  MAX_SHORT_BLOCK,
  MAX_SHORT_STRING,
  STREAM_MAGIC,
  STREAM_VERSION,
  Tag,
} from "./tags.ts";

/**
 * Writes a stream as a JVM does: what comes a second time is a reference to
 * the first, by identity. What `readJavaStream` gave becomes the same bytes.
 *
 * @throws {TypeError} when the graph is no proper one; a mistake of the caller.
 */
export function writeJavaStream(
  contents: readonly Content[],
  writer: ByteWriter,
): void {
  writer.u16(STREAM_MAGIC);
  writer.u16(STREAM_VERSION);
  const stream = new StreamWriter(writer);
  for (const content of contents) {
    if (content?.kind === "reset") stream.reset();
    else stream.content(content);
  }
}

/** Writes a stream of one object. */
export function writeJavaObject(
  object: JavaReference,
  writer: ByteWriter,
): void {
  writeJavaStream([object], writer);
}

/** The bytes of a stream of one object. */
export function javaObjectBytes(object: JavaReference): Uint8Array {
  const writer = new ByteWriter();
  writeJavaObject(object, writer);
  return writer.written().slice();
}

type Handled = Exclude<JavaReference, null>;

class StreamWriter {
  readonly #out: ByteWriter;
  readonly #handles = new Map<Handled, number>();

  constructor(out: ByteWriter) {
    this.#out = out;
  }

  content(content: Content): void {
    if (content?.kind === "block") return this.#block(content.bytes);
    if (content?.kind === "reset") {
      throw new TypeError("Handles cannot be reset within an object.");
    }
    this.#reference(content);
  }

  reset(): void {
    this.#out.u8(Tag.RESET);
    this.#handles.clear();
  }

  #block(bytes: Uint8Array): void {
    if (bytes.length <= MAX_SHORT_BLOCK) {
      this.#out.u8(Tag.BLOCK);
      this.#out.u8(bytes.length);
    } else {
      this.#out.u8(Tag.LONG_BLOCK);
      this.#out.i32(bytes.length);
    }
    this.#out.bytes(bytes);
  }

  #reference(value: JavaReference): void {
    if (value === null) return this.#out.u8(Tag.NULL);
    const handle = this.#handles.get(value);
    if (handle !== undefined) {
      this.#out.u8(Tag.REFERENCE);
      return this.#out.i32(handle);
    }
    switch (value.kind) {
      case "object":
        this.#out.u8(Tag.OBJECT);
        this.#reference(value.descriptor);
        this.#assign(value);
        return this.#classesOf(value);
      case "string":
        this.#assign(value);
        return this.#string(value.value);
      case "array":
        this.#out.u8(Tag.ARRAY);
        this.#reference(value.descriptor);
        this.#assign(value);
        return this.#elements(value);
      case "enum":
        this.#out.u8(Tag.ENUM);
        this.#reference(value.descriptor);
        this.#assign(value);
        return this.#reference(value.constant);
      case "class":
        this.#out.u8(Tag.CLASS);
        this.#reference(value.descriptor);
        return this.#assign(value);
      case "descriptor":
        return value.proxyInterfaces === null
          ? this.#descriptor(value)
          : this.#proxyDescriptor(value, value.proxyInterfaces);
    }
  }

  #assign(value: Handled): void {
    const count = this.#handles.size;
    this.#handles.set(value, FIRST_HANDLE + count);
    if (this.#handles.size === count) {
      throw new TypeError(
        `The descriptor of a graph's ${value.kind} holds that ${value.kind}.`,
      );
    }
  }

  /** The length is known only after the text, and decides on the tag. */
  #string(value: string): void {
    const out = this.#out;
    const start = out.length;
    // The longest that a text of so many code units can get.
    if (value.length * 3 <= MAX_SHORT_STRING) {
      out.u8(Tag.STRING);
      return out.utf(value);
    }
    out.u8(Tag.LONG_STRING);
    out.i64(0);
    const size = out.modifiedUtf8(value);
    if (size > MAX_SHORT_STRING) return out.setI64(start + 1, size);
    out.truncate(start);
    out.u8(Tag.STRING);
    out.utf(value);
  }

  #descriptor(descriptor: ClassDescriptor): void {
    const out = this.#out;
    out.u8(Tag.CLASS_DESCRIPTOR);
    out.utf(descriptor.name);
    out.i64(descriptor.serialVersionUID);
    this.#assign(descriptor);
    out.u8(descriptor.flags);
    out.u16(descriptor.fields.length);
    for (const { type, name, className } of descriptor.fields) {
      out.u8(type.charCodeAt(0));
      out.utf(name);
      if (isReferenceCode(type) !== (className !== null)) {
        throw new TypeError(
          `The field ${name} of ${descriptor.name} has a wrong type.`,
        );
      }
      if (className !== null) this.#reference(className);
    }
    this.#endOfDescriptor(descriptor);
  }

  #proxyDescriptor(
    descriptor: ClassDescriptor,
    interfaces: readonly string[],
  ): void {
    this.#out.u8(Tag.PROXY_CLASS_DESCRIPTOR);
    this.#assign(descriptor);
    this.#out.i32(interfaces.length);
    for (const name of interfaces) this.#out.utf(name);
    this.#endOfDescriptor(descriptor);
  }

  #endOfDescriptor({ annotation, superclass }: ClassDescriptor): void {
    this.#annotation(annotation);
    this.#reference(superclass);
  }

  #annotation(contents: readonly Content[]): void {
    for (const content of contents) this.content(content);
    this.#out.u8(Tag.END);
  }

  #classesOf({ descriptor, data }: JavaObject): void {
    let each: ClassDescriptor | null = descriptor;
    for (let i = data.length - 1; i >= 0; i--) {
      if (each === null || data[i].descriptor !== each) {
        throw new TypeError(
          `An object of ${descriptor.name} holds what its classes don't have.`,
        );
      }
      each = superclassWithData(each);
    }
    if (each !== null) {
      throw new TypeError(
        `An object of ${descriptor.name} lacks what ${each.name} holds.`,
      );
    }
    for (const part of data) this.#classData(part);
  }

  #classData({ descriptor, values, annotation }: ClassData): void {
    const { name, fields } = descriptor;
    const count = isExternalizable(descriptor) ? 0 : fields.length;
    if (
      values.length !== count ||
      isAnnotated(descriptor) !== (annotation !== null)
    ) {
      throw new TypeError(
        `An object's part of ${name} doesn't fit its descriptor.`,
      );
    }
    for (let i = 0; i < count; i++) this.#field(name, fields[i], values[i]);
    if (annotation !== null) this.#annotation(annotation);
  }

  #field(
    className: string,
    { type, name }: FieldDescriptor,
    value: JavaValue,
  ): void {
    if (!fits(type, value)) {
      throw new TypeError(
        `The field ${name} of ${className} is of type ${type}, and cannot ` +
          `be ${shown(value)}.`,
      );
    }
    this.#value(type, value);
  }

  #elements({ descriptor, values }: JavaArray): void {
    const { name } = descriptor;
    const type = elementType(name);
    if (type === undefined) {
      throw new TypeError(`An array is of ${name}, which is no array class.`);
    }
    this.#out.i32(values.length);
    if (values instanceof Uint8Array) {
      if (type === "B") return this.#out.bytes(values);
      throw new TypeError(`An array of ${name} is made of bytes.`);
    }
    for (const value of values) {
      if (!fits(type, value)) {
        throw new TypeError(`An array of ${name} cannot hold ${shown(value)}.`);
      }
      this.#value(type, value);
    }
  }

  /** The value fits the type. */
  #value(type: TypeCode, value: JavaValue): void {
    return isReferenceCode(type)
      ? this.#reference(value as JavaReference)
      : writePrimitive(this.#out, type, value);
  }
}

function shown(value: JavaValue): string {
  return value !== null && typeof value === "object"
    ? `an object of kind ${value.kind}`
    : `${value} (${typeof value})`;
}
