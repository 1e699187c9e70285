import type { RpcAddress } from "../messages/addresses.ts";
import { broadcastStreamId } from "../rdd/broadcast.ts";
import { RpcConnectionError, RpcError } from "../rpc/errors.ts";
import type { RpcEnv } from "../rpc/rpc_env.ts";
import { toSharedBytes } from "./shared_bytes.ts";

/**
 * The broadcast values that this executor has: each is fetched from the driver
 * once, when the first task asks for it, and shared by all threads.
 */
export class BroadcastStore {
  readonly #env: RpcEnv;
  readonly #driver: RpcAddress;
  readonly #values = new Map<number, Promise<Uint8Array>>();

  constructor(env: RpcEnv, driver: RpcAddress) {
    this.#env = env;
    this.#driver = driver;
  }

  /** @throws {RpcError} when the driver doesn't have it or can't be reached. */
  get(id: number): Promise<Uint8Array> {
    let value = this.#values.get(id);
    if (value === undefined) {
      value = this.#fetch(id);
      this.#values.set(id, value);
      // The next task may have more luck than this one.
      value.catch(() => this.#values.delete(id));
    }
    return value;
  }

  remove(id: number): void {
    this.#values.delete(id);
  }

  async #fetch(id: number): Promise<Uint8Array> {
    try {
      const stream = await this.#env.fetchStream(
        this.#driver,
        broadcastStreamId(id),
      );
      return toSharedBytes(await stream.bytes());
    } catch (cause) {
      if (cause instanceof RpcConnectionError) throw cause;
      throw new RpcError(
        `Cannot get broadcast ${id} from the driver: was it destroyed?`,
        { cause },
      );
    }
  }
}
