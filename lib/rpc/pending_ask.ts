import type { Milliseconds } from "../conf/units.ts";
import type { RequestId } from "./frame.ts";

/** `setTimeout` takes no longer delay. */
const MAX_DELAY: Milliseconds = 2 ** 31 - 1;

/** Where an ask waits for its answer: a connection. */
export interface AskHolder {
  forget(requestId: RequestId): void;
}

/** An ask on its way: it ends once, by an answer or an error. */
export class PendingAsk {
  readonly deadline: Milliseconds;
  readonly #timeouts: AskTimeouts;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timeoutError: () => Error;
  #holder: AskHolder | undefined;
  #requestId: RequestId = 0;
  #settled = false;

  constructor(
    timeouts: AskTimeouts,
    deadline: Milliseconds,
    timeoutError: () => Error,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.deadline = deadline;
    this.#timeouts = timeouts;
    this.#timeoutError = timeoutError;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Says where it waits, so that it is forgotten there when it is given up. */
  heldBy(holder: AskHolder, requestId: RequestId): void {
    this.#holder = holder;
    this.#requestId = requestId;
  }

  succeed(value: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#resolve(value);
  }

  fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#reject(error);
  }

  expire(): void {
    if (!this.#settled) this.fail(this.#timeoutError());
  }

  #settle(): void {
    this.#settled = true;
    this.#timeouts.delete(this);
    this.#holder?.forget(this.#requestId);
    this.#holder = undefined;
  }
}

/**
 * The deadlines of all pending asks, on one timer: asks come by the hundred
 * thousand a second, and nearly all are answered long before their deadline.
 */
export class AskTimeouts {
  readonly #asks = new Set<PendingAsk>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerDeadline = Infinity;

  add(ask: PendingAsk): void {
    this.#asks.add(ask);
    if (ask.deadline < this.#timerDeadline) this.#arm(ask.deadline);
  }

  delete(ask: PendingAsk): void {
    this.#asks.delete(ask);
  }

  /** Fails what still waits, and stops the timer. */
  close(error: Error): void {
    for (const ask of [...this.#asks]) ask.fail(error);
    clearTimeout(this.#timer);
    this.#timerDeadline = Infinity;
  }

  #arm(deadline: Milliseconds): void {
    clearTimeout(this.#timer);
    this.#timerDeadline = deadline;
    const delay = deadline - performance.now();
    this.#timer = setTimeout(
      () => this.#sweep(),
      Math.min(Math.max(0, delay), MAX_DELAY),
    );
    // A far-off sweep must not keep a process alive that is otherwise done.
    Deno.unrefTimer(this.#timer);
  }

  #sweep(): void {
    this.#timerDeadline = Infinity;
    const now = performance.now();
    let next = Infinity;
    for (const ask of [...this.#asks]) {
      if (ask.deadline <= now) ask.expire();
      else next = Math.min(next, ask.deadline);
    }
    if (next < this.#timerDeadline) this.#arm(next);
  }
}
