import { MalformedBytesError } from "../../rpc/bytes.ts";
import { type JavaValue, shown } from "../stream/mod.ts";

/** A stream is well formed, and holds another value than its class should. */
export class UnexpectedValueError extends MalformedBytesError {
  override name = "UnexpectedValueError";

  constructor(expected: string, value: JavaValue | undefined) {
    super(`A Java object has ${describe(value)} instead of ${expected}.`);
  }
}

/** What a value is, for a person who reads a log. */
export function describe(value: JavaValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value !== "object") return String(value);
  switch (value.kind) {
    case "string":
      return "a string";
    case "descriptor":
      return "a class descriptor";
    default:
      return `a value of ${shown(value.descriptor.name)}`;
  }
}
