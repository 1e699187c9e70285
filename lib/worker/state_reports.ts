import type { Milliseconds } from "../conf/units.ts";
import type { EndpointRef } from "../messages/addresses.ts";
import type { ExecutorStateChanged } from "../messages/deploy.ts";
import type { MachineEffect } from "../rpc/machine.ts";
import { fullId } from "./events.ts";

const PREFIX = "state:";

interface PendingReport {
  readonly report: ExecutorStateChanged;
  /** The ask that is under way. */
  token: string | null;
  failures: number;
}

/**
 * The changes of executors' states that the master has not confirmed.
 *
 * Each is an ask that is made again when it fails, at most so often as
 * `spark.worker.executorStateSync.maxAttempts` says. Without a master they
 * wait for the next one. Of an executor only the latest change is kept:
 * whoever missed the one before needs it no more.
 */
export class StateReports {
  readonly #maxAttempts: number;
  readonly #retryPause: Milliseconds;
  readonly #pending = new Map<string, PendingReport>();
  #asks = 0;

  constructor(maxAttempts: number, retryPause: Milliseconds) {
    this.#maxAttempts = maxAttempts;
    this.#retryPause = retryPause;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Tells the master of a change, at once when there is one. */
  add(
    report: ExecutorStateChanged,
    master: EndpointRef | null,
  ): MachineEffect[] {
    const id = fullId(report);
    const pending = { report, token: null, failures: 0 };
    const replaces = this.#pending.delete(id);
    this.#pending.set(id, pending);
    const effects: MachineEffect[] = replaces
      ? [{ type: "clearTimer", timer: PREFIX + id }]
      : [];
    if (master !== null) effects.push(this.#ask(pending, master));
    return effects;
  }

  /** An ask was answered. */
  answered(token: string): void {
    const pending = this.#find(token);
    if (pending) this.#pending.delete(fullId(pending.report));
  }

  /**
   * An ask failed: asks again, after a pause unless waiting is what failed.
   *
   * @returns null when this was the last attempt.
   */
  failed(
    { token, error, timedOut }: {
      token: string;
      error: string;
      timedOut: boolean;
    },
    master: EndpointRef | null,
  ): MachineEffect[] | null {
    const pending = this.#find(token);
    if (pending === undefined) return [];
    pending.token = null;
    pending.failures++;
    const { report, failures } = pending;
    const id = fullId(report);
    const log: MachineEffect = {
      type: "log",
      level: "error",
      message:
        `Failed to tell the master that executor ${id} is ${report.state} ` +
        `(attempt ${failures} of ${this.#maxAttempts}): ${error}`,
    };
    if (failures >= this.#maxAttempts) return null;
    if (master === null) return [log];
    if (timedOut) return [log, this.#ask(pending, master)];
    return [log, {
      type: "setTimer",
      timer: PREFIX + id,
      after: this.#retryPause,
    }];
  }

  /** A timer fired; it may be one whose change has been confirmed since. */
  timer(timer: string, master: EndpointRef | null): MachineEffect[] {
    const pending = this.#pending.get(timer.slice(PREFIX.length));
    return pending && pending.token === null && master !== null
      ? [this.#ask(pending, master)]
      : [];
  }

  /** There is a master again: it is told whatever waits. */
  sendAll(master: EndpointRef): MachineEffect[] {
    return [...this.#pending].flatMap(([id, pending]): MachineEffect[] =>
      pending.token !== null ? [] : [
        { type: "clearTimer", timer: PREFIX + id },
        this.#ask(pending, master),
      ]
    );
  }

  #ask(pending: PendingReport, master: EndpointRef): MachineEffect {
    pending.token = `${PREFIX}${fullId(pending.report)}#${this.#asks++}`;
    return {
      type: "ask",
      to: master,
      message: pending.report,
      token: pending.token,
    };
  }

  #find(token: string): PendingReport | undefined {
    for (const pending of this.#pending.values()) {
      if (pending.token === token) return pending;
    }
    return undefined;
  }
}
