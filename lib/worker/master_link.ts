import type { Megabytes } from "../conf/units.ts";
import {
  type EndpointRef,
  formatAddress,
  type RpcAddress,
  sameAddress,
  toSparkUrl,
} from "../messages/addresses.ts";
import {
  MASTER_ENDPOINT,
  type MasterChanged,
  type RegisteredWorker,
  type ResourceAddresses,
  type ToMaster,
  type WorkerId,
} from "../messages/deploy.ts";
import type { LogLevel, MachineEffect } from "../rpc/machine.ts";
import { Registration } from "./registration.ts";
import type { WorkerSettings } from "./worker_settings.ts";

/** What a worker is to its masters. */
export interface WorkerIdentity {
  readonly id: WorkerId;
  /** This worker's endpoint, at the address that others are to dial. */
  readonly self: EndpointRef;
  readonly cores: number;
  readonly memory: Megabytes;
  readonly resources: ResourceAddresses;
  /** Empty when the worker has no page. */
  readonly webUiUrl: string;
}

/** The timer after which the worker tries to register once more. */
export const REGISTRATION_TIMER = "registration";

/** The master that the worker obeys. */
interface ActiveMaster {
  /** What it calls itself. */
  readonly ownAddress: RpcAddress;
  /** Where it was reached, which need not be what it calls itself. */
  readonly reachedAt: RpcAddress;
  readonly ref: EndpointRef;
}

/** Whom the worker obeys, and how it finds its way back to a lost master. */
export class MasterLink {
  readonly #identity: WorkerIdentity;
  readonly #masters: readonly RpcAddress[];
  readonly #preferConfigured: boolean;
  readonly #registration: Registration;
  /** The last master that was found, also while the connection is broken. */
  #master: ActiveMaster | null = null;
  #connected = false;
  #everRegistered = false;

  /**
   * @param masters All masters of the cluster, one at least.
   * @param factor See Registration.
   */
  constructor(
    identity: WorkerIdentity,
    masters: readonly RpcAddress[],
    settings: WorkerSettings,
    factor: number,
  ) {
    this.#identity = identity;
    this.#masters = masters;
    this.#preferConfigured = settings.preferConfiguredMasterAddress;
    this.#registration = new Registration({
      initialRetries: settings.initialRegistrationRetries,
      maxRetries: settings.maxRegistrationRetries,
      factor,
    });
  }

  /** The active master, while there is a connection with it. */
  get reachable(): EndpointRef | null {
    return this.#connected && this.#master ? this.#master.ref : null;
  }

  /** `spark://host:port` as the active master calls itself; empty: none. */
  get url(): string {
    return this.#master === null ? "" : toSparkUrl(this.#master.ownAddress);
  }

  get everRegistered(): boolean {
    return this.#everRegistered;
  }

  get registering(): boolean {
    return this.#registration.pending;
  }

  /** Dials all masters, unless another attempt is to come anyway. */
  register(): MachineEffect[] {
    if (this.#registration.pending) {
      return [
        log(
          "info",
          "Not spawning another attempt to register with the master, since " +
            "there is an attempt scheduled already.",
        ),
      ];
    }
    this.#connected = false;
    const after = this.#registration.begin();
    return [
      { type: "setTimer", timer: REGISTRATION_TIMER, after },
      ...this.#dial(this.#masters),
    ];
  }

  /** @returns null when there were enough attempts. */
  retry(): MachineEffect[] | null {
    const after = this.#registration.retry();
    if (after === null) return null;
    const { attempts } = this.#registration;
    return [
      log("info", `Retrying connection to master (attempt # ${attempts})`),
      { type: "setTimer", timer: REGISTRATION_TIMER, after },
      ...this.#dial(this.#mastersToRetry()),
    ];
  }

  registered(message: RegisteredWorker): MachineEffect[] {
    const { master, masterAddress, duplicate } = message;
    this.#everRegistered = true;
    const url = toSparkUrl(
      this.#preferConfigured ? masterAddress : master.address,
    );
    const logs = [log("info", `Successfully registered with master ${url}`)];
    if (duplicate) {
      logs.unshift(log("warn", `Duplicate registration at master ${url}`));
    }
    return [...logs, ...this.#follow(master, masterAddress)];
  }

  masterChanged({ master }: MasterChanged): MachineEffect[] {
    const url = toSparkUrl(master.address);
    const news = log("info", `Master has changed, new master is at ${url}`);
    // It means an earlier process at this address: we are yet to register.
    if (!this.#everRegistered) return [news, ...this.#dial([master.address])];
    return [news, ...this.#follow(master, master.address)];
  }

  disconnected(address: RpcAddress): MachineEffect[] {
    const master = this.#master;
    if (
      master === null ||
      !sameAddress(address, master.ownAddress) &&
        !sameAddress(address, master.reachedAt)
    ) return [];
    const news = this.#connected
      ? [
        log(
          "error",
          "Connection to master failed! Waiting for master to reconnect...",
        ),
      ]
      : [];
    return [...news, ...this.register()];
  }

  /** No further attempt to register is wanted. */
  stopRegistering(): MachineEffect[] {
    this.#registration.end();
    return [{ type: "clearTimer", timer: REGISTRATION_TIMER }];
  }

  /** Tells the active master, if it is there. */
  send(message: ToMaster): MachineEffect[] {
    const to = this.reachable;
    return to === null ? [] : [{ type: "send", to, message }];
  }

  #follow(master: EndpointRef, reachedAt: RpcAddress): MachineEffect[] {
    this.#master = {
      ownAddress: master.address,
      reachedAt,
      // Answers go where the master was reached: what it calls itself may be
      // a name that can't be dialled from here.
      ref: { name: master.name, address: reachedAt },
    };
    this.#connected = true;
    return this.stopRegistering();
  }

  /**
   * Once a master was found, the others wait for it or for its successor, and
   * the successor calls by itself (MasterChanged).
   */
  #mastersToRetry(): readonly RpcAddress[] {
    if (this.#master === null) return this.#masters;
    const { reachedAt, ownAddress } = this.#master;
    return [this.#preferConfigured ? reachedAt : ownAddress];
  }

  #dial(masters: readonly RpcAddress[]): MachineEffect[] {
    const { id, self, cores, memory, webUiUrl, resources } = this.#identity;
    return masters.flatMap((masterAddress): MachineEffect[] => {
      const message: ToMaster = {
        type: "RegisterWorker",
        id,
        host: self.address.host,
        port: self.address.port,
        worker: self,
        cores,
        memory,
        workerWebUiUrl: webUiUrl,
        masterAddress,
        resources,
      };
      const to = { name: MASTER_ENDPOINT, address: masterAddress };
      return [
        log("info", `Connecting to master ${formatAddress(masterAddress)}...`),
        { type: "send", to, message },
      ];
    });
  }
}

function log(level: LogLevel, message: string): MachineEffect {
  return { type: "log", level, message };
}
