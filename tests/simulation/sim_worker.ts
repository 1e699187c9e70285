import type { Milliseconds } from "../../lib/conf/units.ts";
import type { RpcAddress } from "../../lib/messages/addresses.ts";
import {
  type ToWorker,
  WORKER_ENDPOINT,
  type WorkerId,
} from "../../lib/messages/deploy.ts";
import { WorkerCore } from "../../lib/worker/core.ts";
import type { WorkerEffect, WorkerEvent } from "../../lib/worker/events.ts";
import {
  readWorkerSettings,
  type WorkerSettings,
} from "../../lib/worker/worker_settings.ts";
import { SimExecutors } from "./sim_executors.ts";
import { SimHost } from "./sim_host.ts";
import { MASTER_AT, mustHold, type World } from "./world.ts";

/** A process of a worker, from its start to its end. */
interface Incarnation {
  readonly id: WorkerId;
  readonly core: WorkerCore;
  readonly host: SimHost<ToWorker, WorkerEvent, WorkerEffect>;
  readonly executors: SimExecutors;
}

/**
 * A host with a worker on it. Whenever the worker has ended, by a crash, in
 * good order or because it gave up, another one is started at its address
 * after a while, as a service manager does.
 */
export class SimWorker {
  readonly address: RpcAddress;
  readonly cores: number;
  readonly memory: number;
  readonly #world: World;
  readonly #settings: WorkerSettings;
  #starts = 0;
  #current: Incarnation | null = null;

  constructor(world: World, host: string) {
    const { prng } = world;
    this.#world = world;
    this.#settings = readWorkerSettings(world.conf);
    this.address = { host, port: 7078 };
    this.cores = prng.integer(1, 8);
    this.memory = prng.integer(2, 8) * 512;
    this.#startAfter(prng.integer(0, 20_000));
  }

  /** The worker, while one runs. */
  get current(): Pick<Incarnation, "id" | "core"> | null {
    return this.#current;
  }

  pause(duration: Milliseconds): void {
    this.#current?.host.process.pause(duration);
  }

  /** The process is gone at once, its executors with it, as they watch it. */
  crash(): void {
    const gone = this.#current;
    if (gone === null) return;
    this.#world.trace.add(this.address.host, "crashes");
    gone.host.process.crash();
    this.#ended(gone, this.#world.prng.skewed(100, 60_000));
  }

  /** The worker is told to end, as by SIGTERM. */
  shutdown(): void {
    this.#current?.host.dispatch({ type: "shutdown", reason: "SIGTERM" });
  }

  #ended(gone: Incarnation, restartAfter: Milliseconds): void {
    gone.executors.killAll();
    this.#current = null;
    this.#startAfter(restartAfter);
  }

  #startAfter(pause: Milliseconds): void {
    this.#world.clock.schedule(pause, () => this.#start());
  }

  #start(): void {
    const world = this.#world;
    const { address, cores, memory } = this;
    // The one before may still be busy with its good-byes.
    if (!world.network.isFree(address)) return this.#startAfter(1_000);
    const id = `worker-${this.#starts++}-${address.host}-${address.port}`;
    const core = new WorkerCore({
      id,
      self: { address, name: WORKER_ENDPOINT },
      masters: [MASTER_AT],
      cores,
      memory,
      resources: {},
      webUiUrl: "",
      settings: this.#settings,
      registrationFactor: 0.5 + world.prng.next(),
    });
    const watch = new WorkerWatch(id, this.#settings);
    const host: Incarnation["host"] = new SimHost({
      world,
      address,
      endpoint: WORKER_ENDPOINT,
      label: address.host,
      machine: world.sabotage.worker?.(core) ?? core,
      carryOut: (effect) => {
        watch.effect(effect);
        this.#carryOut(incarnation, effect);
      },
      check: () => core.checkInvariants(),
    });
    const executors = new SimExecutors(world, id, (e) => host.dispatch(e));
    const incarnation: Incarnation = { id, core, host, executors };
    this.#current = incarnation;
    world.trace.add(address.host, `starts as ${id}`);
  }

  #carryOut(self: Incarnation, effect: WorkerEffect): void {
    switch (effect.type) {
      case "launchExecutor":
        return self.executors.launch(effect);
      case "killExecutor":
        return self.executors.kill(effect);
      case "exit":
        mustHold(
          self.executors.size === 0 || self.executors.allOrphaned,
          `${self.id} ended before its executors`,
        );
        return this.#ended(self, this.#world.prng.skewed(1_000, 60_000));
      default:
        return;
    }
  }
}

/** What a worker may do only so often. */
class WorkerWatch {
  readonly #id: WorkerId;
  readonly #settings: WorkerSettings;
  readonly #reports = new Map<string, number>();
  #registrations = 0;

  constructor(id: WorkerId, settings: WorkerSettings) {
    this.#id = id;
    this.#settings = settings;
  }

  effect(effect: WorkerEffect): void {
    if (effect.type !== "send" && effect.type !== "ask") return;
    const { message } = effect;
    if (message.type === "RegisterWorker") {
      this.#registrations++;
      mustHold(
        this.#registrations <= 1 + this.#settings.maxRegistrationRetries,
        `${this.#id} tried to register ${this.#registrations} times`,
      );
    } else if (message.type === "WorkerLatestState") {
      this.#registrations = 0;
    } else if (message.type === "ExecutorStateChanged") {
      const { type: _, ...change } = message;
      const key = JSON.stringify(change);
      const reports = (this.#reports.get(key) ?? 0) + 1;
      this.#reports.set(key, reports);
      mustHold(
        reports <= this.#settings.stateSyncMaxAttempts,
        `${this.#id} told ${reports} times of ${key}`,
      );
    }
  }
}
