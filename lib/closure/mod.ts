/**
 * Functions that travel: captured in the driver with all that they close over, by value, and made
 * again in another process or thread.
 *
 * @module
 */
export {
  CAPTURE_LIMIT,
  type CaptureOptions,
  ClosureCapturer,
} from "./capturer.ts";
export { ClosureCaptureError, ClosureRestoreError } from "./errors.ts";
export { restoreClosure, type RestoreOptions } from "./restore.ts";
export { mapStack } from "./stack.ts";
export { type Travel, travel, type Traveller } from "./travel.ts";
