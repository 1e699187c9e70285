import type { FunctionCode } from "./function_code.ts";
import { originalPosition } from "./stack.ts";

/** How errors name a function: `"main.<anonymous>" (app.ts:12:20)`, in the source as it was written. */
export function basePosition({ script, source }: FunctionCode): string {
  const { line, column } = script.position(source.start);
  const original = originalPosition(script.facts.url, line, column);
  const file =
    original.specifier.slice(original.specifier.lastIndexOf("/") + 1) ||
    "an unnamed script";
  const path = source.path.filter((name, index) =>
    name !== "<anonymous>" || index === source.path.length - 1
  );
  return `"${path.join(".")}" (${file}:${original.line}:${original.column})`;
}
