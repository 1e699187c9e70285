import { UnexpectedValueError } from "../scala/mod.ts";
import {
  fieldOf,
  type JavaObject,
  type JavaValue,
  shown,
} from "../stream/mod.ts";

/**
 * The fields of one object of Spark's, each as what it must be.
 *
 * Every read throws an {@linkcode UnexpectedValueError} naming class and field
 * when the object has no such field, or another kind of value in it.
 */
export class Fields {
  readonly #object: JavaObject;

  constructor(object: JavaObject) {
    this.#object = object;
  }

  /**
   * An object of a class, or of one that extends it.
   *
   * @throws {UnexpectedValueError} when the value is no such object.
   */
  static of(value: JavaValue, className: string): Fields {
    if (
      value !== null && typeof value === "object" && value.kind === "object" &&
      value.data.some(({ descriptor }) => descriptor.name === className)
    ) return new Fields(value);
    throw new UnexpectedValueError(`a value of ${className}`, value);
  }

  value(name: string): JavaValue {
    const value = fieldOf(this.#object, name);
    if (value === undefined) this.#fail(name, value);
    return value;
  }

  text(name: string): string {
    return textOf(this.value(name), () => this.#where(name));
  }

  int(name: string): number {
    const value = this.value(name);
    return typeof value === "number" ? value : this.#fail(name, value);
  }

  long(name: string): number {
    const value = this.value(name);
    return typeof value === "bigint" ? Number(value) : this.#fail(name, value);
  }

  object(name: string, className: string): Fields {
    return Fields.of(this.value(name), className);
  }

  #where(name: string): string {
    return `${name} of ${shown(this.#object.descriptor.name)}`;
  }

  #fail(name: string, value: JavaValue | undefined): never {
    throw new UnexpectedValueError(
      `what ${this.#where(name)} should be`,
      value,
    );
  }
}

/** @throws {UnexpectedValueError} when the value is no string. */
export function textOf(
  value: JavaValue,
  where: () => string = () => "that belongs there",
): string {
  if (value !== null && typeof value === "object" && value.kind === "string") {
    return value.value;
  }
  throw new UnexpectedValueError(`the string ${where()}`, value);
}
