import { type Travel, travel } from "../closure/travel.ts";

/** A broadcast value was used after it was destroyed, or where it is unknown. */
export class BroadcastError extends Error {
  override name = "BroadcastError";
}

export const BROADCAST_KIND = "broadcast";

/** The stream under which the driver serves a broadcast value. */
export function broadcastStreamId(id: number): string {
  return `/broadcast/${id}`;
}

/**
 * A value that every executor gets once, however many tasks use it. Closures
 * capture the handle; `value` is the value itself, on either side.
 */
export class Broadcast<T> {
  readonly id: number;
  #value: T | undefined;
  #missing: string | undefined;
  #destroyed: (() => void) | undefined;

  private constructor(id: number, value: T | undefined, missing?: string) {
    this.id = id;
    this.#value = value;
    this.#missing = missing;
  }

  /** The driver's side; `destroyed` is called when the value is let go. */
  static of<T>(id: number, value: T, destroyed?: () => void): Broadcast<T> {
    const broadcast = new Broadcast(id, value);
    broadcast.#destroyed = destroyed;
    return broadcast;
  }

  /** An executor's side before `fill`. */
  static awaiting<T>(id: number): Broadcast<T> {
    return new Broadcast<T>(id, undefined, "it has not arrived yet");
  }

  /** @throws {BroadcastError} when there is none (any more). */
  get value(): T {
    if (this.#missing !== undefined) {
      throw new BroadcastError(
        `Cannot use broadcast ${this.id}: ${this.#missing}.`,
      );
    }
    return this.#value as T;
  }

  fill(value: T): void {
    this.#value = value;
    this.#missing = undefined;
  }

  /** The value turned out to be one that can't travel: so can't the handle. */
  refuse(why: string): void {
    this.#missing ??= why;
  }

  /** Lets the value go; using it from now on is an error. */
  destroy(): void {
    this.#value = undefined;
    this.#missing = "it was destroyed";
    this.#destroyed?.();
    this.#destroyed = undefined;
  }

  [travel](): Travel {
    if (this.#missing !== undefined) {
      return { refuse: `the broadcast ${this.id}: ${this.#missing}` };
    }
    return { kind: BROADCAST_KIND, data: this.id };
  }
}
