import type { Milliseconds } from "../conf/units.ts";
import type { ApplicationId } from "../messages/deploy.ts";
import { formatIdPattern, idTimestamp } from "../messages/id_pattern.ts";

/** How the ids of applications are made. */
export interface ApplicationIdOptions {
  /** Takes the local time as its first argument and a counter as its second. */
  readonly pattern: string;
  /** The counter starts again here; unset: never. */
  readonly modulo: number | undefined;
  /** Whether an application's name, made an id, is taken instead. */
  readonly fromName: boolean;
}

/** Gives applications their ids (Spark: `Master.newApplicationId`). */
export class ApplicationIds {
  readonly #options: ApplicationIdOptions;
  #nextNumber = 0;

  constructor(options: ApplicationIdOptions) {
    this.#options = options;
  }

  /**
   * An id for an application that registers `now` under `name`.
   *
   * Spark can hand out the id of an application that still runs, once its
   * counter has started again or when two have one name; here such an id is
   * passed over.
   *
   * @returns undefined when every id that could be given is taken.
   */
  next(
    name: string,
    now: Milliseconds,
    taken: ReadonlyMap<ApplicationId, unknown>,
  ): ApplicationId | undefined {
    if (this.#options.fromName) {
      const id = idFromName(name);
      if (id !== "") return taken.has(id) ? undefined : id;
    }
    // One more try than there are ids to meet: a pattern without the counter
    // makes the same id each time.
    for (let tries = 0; tries <= taken.size; tries++) {
      const id = formatIdPattern(
        this.#options.pattern,
        idTimestamp(now),
        this.#takeNumber(),
      );
      if (!taken.has(id)) return id;
    }
    return undefined;
  }

  #takeNumber(): number {
    const number = this.#nextNumber++;
    const { modulo } = this.#options;
    if (modulo !== undefined) this.#nextNumber %= modulo;
    return number;
  }
}

/** A name in lower case and without its whitespace. */
export function idFromName(name: string): ApplicationId {
  return name.toLowerCase().replaceAll(/\s+/g, "");
}
