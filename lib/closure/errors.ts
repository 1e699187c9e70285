/**
 * A value cannot be captured. The message names the function, the variable that it captures and
 * what that variable holds.
 */
export class ClosureCaptureError extends Error {
  override name = "ClosureCaptureError";
}

/** The bytes given to `restoreClosure` are not a capture that this version can read, or hold what it does not know. */
export class ClosureRestoreError extends Error {
  override name = "ClosureRestoreError";
}
