import { ClosureCaptureError } from "./errors.ts";
import type { FunctionCode } from "./function_code.ts";
import { basePosition } from "./function_label.ts";

/** @throws {ClosureCaptureError} as the private member's class is not there. */
export function refusePrivate(code: FunctionCode): never {
  refuseFunction(
    code,
    `it uses the private member ${code.outerPrivate} of a class around it, and that class is not captured with it`,
  );
}

/** @throws {ClosureCaptureError} for what a function's own text does. */
export function refuseFunction(code: FunctionCode, why: string): never {
  throw new ClosureCaptureError(
    `Cannot send the function ${basePosition(code)}: ${why}.`,
  );
}
