import vm from "node:vm";

/** What the file name of every restored text begins with. */
export const MARKER = "sparkts-closure:";

/** From output line `out` on (0-based), text of the source at `line`, whose first line begins at `column` (0-based). */
export interface Segment {
  out: number;
  line: number;
  column: number;
}

/** The file name under which a text is compiled elsewhere: it carries where each of its lines came from. */
export function markedFilename(
  specifier: string,
  segments: readonly Segment[],
): string {
  const encoded = segments.map(({ out, line, column }) =>
    `${out.toString(36)}.${line.toString(36)}.${column.toString(36)}`
  );
  return `${MARKER}${encoded.join("_")}!${specifier}`;
}

const FRAME = /sparkts-closure:([0-9a-z._]*)!([^\s]*?):(\d+):(\d+)/g;

/**
 * Replaces the positions of restored functions in a stack by those of the application's own source.
 * Only the process that loaded the application knows its source maps; elsewhere the result has the
 * positions of the transpiled text.
 */
export function mapStack(stack: string): string {
  return stack.replace(
    FRAME,
    (
      whole,
      encoded: string,
      specifier: string,
      line: string,
      column: string,
    ) => {
      const generated = locate(encoded, Number(line) - 1, Number(column) - 1);
      if (generated === undefined) return whole;
      const original = originalPosition(
        specifier,
        generated.line,
        generated.column,
      );
      return `${original.specifier}:${original.line}:${original.column}`;
    },
  );
}

function locate(
  encoded: string,
  line: number,
  column: number,
): { line: number; column: number } | undefined {
  let found: Segment | undefined;
  for (const part of encoded.split("_")) {
    const numbers = part.split(".").map((digits) => parseInt(digits, 36));
    if (numbers.length !== 3 || numbers.some(Number.isNaN)) return undefined;
    const [out, sourceLine, sourceColumn] = numbers as [number, number, number];
    if (out > line) break;
    found = { out, line: sourceLine, column: sourceColumn };
  }
  if (found === undefined) return undefined;
  return {
    line: found.line + line - found.out,
    column: line === found.out ? found.column + column : column,
  };
}

/** A position of an application's source: lines and columns from 1. */
export interface OriginalPosition {
  specifier: string;
  line: number;
  column: number;
}

/**
 * The position in the source as it was written of a position (0-based) in the text that runs.
 * Deno maps the frames of a script whose name is that of a module it loaded.
 */
export function originalPosition(
  specifier: string,
  line: number,
  column: number,
): OriginalPosition {
  const fallback = { specifier, line: line + 1, column: column + 1 };
  if (!/^[a-z][a-z0-9+.-]*:/i.test(specifier)) return fallback;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  let stack: unknown;
  try {
    const script = new vm.Script("new Error()", {
      filename: specifier,
      lineOffset: line,
      columnOffset: column,
    });
    stack = (script.runInThisContext() as Error).stack;
  } finally {
    Error.stackTraceLimit = limit;
  }
  if (typeof stack !== "string") return fallback;
  const frame = /at (?:.*\()?((?:[a-z][a-z0-9+.-]*:).*?):(\d+):(\d+)\)?\s*$/im
    .exec(stack);
  if (frame === null) return fallback;
  return {
    specifier: frame[1]!,
    line: Number(frame[2]),
    column: Number(frame[3]),
  };
}
