/**
 * File globs as Hadoop's `FileSystem.globStatus` understands them: `*`, `?`,
 * `[a-z]`, `[^a]` (also `[!a]`), `{a,b}` (nested, and across `/`), and `\` before a character that
 * stands for itself. `**` is no more than `*`.
 *
 * One rule is stricter than Hadoop's: a wildcard at the start of a name does not match a hidden
 * name (`_…` or `.…`) in any part of the path, so that `*` in `out` never reaches what a running
 * job keeps under `out/_temporary`.
 *
 * @module
 */

import { isAbsent, pathExists } from "./path_exists.ts";

/** How many plain patterns one pattern's braces may expand to. */
const MAX_ALTERNATIVES = 10_000;

/** A glob that cannot be understood, such as one with an unclosed `{` or `[`. */
export class GlobSyntaxError extends Error {
  override readonly name = "GlobSyntaxError";

  constructor(pattern: string, reason: string) {
    super(`Cannot read the glob pattern "${pattern}": ${reason}`);
  }
}

/** Whether a path has a wildcard or a brace that no `\` takes back. */
export function isGlob(path: string): boolean {
  for (let i = 0; i < path.length; i++) {
    const char = path[i];
    if (char === "\\") i++;
    else if (char === "*" || char === "?" || char === "[" || char === "{") {
      return true;
    }
  }
  return false;
}

/** The path that a pattern without wildcards names: `\` before a character is dropped. */
export function unescapeGlob(path: string): string {
  return path.replace(/\\(.)/gs, "$1");
}

/** Splits at commas, except those inside braces or after a `\`: `a,{b,c}` gives `a` and `{b,c}`. */
export function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === "{") depth++;
    else if (char === "}") depth = Math.max(0, depth - 1);
    else if (char === "," && depth === 0) {
      parts.push(text.slice(begin, i));
      begin = i + 1;
    }
  }
  parts.push(text.slice(begin));
  return parts;
}

/**
 * Writes out the braces of a pattern: `a{b,c{d,e}}` gives `ab`, `acd`, `ace`.
 *
 * @throws {GlobSyntaxError} when a `{` is not closed or there are more than 10,000 alternatives.
 */
export function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const pending = [pattern];
  while (pending.length > 0) {
    const next = pending.pop()!;
    const open = indexOfUnescaped(next, "{", 0);
    if (open < 0) {
      done.push(next);
    } else {
      const close = closingBrace(next, open);
      if (close < 0) throw new GlobSyntaxError(pattern, "a { is not closed");
      const head = next.slice(0, open);
      const tail = next.slice(close + 1);
      const alternatives = splitAtCommas(next.slice(open + 1, close));
      // Pushed last to first, so that they come off the stack in the order written.
      for (const alternative of alternatives.reverse()) {
        pending.push(head + alternative + tail);
      }
    }
    if (done.length + pending.length > MAX_ALTERNATIVES) {
      throw new GlobSyntaxError(
        pattern,
        `its braces expand to more than ${MAX_ALTERNATIVES} patterns`,
      );
    }
  }
  return done;
}

/**
 * The regular expression for one name (no `/`) of a pattern whose braces are already written out.
 *
 * @throws {GlobSyntaxError} when a `[` is not closed or a range runs backwards.
 */
export function globSegmentToRegExp(segment: string): RegExp {
  let source = /^[*?[]/.test(segment) ? "(?![._])" : "";
  for (let i = 0; i < segment.length; i++) {
    const char = segment[i];
    if (char === "*") source += ".*";
    else if (char === "?") source += ".";
    else if (char === "[") {
      const set = characterSet(segment, i);
      source += set.source;
      i = set.end;
    } else {
      if (char === "\\" && i + 1 < segment.length) i++;
      // By code point: half of a surrogate pair is not a pattern under the u flag.
      const literal = String.fromCodePoint(segment.codePointAt(i)!);
      source += literal.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
      i += literal.length - 1;
    }
  }
  try {
    return new RegExp(`^${source}$`, "su");
  } catch (error) {
    throw new GlobSyntaxError(segment, (error as Error).message);
  }
}

/**
 * The paths that exist and match an absolute pattern, without duplicates, in no particular order.
 *
 * @throws {GlobSyntaxError} for a pattern that cannot be understood.
 * @throws {Deno.errors.PermissionDenied} for a directory on the way that may not be read.
 */
export function globPaths(pattern: string): string[] {
  const found = new Set<string>();
  for (const plain of expandBraces(pattern)) {
    let level = [""];
    const segments = plain.split("/").filter((segment) => segment !== "");
    for (const [index, segment] of segments.entries()) {
      const last = index === segments.length - 1;
      level = isGlob(segment)
        ? level.flatMap((parent) => matchingChildren(parent, segment, last))
        : level.map((parent) => `${parent}/${unescapeGlob(segment)}`);
    }
    for (const path of level) if (pathExists(path)) found.add(path);
  }
  return [...found];
}

function matchingChildren(
  parent: string,
  segment: string,
  last: boolean,
): string[] {
  const expression = globSegmentToRegExp(segment);
  try {
    return [...Deno.readDirSync(parent === "" ? "/" : parent)]
      .filter((entry) => (last || !entry.isFile) && expression.test(entry.name))
      .map((entry) => `${parent}/${entry.name}`);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function characterSet(
  segment: string,
  open: number,
): { source: string; end: number } {
  let i = open + 1;
  let source = "[";
  if (segment[i] === "^" || segment[i] === "!") {
    source += "^";
    i++;
  }
  for (let first = true; i < segment.length; i++, first = false) {
    let char = segment[i];
    // A ] that comes first stands for itself, as in a shell.
    if (char === "]" && !first) return { source: source + "]", end: i };
    if (char === "\\" && i + 1 < segment.length) {
      char = segment[++i];
      source += /[\\^\]\[-]/.test(char) ? `\\${char}` : char;
    } else source += /[\\^\]\[]/.test(char) ? `\\${char}` : char;
  }
  throw new GlobSyntaxError(segment, "a [ is not closed");
}

function indexOfUnescaped(text: string, char: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === char) return i;
  }
  return -1;
}

function closingBrace(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  return -1;
}
