import process from "node:process";
import { type HeapContext, readContexts } from "./heap_contexts.ts";
import type { Inspector } from "./inspector.ts";

/** A heap larger than this is not looked through: a snapshot's text would not fit a string. */
export const MAX_HEAP_BYTES = 384 * 1_048_576;

/** Lexical `this` of an arrow function, or why it can't be told. */
export type LexicalThis = { value: unknown } | { unknown: string };

/**
 * What only a heap snapshot tells: the identity of scopes and the `this` of arrow functions.
 * Neither changes in a function's life, so each function is looked up once.
 */
export class Contexts {
  readonly #chains = new WeakMap<object, HeapContext[]>();
  readonly #lexicalThis = new WeakMap<object, LexicalThis>();

  constructor(readonly inspector: Inspector) {}

  /** The `this` that arrow functions took from the function around them. */
  async lexicalThis(functions: readonly object[]): Promise<LexicalThis[]> {
    const missing = functions.filter((value) => !this.#lexicalThis.has(value));
    const tooLarge = await this.#read(missing);
    for (const value of missing) {
      if (tooLarge !== undefined) {
        this.#lexicalThis.set(value, { unknown: tooLarge });
        continue;
      }
      const holder = this.#chains.get(value)?.find(({ variables }) =>
        variables.has("this")
      );
      this.#lexicalThis.set(
        value,
        holder === undefined
          ? { unknown: "whose value the runtime does not show" }
          : await this.#objectOf(holder.variables.get("this")!),
      );
    }
    const found = functions.map((value) => this.#lexicalThis.get(value)!);
    // A heap that is too large now may be small enough for the next capture.
    if (tooLarge !== undefined) {
      for (const value of missing) this.#lexicalThis.delete(value);
    }
    return found;
  }

  /**
   * For each function, an id of the innermost scope around it that holds the variable; undefined where it can't be told.
   */
  async scopeIds(
    functions: readonly { value: object; variable: string }[],
  ): Promise<(number | undefined)[]> {
    await this.#read(functions.map(({ value }) => value));
    return functions.map(({ value, variable }) =>
      this.#chains.get(value)?.find(({ variables }) => variables.has(variable))
        ?.id
    );
  }

  /** Reads the chains of functions that have none yet; gives the reason when it can't. */
  async #read(functions: readonly object[]): Promise<string | undefined> {
    const missing = [
      ...new Set(functions.filter((value) => !this.#chains.has(value))),
    ];
    if (missing.length === 0) return undefined;
    if (process.memoryUsage().heapUsed > MAX_HEAP_BYTES) {
      return "whose value cannot be looked up in a heap this large; assign it to a constant outside the function";
    }
    // Only a snapshot makes V8 keep ids of objects.
    const snapshot = await this.inspector.heapSnapshot();
    const ids = await this.inspector.heapIds(missing);
    const chains = readContexts(snapshot, ids);
    for (const [index, value] of missing.entries()) {
      this.#chains.set(value, chains.get(ids[index]!) ?? []);
    }
    return undefined;
  }

  async #objectOf(id: number): Promise<LexicalThis> {
    try {
      return { value: await this.inspector.heapObject(id) };
    } catch {
      // V8 answers with an error for what is no object: undefined, a number.
      return { unknown: "whose value is not an object" };
    }
  }
}
