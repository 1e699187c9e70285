import type { Milliseconds } from "../conf/units.ts";

/** Resolves after a time. */
export function delay(time: Milliseconds): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time));
}

/**
 * Whether a promise settles, either way, within a time. The timer is gone
 * when this returns.
 */
export async function settlesWithin(
  promise: Promise<unknown>,
  time: Milliseconds,
): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), time);
  });
  try {
    return await Promise.race([
      promise.then(() => true, () => true),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
