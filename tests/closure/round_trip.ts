import {
  type CaptureOptions,
  ClosureCapturer,
  restoreClosure,
  type RestoreOptions,
} from "../../lib/closure/mod.ts";

/** Captures a value and restores it in this process. */
export async function roundTrip<T>(
  value: T,
  options: CaptureOptions & RestoreOptions = {},
): Promise<T> {
  const capturer = new ClosureCapturer();
  try {
    return await restoreClosure(
      await capturer.capture(value, options),
      options,
    ) as T;
  } finally {
    capturer.close();
  }
}

/** Captures a value. */
export async function captureOnce(
  value: unknown,
  options: CaptureOptions = {},
): Promise<Uint8Array> {
  const capturer = new ClosureCapturer();
  try {
    return await capturer.capture(value, options);
  } finally {
    capturer.close();
  }
}
