import type { ClosureCapturer } from "../closure/capturer.ts";
import { describeError } from "../log.ts";
import { Broadcast } from "../rdd/broadcast.ts";
import { BROADCAST_CLOSURE, BROADCAST_VALUE } from "../rdd/broadcast_codec.ts";
import { encodeValue, UnsendableValueError } from "../shuffle/record_codec.ts";

/** The driver's broadcast values, encoded, for executors to fetch. */
export class Broadcasts {
  readonly #capturer: ClosureCapturer;
  readonly #bytes = new Map<number, Uint8Array>();
  readonly #live = new Set<number>();
  readonly #pending = new Set<Promise<void>>();
  #nextId = 0;

  constructor(capturer: ClosureCapturer) {
    this.#capturer = capturer;
  }

  /**
   * Takes the value as it is now; what is changed in it later isn't seen.
   *
   * @param removed - Called when the value is destroyed.
   */
  add<T>(value: T, removed: (id: number) => void): Broadcast<T> {
    const id = this.#nextId++;
    const broadcast = Broadcast.of(id, value, () => {
      this.#live.delete(id);
      this.#bytes.delete(id);
      removed(id);
    });
    this.#live.add(id);
    this.#encode(broadcast);
    return broadcast;
  }

  get(id: number): Uint8Array | undefined {
    return this.#bytes.get(id);
  }

  /** Resolves when each value can be fetched, or is known not to travel. */
  async ready(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #encode(broadcast: Broadcast<unknown>): void {
    const { id, value } = broadcast;
    try {
      this.#bytes.set(id, tagged(BROADCAST_VALUE, encodeValue(value)));
    } catch (error) {
      if (!(error instanceof UnsendableValueError)) throw error;
      // It holds functions or instances of classes, as a closure may.
      const capture = this.#capture(broadcast)
        .finally(() => this.#pending.delete(capture));
      this.#pending.add(capture);
    }
  }

  async #capture(broadcast: Broadcast<unknown>): Promise<void> {
    const { id, value } = broadcast;
    try {
      const bytes = await this.#capturer.capture(value, {
        name: `broadcast ${id}`,
      });
      if (this.#live.has(id)) {
        this.#bytes.set(id, tagged(BROADCAST_CLOSURE, bytes));
      }
    } catch (error) {
      // Told to the jobs that use it, and to no other.
      broadcast.refuse(describeError(error));
    }
  }
}

function tagged(tag: number, bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(1 + bytes.length);
  whole[0] = tag;
  whole.set(bytes, 1);
  return whole;
}
