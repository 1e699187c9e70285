/**
 * A child that ends when its parent does, even one that was killed outright.
 *
 * The parent starts it with `stdin: "piped"` and
 * {@linkcode EXIT_WITH_PARENT} = "1". The system closes the pipe when the
 * parent is gone, however that came about.
 *
 * @module
 */

/** The variable that tells a child to watch its standard input. */
export const EXIT_WITH_PARENT = "SPARKTS_EXIT_WITH_PARENT";

export interface ParentWatch {
  /** Stops watching; needed by a program that ends by running out of work. */
  close(): Promise<void>;
}

/**
 * Calls `onGone` once the parent is gone, if the parent asked for it. The
 * variable is removed, so that grandchildren with another standard input
 * don't take it for theirs.
 *
 * @returns `null` when the parent didn't ask.
 */
export function watchParent(onGone: () => void): ParentWatch | null {
  const asked = Deno.env.get(EXIT_WITH_PARENT) === "1";
  Deno.env.delete(EXIT_WITH_PARENT);
  if (!asked) return null;
  const reader = Deno.stdin.readable.getReader();
  let closed = false;
  async function watch(): Promise<void> {
    try {
      while (!(await reader.read()).done);
    } catch {
      // A standard input that can't be read tells no more of the parent than
      // one that has ended.
    }
    if (!closed) onGone();
  }
  watch();
  return {
    async close(): Promise<void> {
      closed = true;
      await reader.cancel();
    },
  };
}
