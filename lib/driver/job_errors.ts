import { mapStack, MARKER } from "../closure/stack.ts";
import type { TaskFailure } from "../messages/cluster.ts";

/**
 * An action failed. The message says where and why; when a task's own error
 * was the reason, its stack follows, in the application's files and lines.
 */
export class JobFailedError extends Error {
  override name = "JobFailedError";

  constructor(reason: string, failure: TaskFailure | null) {
    super(describe(reason, failure));
  }
}

/** The job was given up: by Ctrl-C, by `stop`, or because the cluster is gone. */
export class JobCancelledError extends Error {
  override name = "JobCancelledError";
}

function describe(reason: string, failure: TaskFailure | null): string {
  if (failure === null) return reason;
  const stack = failure.stack === ""
    ? ""
    : mapStack(withoutEngine(failure.stack));
  // A stack begins with the error itself, as a rule.
  const detail = stack.includes(failure.message)
    ? stack
    : [failure.message, ...framesOf(stack)].join("\n");
  return `${reason}: ${detail}`;
}

/**
 * Leaves out how the engine came to call the application's function: what
 * stands below the last frame of its own, of each error in the chain.
 */
function withoutEngine(stack: string): string {
  const kept: string[] = [];
  let below: string[] = [];
  for (const line of stack.split("\n")) {
    const isFrame = /^\s+at /.test(line);
    if (!isFrame || line.includes(MARKER)) {
      kept.push(...below, line);
      below = [];
    } else {
      below.push(line);
    }
  }
  return [...kept, ...kept.some((line) => line.includes(MARKER)) ? [] : below]
    .join("\n");
}

function framesOf(stack: string): string[] {
  return stack.split("\n").filter((line) => /^\s+at /.test(line));
}
