import { ByteReader, MalformedBytesError } from "../../rpc/bytes.ts";
import {
  type BlockData,
  type ClassData,
  type ClassDescriptor,
  ClassFlag,
  type Content,
  type FieldDescriptor,
  type JavaArray,
  type JavaClass,
  type JavaEnum,
  type JavaObject,
  type JavaReference,
  type JavaString,
  type JavaValue,
  type TypeCode,
} from "./graph.ts";
import {
  isAnnotated,
  isExternalizable,
  superclassWithData,
} from "./hierarchy.ts";
import {
  DEFAULT_JAVA_STREAM_LIMITS,
  JavaStreamError,
  type JavaStreamLimits,
} from "./limits.ts";
import {
  elementType,
  isReferenceCode,
  isTypeCode,
  readPrimitive,
} from "./primitives.ts";
import { shown } from "./shown.ts";
import {
  FIRST_HANDLE,
  MAX_SHORT_BLOCK,
  MAX_SHORT_STRING,
  STREAM_MAGIC,
  STREAM_VERSION,
  Tag,
} from "./tags.ts";

export interface JavaStreamOptions {
  readonly limits?: Partial<JavaStreamLimits>;
  /** Told of each class that the stream describes, once it is complete. */
  readonly onDescriptor?: (descriptor: ClassDescriptor) => void;
}

/**
 * Reads a whole stream: all that was written to it, in order.
 *
 * Needs no classes and makes none: what it gives are descriptions. It takes
 * only what a JVM writes, so that `writeJavaStream` gives the same bytes back.
 * A class that breaks the specification's rule for `writeObject`, to write its
 * fields before all else, is misread or refused: only its own code knows what
 * it wrote. So is one that used version 1 of the protocol and wrote itself.
 *
 * @throws {JavaStreamError} saying at which byte, and what is wrong there.
 */
export function readJavaStream(
  bytes: Uint8Array,
  options: JavaStreamOptions = {},
): Content[] {
  return new StreamReader(bytes, options).readAll();
}

/**
 * Reads a stream to which one object was written, and nothing else.
 *
 * @throws {JavaStreamError} saying at which byte, and what is wrong there.
 */
export function readJavaObject(
  bytes: Uint8Array,
  options: JavaStreamOptions = {},
): JavaReference {
  const contents = readJavaStream(bytes, options);
  const [content] = contents;
  if (
    contents.length !== 1 || content?.kind === "block" ||
    content?.kind === "reset"
  ) {
    throw new JavaStreamError(bytes.length, "it is not one object alone");
  }
  return content;
}

/** While an object is read, references to it may come: it is filled later. */
type Growing<T> = { -readonly [K in keyof T]: T[K] };

type Handled = Exclude<JavaReference, null>;

class StreamReader {
  readonly #in: ByteReader;
  readonly #limits: JavaStreamLimits;
  readonly #onDescriptor: JavaStreamOptions["onDescriptor"];
  readonly #hierarchies = new Map<ClassDescriptor, ClassDescriptor[]>();
  readonly #empty = new Map<ClassDescriptor, ClassData>();
  /** Descriptors of which the end has not been read. */
  readonly #incomplete = new Set<ClassDescriptor>();
  #handles: Handled[] = [];
  #handleCount = 0;
  #valueCount = 0;
  #depth = 0;

  constructor(bytes: Uint8Array, options: JavaStreamOptions) {
    this.#in = new ByteReader(bytes);
    this.#limits = { ...DEFAULT_JAVA_STREAM_LIMITS, ...options.limits };
    this.#onDescriptor = options.onDescriptor;
  }

  readAll(): Content[] {
    try {
      const magic = this.#in.u16();
      const version = this.#in.u16();
      if (magic !== STREAM_MAGIC || version !== STREAM_VERSION) {
        this.#fail("it does not begin with AC ED 00 05");
      }
      const contents: Content[] = [];
      while (this.#in.remaining > 0) {
        contents.push(this.#content(this.#in.u8()));
      }
      return contents;
    } catch (error) {
      if (
        !(error instanceof MalformedBytesError) ||
        error instanceof JavaStreamError
      ) throw error;
      const { message } = error;
      const reason = message[0].toLowerCase() +
        message.slice(1).replace(/\.$/, "");
      throw new JavaStreamError(this.#in.position, reason, { cause: error });
    }
  }

  #content(tag: number): Content {
    switch (tag) {
      case Tag.BLOCK:
        return this.#block(this.#in.u8());
      case Tag.LONG_BLOCK: {
        const length = this.#in.i32();
        if (length <= MAX_SHORT_BLOCK) {
          this.#fail(`a long block has a length of ${length}`);
        }
        return this.#block(length);
      }
      case Tag.RESET:
        if (this.#depth > 0) this.#fail("handles are reset within an object");
        this.#handles = [];
        return { kind: "reset" };
      default:
        return this.#reference(tag);
    }
  }

  #block(length: number): BlockData {
    return { kind: "block", bytes: this.#in.bytes(length).slice() };
  }

  #reference(tag: number): JavaReference {
    if (tag === Tag.NULL) return null;
    if (tag === Tag.REFERENCE) return this.#earlier();
    if (this.#depth >= this.#limits.depth) {
      this.#fail(`objects lie in one another more than ${this.#depth} deep`);
    }
    this.#depth++;
    const value = this.#newReference(tag);
    this.#depth--;
    return value;
  }

  #newReference(tag: number): Handled {
    switch (tag) {
      case Tag.OBJECT:
        return this.#object();
      case Tag.STRING:
      case Tag.LONG_STRING:
        return this.#string(tag);
      case Tag.ARRAY:
        return this.#array();
      case Tag.ENUM:
        return this.#enum();
      case Tag.CLASS: {
        const descriptor = this.#classOf("a class");
        return this.#assign<JavaClass>({ kind: "class", descriptor });
      }
      case Tag.CLASS_DESCRIPTOR:
        return this.#descriptor();
      case Tag.PROXY_CLASS_DESCRIPTOR:
        return this.#proxyDescriptor();
      case Tag.EXCEPTION:
        return this.#fail("its writer failed and wrote an exception");
      default:
        return this.#fail(`0x${tag.toString(16)} begins nothing known`);
    }
  }

