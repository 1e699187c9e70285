import {
  APP_CLIENT_REGISTRATION_RETRIES,
  APP_CLIENT_REGISTRATION_TIMEOUT,
} from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import type { Milliseconds } from "../conf/units.ts";
import {
  type EndpointRef,
  formatAddress,
  type RpcAddress,
  sameAddress,
} from "../messages/addresses.ts";
import {
  type ApplicationDescription,
  type ApplicationId,
  type ExecutorId,
  MASTER_ENDPOINT,
  type MasterChangeAcknowledged,
  type RegisterApplication,
  type ToAppClient,
  type UnregisterApplication,
} from "../messages/deploy.ts";
import { type ExecutorState, isFinishedExecutor } from "../messages/states.ts";
import type { Machine, MachineEffect, MachineEvent } from "../rpc/machine.ts";

export type AppClientEvent =
  | MachineEvent<ToAppClient>
  /** The application ends in the ordinary way. */
  | { readonly type: "stop" };

/** What the scheduler backend is told (Spark: `StandaloneAppClientListener`). */
export type AppClientEffect =
  | MachineEffect
  | { readonly type: "connected"; readonly appId: ApplicationId }
  /** The master is gone for now; executors go on. Told once until it is back. */
  | { readonly type: "masterLost" }
  /** Nothing more will come; told once. */
  | { readonly type: "dead"; readonly reason: string }
  | {
    readonly type: "executorGranted";
    readonly id: string;
    readonly workerId: string;
    readonly hostPort: string;
    readonly cores: number;
  }
  | {
    readonly type: "executorRemoved";
    readonly id: string;
    readonly state: ExecutorState;
    readonly message: string;
    readonly exitStatus: number | null;
    readonly workerHost: string | null;
  };

type Effects = AppClientEffect[];

const RETRY_TIMER = "registration";

/**
 * Keeps the application registered with its master (Spark:
 * `StandaloneAppClient.ClientEndpoint`). A state machine without I/O.
 */
export class AppClientCore implements Machine<AppClientEvent, AppClientEffect> {
  readonly #masters: readonly RpcAddress[];
  readonly #description: ApplicationDescription;
  readonly #self: EndpointRef;
  readonly #timeout: Milliseconds;
  readonly #retries: number;
  #appId: ApplicationId | undefined;
  #master: EndpointRef | undefined;
  #attempt = 0;
  #lost = false;
  #dead = false;

  constructor(options: {
    masters: readonly RpcAddress[];
    description: ApplicationDescription;
    self: EndpointRef;
    conf: SparkConf;
  }) {
    this.#masters = options.masters;
    this.#description = options.description;
    this.#self = options.self;
    this.#timeout = options.conf.get(APP_CLIENT_REGISTRATION_TIMEOUT);
    this.#retries = options.conf.get(APP_CLIENT_REGISTRATION_RETRIES);
  }

  get appId(): ApplicationId | undefined {
    return this.#appId;
  }

  /** The active master, once it is known. */
  get master(): EndpointRef | undefined {
    return this.#master;
  }

  handle(event: AppClientEvent): Effects {
    if (this.#dead) return [];
    switch (event.type) {
      case "start":
        return this.#tryRegister();
      case "timer":
        return event.timer === RETRY_TIMER ? this.#tryRegister() : [];
      case "disconnected":
        return this.#disconnected(event.address);
      case "message":
        return this.#receive(event.message);
      case "stop":
        return this.#stop();
      case "answer":
      case "askFailed":
        return [];
    }
  }

  #tryRegister(): Effects {
    if (this.#appId !== undefined) return [];
    if (this.#attempt === this.#retries) {
      const masters = this.#masters.map(formatAddress).join(", ");
      return this.#die(
        `All masters are unresponsive! Giving up. (Tried ${masters}, ${this.#retries} times.)`,
      );
    }
    this.#attempt++;
    const message: RegisterApplication = {
      type: "RegisterApplication",
      appDescription: this.#description,
      driver: this.#self,
    };
    return [
      ...this.#masters.flatMap((address): Effects => [
        log("info", `Connecting to master ${formatAddress(address)}...`),
        { type: "send", to: { address, name: MASTER_ENDPOINT }, message },
      ]),
      { type: "setTimer", timer: RETRY_TIMER, after: this.#timeout },
    ];
  }

  #receive(message: ToAppClient): Effects {
    switch (message.type) {
      case "RegisteredApplication":
        this.#appId = message.appId;
        this.#master = message.master;
        this.#lost = false;
        return [
          { type: "clearTimer", timer: RETRY_TIMER },
          { type: "connected", appId: message.appId },
        ];
      case "ApplicationRemoved":
        return this.#die(`Master removed our application: ${message.message}`);
      case "ExecutorAdded":
        return [
          log(
            "info",
            `Executor added: ${
              this.#fullId(message.id)
            } on ${message.workerId} (${message.hostPort}) with ${message.cores} core(s)`,
          ),
          {
            type: "executorGranted",
            id: String(message.id),
            workerId: message.workerId,
            hostPort: message.hostPort,
            cores: message.cores,
          },
        ];
      case "ExecutorUpdated": {
        const text = message.message ? ` (${message.message})` : "";
        const updated = log(
          "info",
          `Executor updated: ${
            this.#fullId(message.id)
          } is now ${message.state}${text}`,
        );
        if (!isFinishedExecutor(message.state)) return [updated];
        return [updated, {
          type: "executorRemoved",
          id: String(message.id),
          state: message.state,
          message: message.message ?? "",
          exitStatus: message.exitStatus,
          workerHost: message.workerHost,
        }];
      }
      case "WorkerRemoved":
        return [
          log(
            "info",
            `Master removed worker ${message.id}: ${message.message}`,
          ),
        ];
      case "MasterChanged": {
        this.#master = message.master;
        this.#lost = false;
        const changed = log(
          "info",
          `Master has changed, new master is at ${
            formatAddress(message.master.address)
          }`,
        );
        // Not registered yet: the next attempt goes to the new master as well.
        if (this.#appId === undefined) return [changed];
        const acknowledged: MasterChangeAcknowledged = {
          type: "MasterChangeAcknowledged",
          appId: this.#appId,
        };
        return [
          changed,
          { type: "send", to: message.master, message: acknowledged },
        ];
      }
    }
  }

  #disconnected(address: RpcAddress): Effects {
    const ours = this.#master && sameAddress(this.#master.address, address);
    if (!ours || this.#lost) return [];
    this.#lost = true;
    return [
      log(
        "warn",
        `Connection to ${
          formatAddress(address)
        } failed; waiting for master to reconnect...`,
      ),
      { type: "masterLost" },
    ];
  }

  #stop(): Effects {
    const appId = this.#appId;
    const master = this.#master;
    const death = this.#die("Application has been stopped.");
    if (appId === undefined || master === undefined) return death;
    const message: UnregisterApplication = {
      type: "UnregisterApplication",
      appId,
    };
    return [...death, { type: "send", to: master, message }];
  }

  #die(reason: string): Effects {
    this.#dead = true;
    return [
      { type: "clearTimer", timer: RETRY_TIMER },
      { type: "dead", reason },
    ];
  }

  #fullId(id: ExecutorId): string {
    return `${this.#appId}/${id}`;
  }
}

function log(level: "info" | "warn", message: string): AppClientEffect {
  return { type: "log", level, message };
}
