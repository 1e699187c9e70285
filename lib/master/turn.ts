import type { Milliseconds } from "../conf/units.ts";
import type { EndpointRef } from "../messages/addresses.ts";
import type { ToAppClient, ToWorker } from "../messages/deploy.ts";
import type { LogLevel, MachineEffect, ReplyToken } from "../rpc/machine.ts";
import type { ApplicationIds } from "./ids.ts";
import type { MasterSettings } from "./master_settings.ts";
import type { MasterTables } from "./state.ts";

/** What a master wants done. */
export type MasterEffect = MachineEffect;

/** What does not change while a master runs, and its tables. */
export interface MasterFacts {
  /** This master's own endpoint. */
  readonly self: EndpointRef;
  /** `spark://host:port`, by which workers know who leads. */
  readonly masterUrl: string;
  readonly webUiUrl: string;
  readonly settings: MasterSettings;
  readonly applicationIds: ApplicationIds;
  readonly tables: MasterTables;
}

/**
 * The handling of one event: the time it came at, what is to be done about it,
 * and whether executors are to be placed once it has been handled.
 */
export class Turn {
  readonly effects: MasterEffect[] = [];
  readonly tables: MasterTables;
  readonly settings: MasterSettings;
  #mustSchedule = false;

  constructor(readonly facts: MasterFacts, readonly now: Milliseconds) {
    this.tables = facts.tables;
    this.settings = facts.settings;
  }

  toWorker(worker: { readonly endpoint: EndpointRef }, message: ToWorker) {
    this.effects.push({ type: "send", to: worker.endpoint, message });
  }

  toDriver(app: { readonly driver: EndpointRef }, message: ToAppClient): void {
    this.effects.push({ type: "send", to: app.driver, message });
  }

  /** Answers an ask; nobody waits for an answer to what was only sent. */
  reply(to: ReplyToken | null, value: unknown): void {
    if (to !== null) this.effects.push({ type: "reply", to, value });
  }

  log(level: LogLevel, message: string): void {
    this.effects.push({ type: "log", level, message });
  }

  /**
   * Something was freed, added or asked for. Executors are placed once, when
   * the whole event has been handled: so none is placed, say, on the second of
   * two workers that time out together.
   */
  scheduleAtEnd(): void {
    this.#mustSchedule = true;
  }

  get mustSchedule(): boolean {
    return this.#mustSchedule;
  }
}
