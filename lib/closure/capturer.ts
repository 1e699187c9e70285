import { Capture, type Origin } from "./capture.ts";
import { Contexts } from "./contexts.ts";
import { walkInstances } from "./class_walk.ts";
import { refuseFunction } from "./function_refusal.ts";
import {
  type Pending,
  walkFunctions,
  walkLoneMethod,
} from "./function_walk.ts";
import { Inspector } from "./inspector.ts";
import { link } from "./link.ts";
import { walkObject } from "./object_walk.ts";
import { encodeRecipe } from "./recipe.ts";
import { Script } from "./script.ts";

/** Options of {@link ClosureCapturer.capture}. */
export interface CaptureOptions {
  /** How errors name the value where no function captures it. Default: `the value`. */
  name?: string;
  /** Most bytes of the encoded form. Default: 128 MiB, as Spark's `spark.rpc.message.maxSize`. */
  limit?: number;
}

/** Default of {@link CaptureOptions.limit}, in bytes. */
export const CAPTURE_LIMIT = 128 * 1_048_576;

/**
 * Captures functions, classes and values with all that they close over, by value.
 *
 * One per driver: it owns a session of V8's inspector, which it connects when it is first needed.
 * Captures run one after another. Values are read while a capture runs; what the application
 * changes meanwhile may or may not be seen.
 *
 * What is captured together stays together: shared objects, cycles, classes and the variables of
 * a scope that one function assigns and another reads. An imported variable that the exporting
 * module assigns travels to the importing function at its value of now.
 *
 * The `this` of an arrow function, and which of two equal scopes is which, only a heap snapshot
 * tells: the first capture of such a function takes some hundred milliseconds, later ones do not.
 *
 * @example
 * ```ts
 * const capturer = new ClosureCapturer();
 * const factor = 3;
 * const bytes = await capturer.capture((x: number) => x * factor);
 * const triple = await restoreClosure(bytes) as (x: number) => number;
 * capturer.close();
 * ```
 */
export class ClosureCapturer {
  readonly #inspector = new Inspector();
  readonly #contexts = new Contexts(this.#inspector);
  readonly #scripts = new Map<string, Script>();
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  /**
   * The encoded form of a value, for `restoreClosure`.
   *
   * @throws {ClosureCaptureError} when something that it reaches cannot travel; the message names variable and function.
   */
  capture(value: unknown, options: CaptureOptions = {}): Promise<Uint8Array> {
    const run = this.#last.then(() => this.#capture(value, options));
    this.#last = run.catch(() => {});
    return run;
  }

  /** Ends the inspector session. Captures that are waiting fail. */
  close(): void {
    this.#closed = true;
    this.#inspector.close();
  }

  async #capture(
    value: unknown,
    { name = "the value", limit = CAPTURE_LIMIT }: CaptureOptions,
  ): Promise<Uint8Array> {
    if (this.#closed) {
      throw new Error(`Cannot capture ${name}: the capturer is closed.`);
    }
    const capture = new Capture(
      this.#inspector,
      (id) => this.#script(id),
      limit,
      name,
    );
    const root = capture.slot(value, { up: undefined, step: name });
    const methods: Pending[] = [];
    const arrows = new Set<number>();
    for (;;) {
      if (drainObjects(capture)) continue;
      if (capture.functions.length > 0) {
        methods.push(
          ...await walkFunctions(capture, capture.functions.splice(0)),
        );
      } else if (capture.instances.length > 0) await walkInstances(capture);
      else if (await this.#walkThis(capture, arrows)) continue;
      else if (capture.objects.length > 0) {
        throw new Error("Objects wait for classes that nothing provides.");
      } else {
        const method = methods.shift();
        if (method === undefined) break;
        await walkLoneMethod(capture, method);
      }
    }
    const bytes = encodeRecipe(await link(capture, this.#contexts, root));
    if (bytes.length > limit) capture.tooLarge(bytes.length);
    return bytes;
  }

  /** Finds the `this` of the arrow functions that use it; false when there was none. */
  async #walkThis(capture: Capture, seen: Set<number>): Promise<boolean> {
    const arrows = [...capture.made.values()].filter(({ id, code }) =>
      code.as === "arrow" && code.usesThis && !seen.has(id)
    );
    if (arrows.length === 0) return false;
    const found = await this.#contexts.lexicalThis(
      arrows.map(({ value }) => value),
    );
    for (const [index, made] of arrows.entries()) {
      seen.add(made.id);
      const self = found[index]!;
      if ("unknown" in self) {
        refuseFunction(
          made.code,
          `it uses "this" of the function around it, ${self.unknown}`,
        );
      }
      const origin: Origin = { up: undefined, step: "this", by: made.code };
      made.self = capture.slot(self.value, origin);
    }
    return true;
  }

  async #script(id: string): Promise<Script> {
    let script = this.#scripts.get(id);
    if (script === undefined) {
      const { text, ...facts } = await this.#inspector.script(id);
      script = new Script(id, facts, text);
      this.#scripts.set(id, script);
    }
    return script;
  }
}

/** Walks what waits; objects whose class is not known yet stay. True when functions came up. */
function drainObjects(capture: Capture): boolean {
  let progress = false;
  const waiting: Pending[] = [];
  for (
    let next = capture.objects.pop();
    next !== undefined;
    next = capture.objects.pop()
  ) {
    if (walkObject(capture, next.id, next.value, next.origin)) progress = true;
    else waiting.push(next);
  }
  capture.objects.push(...waiting);
  return progress;
}
