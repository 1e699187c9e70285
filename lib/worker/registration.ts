import type { Milliseconds } from "../conf/units.ts";

export interface RegistrationOptions {
  /** Attempts that are about 10 s apart. */
  readonly initialRetries: number;
  /** All attempts; the later ones are about 60 s apart. */
  readonly maxRetries: number;
  /**
   * Stretches the pauses, so that the workers of a cluster don't all dial at
   * once: drawn from 0.5 to 1.5 when the worker starts.
   */
  readonly factor: number;
}

const INITIAL_INTERVAL: Milliseconds = 10_000;
const PROLONGED_INTERVAL: Milliseconds = 60_000;

/** Counts the attempts to register; one run of them is pending at most. */
export class Registration {
  readonly #options: RegistrationOptions;
  #attempts: number | null = null;

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /** Whether another attempt is to come. */
  get pending(): boolean {
    return this.#attempts !== null;
  }

  /** The retries of this run so far. */
  get attempts(): number {
    return this.#attempts ?? 0;
  }

  /** @returns The pause before the first retry; the caller dials at once. */
  begin(): Milliseconds {
    this.#attempts = 0;
    return this.#pause(INITIAL_INTERVAL);
  }

  /** @returns The pause after this retry, or null to give up. */
  retry(): Milliseconds | null {
    const { initialRetries, maxRetries } = this.#options;
    this.#attempts = this.attempts + 1;
    if (this.#attempts > maxRetries) return null;
    return this.#pause(
      this.#attempts < initialRetries ? INITIAL_INTERVAL : PROLONGED_INTERVAL,
    );
  }

  /** No further attempt is wanted. */
  end(): void {
    this.#attempts = null;
  }

  #pause(interval: Milliseconds): Milliseconds {
    return Math.round(interval * this.#options.factor);
  }
}
