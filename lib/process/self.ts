/**
 * How this program starts itself again: as another process, or as a thread.
 *
 * @module
 */

let override: string | undefined;

/**
 * Makes another module the program, as a test must whose own main module is
 * the test. `undefined` goes back to the real one.
 */
export function setSelfModule(url: string | URL | undefined): void {
  override = url === undefined ? undefined : String(url);
}

/**
 * The URL of this program's main module, to start threads from.
 *
 * @throws {Error} in a thread, where it isn't known: hand it over instead.
 */
export function selfModule(): string {
  const module: string | undefined = override ?? Deno.mainModule;
  if (module === undefined) {
    throw new Error(
      "Cannot tell the main module inside a thread: it must be handed over.",
    );
  }
  return module;
}

/**
 * The command line that starts this program with other arguments.
 *
 * Compiled, that is the executable. Otherwise it is `deno run`, with the
 * flags that the launcher left, one a line, in `SPARKTS_RUN_FLAGS`.
 */
export function selfCommand(
  args: readonly string[],
): { command: string; args: string[] } {
  const command = Deno.execPath();
  if (Deno.build.standalone) return { command, args: [...args] };
  const flags = (Deno.env.get("SPARKTS_RUN_FLAGS") ?? "").split("\n")
    .filter((flag) => flag !== "");
  return {
    command,
    args: ["run", "-A", "--quiet", ...flags, selfModule(), ...args],
  };
}