  #earlier(): Handled {
    const handle = this.#in.i32();
    const value = this.#handles[handle - FIRST_HANDLE];
    if (value === undefined) {
      this.#fail(`the handle 0x${(handle >>> 0).toString(16)} is not given`);
    }
    return value;
  }

  #assign<T extends Handled>(value: T): T {
    if (++this.#handleCount > this.#limits.handles) {
      this.#fail(`it holds more than ${this.#limits.handles} objects`);
    }
    this.#handles.push(value);
    return value;
  }

  // Strings

  #string(tag: number): JavaString {
    const { stringBytes } = this.#limits;
    let length: number;
    if (tag === Tag.STRING) {
      length = this.#in.u16();
    } else {
      length = this.#in.i64();
      if (length <= MAX_SHORT_STRING || length > stringBytes) {
        this.#fail(`a long string has a length of ${length}`);
      }
    }
    const value = this.#in.modifiedUtf8(length);
    return this.#assign({ kind: "string", value });
  }

  /** Where only a string may stand: a field's type, or an enum's constant. */
  #expectString(what: string, name = ""): JavaString {
    const value = this.#reference(this.#in.u8());
    if (value?.kind !== "string") {
      this.#fail(`${what}${shown(name)} is not a string`);
    }
    return value;
  }

  // Descriptors

  /** A descriptor or null: of a superclass. */
  #descriptorOrNull(): ClassDescriptor | null {
    const value = this.#reference(this.#in.u8());
    if (value !== null && value.kind !== "descriptor") {
      this.#fail(`a ${value.kind} stands where a class descriptor should`);
    }
    return value;
  }

  #classOf(what: string): ClassDescriptor {
    const descriptor = this.#descriptorOrNull();
    if (descriptor === null) this.#fail(`${what} has no descriptor`);
    if (this.#incomplete.has(descriptor)) {
      this.#fail(`${what} is of the class that is being described`);
    }
    return descriptor;
  }

  #descriptor(): ClassDescriptor {
    const descriptor: Growing<ClassDescriptor> = {
      kind: "descriptor",
      name: this.#in.utf(),
      serialVersionUID: BigInt(this.#in.anyI64()),
      flags: 0,
      fields: [],
      annotation: [],
      superclass: null,
      proxyInterfaces: null,
    };
    this.#assign(descriptor);
    this.#incomplete.add(descriptor);
    descriptor.flags = this.#in.u8();
    const { SERIALIZABLE, EXTERNALIZABLE } = ClassFlag;
    const either = SERIALIZABLE | EXTERNALIZABLE;
    if ((descriptor.flags & either) === either) {
      this.#fail(
        `${shown(descriptor.name)} is both serializable and externalizable`,
      );
    }
    const fields: FieldDescriptor[] = [];
    for (let left = this.#in.u16(); left > 0; left--) {
      fields.push(this.#field());
    }
    descriptor.fields = fields;
    return this.#completeDescriptor(descriptor);
  }

  #field(): FieldDescriptor {
    const type = String.fromCharCode(this.#in.u8());
    if (!isTypeCode(type)) this.#fail("a field is of no known type");
    const name = this.#in.utf();
    const className = isReferenceCode(type)
      ? this.#expectString("the type of the field ", name)
      : null;
    return { type, name, className };
  }

  #proxyDescriptor(): ClassDescriptor {
    const proxyInterfaces: string[] = [];
    const descriptor: Growing<ClassDescriptor> = {
      kind: "descriptor",
      name: "",
      serialVersionUID: 0n,
      flags: ClassFlag.SERIALIZABLE,
      fields: [],
      annotation: [],
      superclass: null,
      proxyInterfaces,
    };
    this.#assign(descriptor);
    this.#incomplete.add(descriptor);
    // Each takes bytes, so a count that is a lie ends where the bytes do.
    const count = this.#in.i32();
    if (count < 0) this.#fail(`a proxy has ${count} interfaces`);
    for (let i = 0; i < count; i++) proxyInterfaces.push(this.#in.utf());
    return this.#completeDescriptor(descriptor);
  }

  #completeDescriptor(descriptor: Growing<ClassDescriptor>): ClassDescriptor {
    descriptor.annotation = this.#annotation();
    const superclass = this.#descriptorOrNull();
    if (superclass !== null && this.#incomplete.has(superclass)) {
      this.#fail("a class extends one that is being described");
    }
    descriptor.superclass = superclass;
    this.#incomplete.delete(descriptor);
    this.#onDescriptor?.(descriptor);
    return descriptor;
  }

  /** The classes whose data an object holds, the topmost first. */
  #hierarchy(descriptor: ClassDescriptor): ClassDescriptor[] {
    let hierarchy = this.#hierarchies.get(descriptor);
    if (hierarchy !== undefined) return hierarchy;
    hierarchy = [];
    for (
      let each: ClassDescriptor | null = descriptor;
      each !== null;
      each = superclassWithData(each)
    ) {
      hierarchy.unshift(each);
      if (hierarchy.length > this.#limits.superclasses) {
        this.#fail(`${shown(descriptor.name)} extends too many classes`);
      }
    }
    this.#hierarchies.set(descriptor, hierarchy);
    return hierarchy;
  }

  // Objects

  #object(): JavaObject {
    const descriptor = this.#classOf("an object");
    const data: ClassData[] = [];
    const object = this.#assign<JavaObject>({
      kind: "object",
      descriptor,
      data,
    });
    for (const each of this.#hierarchy(descriptor)) {
      data.push(this.#classData(each));
    }
    return object;
  }

  #classData(descriptor: ClassDescriptor): ClassData {
    const { fields, flags, name } = descriptor;
    const annotated = isAnnotated(descriptor);
    this.#countValues(1 + fields.length);
    if (isExternalizable(descriptor)) {
      if ((flags & ClassFlag.BLOCK_DATA) === 0) {
        this.#fail(
          `${shown(name)} writes itself in a way that only it can read`,
        );
      }
      return { descriptor, values: [], annotation: this.#annotation() };
    }
    if (fields.length === 0 && !annotated) return this.#noData(descriptor);
    const values: JavaValue[] = [];
    for (const { type } of fields) values.push(this.#value(type));
    return {
      descriptor,
      values,
      annotation: annotated ? this.#annotation() : null,
    };
  }

  /** One for all objects: it takes no bytes, so many should take no memory. */
  #noData(descriptor: ClassDescriptor): ClassData {
    let data = this.#empty.get(descriptor);
    if (data === undefined) {
      data = { descriptor, values: [], annotation: null };
      this.#empty.set(descriptor, data);
    }
    return data;
  }

  #annotation(): Content[] {
    const contents: Content[] = [];
    // What lies in an annotation is within an object, whatever holds it.
    this.#depth++;
    for (let tag = this.#in.u8(); tag !== Tag.END; tag = this.#in.u8()) {
      this.#countValues(1);
      contents.push(this.#content(tag));
    }
    this.#depth--;
    return contents;
  }

  #enum(): JavaEnum {
    const descriptor = this.#classOf("an enum's constant");
    const value: Growing<JavaEnum> = {
      kind: "enum",
      descriptor,
      constant: { kind: "string", value: "" },
    };
    this.#assign(value);
    value.constant = this.#expectString("an enum's constant");
    return value;
  }

  #array(): JavaArray {
    const descriptor = this.#classOf("an array");
    const type = elementType(descriptor.name);
    if (type === undefined) {
      this.#fail(`"${shown(descriptor.name)}" is no class of arrays`);
    }
    const elements: JavaValue[] = [];
    const array: Growing<JavaArray> = {
      kind: "array",
      descriptor,
      values: elements,
    };
    this.#assign(array);
    const length = this.#in.i32();
    if (length < 0 || length > this.#limits.arrayLength) {
      this.#fail(`an array has a length of ${length}`);
    }
    if (type === "B") {
      array.values = this.#in.bytes(length).slice();
      return array;
    }
    this.#countValues(length);
    for (let i = 0; i < length; i++) elements.push(this.#value(type));
    return array;
  }

  // Values

  #value(type: TypeCode): JavaValue {
    return isReferenceCode(type)
      ? this.#reference(this.#in.u8())
      : readPrimitive(this.#in, type);
  }

  #countValues(count: number): void {
    this.#valueCount += count;
    if (this.#valueCount > this.#limits.values) {
      this.#fail(`it holds more than ${this.#limits.values} values`);
    }
  }

  #fail(reason: string): never {
    throw new JavaStreamError(this.#in.position, reason);
  }
}
