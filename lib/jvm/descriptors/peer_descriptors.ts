import { MalformedBytesError } from "../../rpc/bytes.ts";
import type { ClassDescriptor, JavaString } from "../stream/mod.ts";
import {
  knownForms,
  type ScalaLine,
  SPARK_LINES,
  type SparkLine,
} from "./table.ts";

/**
 * A peer has a class whose number is none that we know, or two classes that
 * no release has together.
 */
export class UnknownSparkLineError extends Error {
  override name = "UnknownSparkLineError";
}

/** Classes of a peer that are remembered; Spark's cluster manager has a hundred. */
const MAX_OWN_CLASSES = 4_096;
/**
 * Only Spark's own classes tell its release: a vendor may build an old Spark
 * with a newer Scala.
 */
const TELLING = "org.apache.spark.";

/**
 * The classes of one peer: what it has sent of them, and for the others what
 * the table has for the releases that the peer can still be of.
 *
 * A JVM takes an object only if the number of its class is the number that it
 * has itself, and most of Spark's numbers change between releases. So what a
 * peer sends tells its release, and its own descriptors come first.
 */
export class PeerDescriptors {
  readonly #own = new Map<string, ClassDescriptor>();
  readonly #fromTable = new Map<string, ClassDescriptor>();
  readonly #typeNames = new Map<string, JavaString>();
  #lines: readonly SparkLine[] = SPARK_LINES;

  /** The lines that the peer can be of, the oldest first. */
  get lines(): readonly SparkLine[] {
    return this.#lines;
  }

  /** Which Scala's values the peer holds. */
  get scala(): ScalaLine {
    return this.#lines[this.#lines.length - 1].scala;
  }

  /**
   * The peer sent this class.
   *
   * @throws {UnknownSparkLineError} when no known line has it so; what was
   * known of the peer stays.
   * @throws {MalformedBytesError} when it has more classes than any Spark.
   */
  see(descriptor: ClassDescriptor): void {
    if (this.#own.has(descriptor.name)) return;
    this.#narrow(descriptor);
    this.#keep(descriptor);
  }

  /**
   * The descriptor with which to write an object of a class: the same object
   * each time.
   *
   * @throws {TypeError} for a class that neither the peer nor the table has.
   */
  get(className: string): ClassDescriptor {
    const own = this.#own.get(className);
    if (own !== undefined) return own;
    let descriptor = this.#fromTable.get(className);
    if (descriptor === undefined) {
      descriptor = this.#describe(className);
      this.#fromTable.set(className, descriptor);
    }
    return descriptor;
  }

  #narrow({ name, serialVersionUID }: ClassDescriptor): void {
    if (!name.startsWith(TELLING)) return;
    const forms = knownForms(name);
    if (forms.length === 0) return;
    const form = forms.find((form) =>
      form.serialVersionUID === serialVersionUID
    );
    const left = this.#lines.filter((line) => form?.lines.includes(line));
    if (left.length === 0) {
      const known = forms.map(({ lines, serialVersionUID }) =>
        `${serialVersionUID} in ${lines.map(({ name }) => name).join(", ")}`
      ).join("; ");
      throw new UnknownSparkLineError(
        `its class ${name} has the serialVersionUID ${serialVersionUID}, of ` +
          `no release of Spark that sparkts knows (${known})`,
      );
    }
    if (left.length === this.#lines.length) return;
    this.#lines = left;
    this.#fromTable.clear();
  }

  /** Keeps one descriptor a class, also where several stood in the stream. */
  #keep(descriptor: ClassDescriptor): ClassDescriptor {
    const known = this.#own.get(descriptor.name);
    if (known !== undefined) return known;
    if (this.#own.size >= MAX_OWN_CLASSES) {
      throw new MalformedBytesError(
        `A Java peer sends objects of more than ${MAX_OWN_CLASSES} classes.`,
      );
    }
    const { superclass: above } = descriptor;
    const superclass = above === null ? null : this.#keep(above);
    const kept = { ...this.#withSharedTypes(descriptor), superclass };
    this.#own.set(descriptor.name, kept);
    return kept;
  }

  /**
   * One string for each type, whatever descriptors name it: a stream then has
   * it once, as one of a JVM does.
   */
  #withSharedTypes(descriptor: ClassDescriptor): ClassDescriptor {
    const fields = descriptor.fields.map((field) => {
      const { className } = field;
      if (className === null) return field;
      const shared = this.#typeNames.get(className.value) ?? className;
      this.#typeNames.set(className.value, shared);
      return { ...field, className: shared };
    });
    return { ...descriptor, fields };
  }

  /** Where the lines that are left differ, the latest is taken. */
  #describe(className: string): ClassDescriptor {
    const forms = knownForms(className);
    for (const line of this.#lines.toReversed()) {
      const form = forms.find(({ lines }) => lines.includes(line));
      if (form === undefined) continue;
      return this.#withSharedTypes(form.describe((name) => this.get(name)));
    }
    throw new TypeError(`There is no descriptor of the class ${className}.`);
  }
}
