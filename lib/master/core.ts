import type { SparkConf } from "../conf/spark_conf.ts";
import type { Milliseconds } from "../conf/units.ts";
import { type RpcAddress, toSparkUrl } from "../messages/addresses.ts";
import { MASTER_ENDPOINT, type ToMaster } from "../messages/deploy.ts";
import type { MasterState } from "../messages/states.ts";
import type { Machine, MachineEvent } from "../rpc/machine.ts";
import {
  applicationDisconnected,
  killExecutors,
  masterChangeAcknowledged,
  registerApplication,
  requestExecutors,
  unregisterApplication,
} from "./applications.ts";
import { executorStateChanged } from "./executors.ts";
import { ApplicationIds } from "./ids.ts";
import { checkTables } from "./invariants.ts";
import { readMasterSettings } from "./master_settings.ts";
import { buildMasterState } from "./master_state.ts";
import { schedule } from "./scheduling.ts";
import { MasterTables } from "./state.ts";
import { type MasterEffect, type MasterFacts, Turn } from "./turn.ts";
import {
  checkWorkers,
  heartbeat,
  registerWorker,
  workerDisconnected,
  workerLatestState,
} from "./workers.ts";

export type { MasterEffect };

/** What happens to a master. */
export type MasterEvent = MachineEvent<ToMaster>;

export interface MasterCoreOptions {
  /** Where workers and applications reach this master. */
  readonly address: RpcAddress;
  /** Where its page is; empty when it has none. */
  readonly webUiUrl: string;
  readonly conf: SparkConf;
  /** @default {"ALIVE"} */
  readonly initialState?: MasterState;
}

const CHECK_WORKERS = "check-workers";

/**
 * The master without its sockets and clock (Spark: `Master`): it knows the
 * workers and the applications, and decides which worker runs which
 * executors. See `Machine` for what drives it.
 */
export class MasterCore implements Machine<MasterEvent, MasterEffect> {
  readonly #facts: MasterFacts;

  /** @throws {InvalidSettingError} when a setting of the master is no good. */
  constructor(options: MasterCoreOptions) {
    const settings = readMasterSettings(options.conf);
    this.#facts = {
      self: { address: options.address, name: MASTER_ENDPOINT },
      masterUrl: toSparkUrl(options.address),
      webUiUrl: options.webUiUrl,
      settings,
      applicationIds: new ApplicationIds(settings.applicationIds),
      tables: new MasterTables(options.initialState ?? "ALIVE"),
    };
  }

  get state(): MasterState {
    return this.#facts.tables.state;
  }

  /** To be looked at only: what it holds changes by events. */
  get tables(): MasterTables {
    return this.#facts.tables;
  }

  handle(event: MasterEvent, now: Milliseconds): MasterEffect[] {
    const turn = new Turn(this.#facts, now);
    switch (event.type) {
      case "start":
        turn.log(
          "info",
          `Master at ${this.#facts.masterUrl} starts: it is ${this.state}.`,
        );
        this.#awaitNextCheck(turn);
        break;
      case "timer":
        if (event.timer === CHECK_WORKERS) {
          checkWorkers(turn);
          this.#awaitNextCheck(turn);
        }
        break;
      case "message":
        this.#receive(turn, event);
        break;
      case "disconnected":
        workerDisconnected(turn, event.address);
        applicationDisconnected(turn, event.address);
        break;
      case "answer":
      case "askFailed":
        // The master asks nothing of anyone.
        break;
    }
    if (turn.mustSchedule) schedule(turn);
    return turn.effects;
  }

  /**
   * Checks what must hold between two events; for tests and simulation.
   *
   * @throws {InvariantError} naming what does not.
   */
  checkInvariants(): void {
    checkTables(this.#facts.tables, this.#facts.settings);
  }

  #awaitNextCheck(turn: Turn): void {
    const after = turn.settings.workerTimeout;
    turn.effects.push({ type: "setTimer", timer: CHECK_WORKERS, after });
  }

  #receive(
    turn: Turn,
    { message, reply }: Extract<MasterEvent, { type: "message" }>,
  ): void {
    switch (message.type) {
      // Asks, each answered whatever came of it.
      case "ExecutorStateChanged":
        executorStateChanged(turn, message);
        return turn.reply(reply, true);
      case "RequestExecutors":
        return turn.reply(reply, requestExecutors(turn, message));
      case "KillExecutors":
        return turn.reply(reply, killExecutors(turn, message));
      case "RequestMasterState":
        return turn.reply(reply, buildMasterState(this.#facts));
      // What is only sent.
      case "RegisterWorker":
        registerWorker(turn, message);
        break;
      case "Heartbeat":
        heartbeat(turn, message);
        break;
      case "WorkerLatestState":
        workerLatestState(turn, message);
        break;
      case "RegisterApplication":
        registerApplication(turn, message);
        break;
      case "UnregisterApplication":
        unregisterApplication(turn, message);
        break;
      case "MasterChangeAcknowledged":
        masterChangeAcknowledged(turn, message);
        break;
      default:
        turn.log("warn", `Ignoring a message of ${nameOf(message)}.`);
    }
    if (reply !== null) {
      const error = `The master does not answer ${nameOf(message)}.`;
      turn.effects.push({ type: "replyFailure", to: reply, error });
    }
  }
}

/** What is decoded from the wire need not be of the types it should be. */
function nameOf(message: { readonly type?: unknown }): string {
  return `the type ${JSON.stringify(message.type) ?? "undefined"}`;
}
