/** Specifiers that name the same module in every process. */
const ABSOLUTE = /^(?:node|npm|jsr|https?):/;

/** Where packages are kept: in a project's own folder, or in Deno's cache by registry, name and version. */
const PACKAGE =
  /\/node_modules\/|\/npm\/[^/]+\/(?:@[^/]+\/)?[^/]+\/\d+\.\d+\.\d+[^/]*\//;

/**
 * How an import travels: as the specifier that another process imports, or undefined when the
 * module is a file of the application, whose values travel themselves.
 */
export function resolveImport(specifier: string): string | undefined {
  if (ABSOLUTE.test(specifier)) return specifier;
  if (/^(?:\.{0,2}\/|file:|data:|blob:)/.test(specifier)) return undefined;
  let resolved: string;
  try {
    resolved = import.meta.resolve(specifier);
  } catch {
    // Not in this program's import map: the other process looks it up in its own.
    return specifier;
  }
  const isFile = resolved.startsWith("file:") && !PACKAGE.test(resolved);
  return isFile ? undefined : specifier;
}
