import type { ClosureCapturer } from "../closure/capturer.ts";
import { Broadcast } from "../rdd/broadcast.ts";
import { BROADCAST_CLOSURE, BROADCAST_VALUE } from "../rdd/broadcast_codec.ts";
import { encodeValue, UnsendableValueError } from "../shuffle/record_codec.ts";

/** The driver's broadcast values, encoded, for executors to fetch. */
export class Broadcasts {
  readonly #capturer: ClosureCapturer;
  readonly #bytes = new Map<number, Uint8Array>();
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
    this.#encode(id, value);
    return Broadcast.of(id, value, () => {
      this.#bytes.delete(id);
      removed(id);
    });
  }

  get(id: number): Uint8Array | undefined {
    return this.#bytes.get(id);
  }

  /** Resolves when all values can be fetched; rejects if one can't travel. */
  async ready(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #encode(id: number, value: unknown): void {
    try {
      this.#bytes.set(id, tagged(BROADCAST_VALUE, encodeValue(value)));
    } catch (error) {
      if (!(error instanceof UnsendableValueError)) throw error;
      // It holds functions or instances of classes, as a closure may.
      const capture = this.#capturer.capture(value, { name: `broadcast ${id}` })
        .then((bytes) => {
          this.#bytes.set(id, tagged(BROADCAST_CLOSURE, bytes));
          this.#pending.delete(capture);
        });
      this.#pending.add(capture);
      capture.catch(() => {});
    }
  }
}

function tagged(tag: number, bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(1 + bytes.length);
  whole[0] = tag;
  whole.set(bytes, 1);
  return whole;
}
