import { getLogger } from "../log.ts";
import type { RpcEndpoint } from "./endpoint.ts";
import { RpcError } from "./errors.ts";
import { Inbox, type InboxItem } from "./inbox.ts";

const log = getLogger("Dispatcher");

/** The endpoints of one process by name (Spark: `Dispatcher`). */
export class Dispatcher {
  readonly #inboxes = new Map<string, Inbox>();
  #stopped = false;

  has(name: string): boolean {
    return this.#inboxes.has(name);
  }

  get(name: string): Inbox | undefined {
    return this.#inboxes.get(name);
  }

  /** @throws {RpcError} when the name is taken, or all has been stopped. */
  register(name: string, endpoint: RpcEndpoint): void {
    if (this.#stopped) {
      throw new RpcError(`Cannot register ${name}: this process is closing.`);
    }
    if (this.#inboxes.has(name)) {
      throw new RpcError(`There is already an endpoint called ${name}.`);
    }
    const inbox = new Inbox(
      endpoint,
      (problem, error) => log.error(`${name} ${problem}`, error),
    );
    this.#inboxes.set(name, inbox);
    inbox.start();
  }

  async unregister(name: string): Promise<void> {
    const inbox = this.#inboxes.get(name);
    this.#inboxes.delete(name);
    await inbox?.stop();
  }

  /** Tells all endpoints what happened to a connection. */
  tellAll(event: InboxItem): void {
    for (const inbox of this.#inboxes.values()) inbox.postLater(event);
  }

  /** Set while an endpoint has more before it than is good. */
  pressure(): Promise<void> | undefined {
    for (const inbox of this.#inboxes.values()) {
      const pressure = inbox.pressure();
      if (pressure) return pressure;
    }
    return undefined;
  }

  /** Stops all endpoints; resolves when each has seen its `onStop`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const inboxes = [...this.#inboxes.values()];
    await Promise.all(inboxes.map((inbox) => inbox.stop()));
    this.#inboxes.clear();
  }
}
