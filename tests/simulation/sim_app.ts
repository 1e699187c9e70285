import type { Milliseconds } from "../../lib/conf/units.ts";
import {
  AppClientCore,
  type AppClientEffect,
  type AppClientEvent,
} from "../../lib/driver/app_client_core.ts";
import type { RpcAddress } from "../../lib/messages/addresses.ts";
import {
  APP_CLIENT_ENDPOINT,
  type ApplicationDescription,
  type RequestedResourceProfile,
  type ToAppClient,
} from "../../lib/messages/deploy.ts";
import type { Prng } from "./prng.ts";
import { FAILING_MAIN_CLASS } from "./sim_executors.ts";
import { SimHost } from "./sim_host.ts";
import { MASTER_AT, mustHold, type World } from "./world.ts";

/** How often a driver tries to register. */
const REGISTRATION_LIMIT = 3;

/**
 * A driver: it registers its application, now and then asks for more or fewer
 * executors, and ends by stopping, by vanishing, or when it is told that the
 * application was removed.
 */
export class SimApp {
  readonly core: AppClientCore;
  readonly address: RpcAddress;
  readonly description: ApplicationDescription;
  readonly #world: World;
  readonly #host: SimHost<ToAppClient, AppClientEvent, AppClientEffect>;
  readonly #granted = new Set<string>();
  #registrations = 0;
  #appId: string | undefined;
  #state: "up" | "ended" = "up";
  #masterLost = false;

  constructor(
    world: World,
    address: RpcAddress,
    description: ApplicationDescription,
  ) {
    this.#world = world;
    this.address = address;
    this.description = description;
    this.core = new AppClientCore({
      masters: [MASTER_AT],
      description,
      self: { address, name: APP_CLIENT_ENDPOINT },
      conf: world.conf,
    });
    this.#host = new SimHost({
      world,
      address,
      endpoint: APP_CLIENT_ENDPOINT,
      label: address.host,
      machine: world.sabotage.app?.(this.core) ?? this.core,
      carryOut: (effect) => this.#carryOut(effect),
      check: () => {},
    });
    world.trace.add(address.host, `starts ${description.name}`);
    this.#askSoon();
  }

  get isUp(): boolean {
    return this.#state === "up";
  }

  /** Ids of the executors that it was told of and that are not removed. */
  get granted(): ReadonlySet<string> {
    return this.#granted;
  }

  /** Whether it has lost the master, and so waits for a call that won't come. */
  get hasLostMaster(): boolean {
    return this.#masterLost;
  }

  pause(duration: Milliseconds): void {
    this.#host.process.pause(duration);
  }

  /** The process is gone without a word. */
  crash(): void {
    if (!this.isUp) return;
    this.#world.trace.add(this.address.host, "vanishes");
    this.#state = "ended";
    this.#host.process.crash();
  }

  stop(): void {
    if (this.isUp) this.#host.dispatch({ type: "stop" });
  }

  #carryOut(effect: AppClientEffect): void {
    switch (effect.type) {
      case "send":
        if (effect.message.type !== "RegisterApplication") return;
        this.#registrations++;
        return mustHold(
          this.#registrations <= REGISTRATION_LIMIT,
          `${this.address.host} registered ${this.#registrations} times`,
        );
      case "connected":
        this.#masterLost = false;
        mustHold(
          (this.#appId ??= effect.appId) === effect.appId,
          `${this.address.host} was ${this.#appId} and is ${effect.appId} now`,
        );
        return;
      case "masterLost":
        this.#masterLost = true;
        return;
      case "executorGranted":
        this.#granted.add(effect.id);
        return;
      case "executorRemoved":
        this.#granted.delete(effect.id);
        return;
      case "dead":
        this.#state = "ended";
        // The farewell is among the effects that follow.
        this.#world.clock.schedule(
          0,
          () => this.#host.process.run(() => this.#host.process.close()),
        );
        return;
    }
  }

  #askSoon(): void {
    const { clock, prng, calmSince } = this.#world;
    if (calmSince !== null) return;
    clock.schedule(prng.skewed(1_000, 300_000), () => {
      if (!this.isUp) return;
      this.#host.process.run(() => this.#ask());
      this.#askSoon();
    });
  }

  /** As dynamic allocation would: sets a target, or gives executors back. */
  #ask(): void {
    const { appId, master } = this.core;
    const { prng, calmSince } = this.#world;
    if (appId === undefined || master === undefined || calmSince !== null) {
      return;
    }
    const profiles = [this.description.defaultProfile, ...OTHER_PROFILES]
      .filter(() => prng.chance(0.6));
    const wanted = profiles.map((profile) => ({
      profile,
      total: prng.integer(0, 4),
    }));
    const total = wanted.reduce((sum, { total }) => sum + total, 0);
    this.#host.askBeside(master, {
      type: "RequestExecutors",
      appId,
      resourceProfileToTotalExecs: wanted,
    } as { type: string }, () => {});
    if (this.#granted.size <= total) return;
    this.#host.askBeside(master, {
      type: "KillExecutors",
      appId,
      executorIds: [prng.pick([...this.#granted])],
    } as { type: string }, () => {});
  }
}

/** What some stages of an application want instead of its default. */
const OTHER_PROFILES: readonly RequestedResourceProfile[] = [
  {
    id: 1,
    coresPerExecutor: 1,
    memoryPerExecutor: 256,
    resourcesPerExecutor: [],
  },
  // One whose memory is the default's.
  {
    id: 2,
    coresPerExecutor: 2,
    memoryPerExecutor: null,
    resourcesPerExecutor: [],
  },
];

export function randomDescription(
  prng: Prng,
  name: string,
): ApplicationDescription {
  return {
    name,
    user: "sim",
    maxCores: prng.chance(0.5) ? prng.integer(1, 12) : null,
    command: {
      kind: "sparkts",
      mainClass: prng.chance(0.1) ? FAILING_MAIN_CLASS : "executor",
      arguments: [],
      environment: {},
      classPathEntries: [],
      libraryPathEntries: [],
      javaOpts: [],
    },
    appUiUrl: "",
    defaultProfile: {
      id: 0,
      coresPerExecutor: prng.chance(0.5) ? prng.integer(1, 3) : null,
      memoryPerExecutor: prng.integer(1, 4) * 256,
      resourcesPerExecutor: [],
    },
    initialExecutorLimit: prng.chance(0.3) ? prng.integer(0, 4) : null,
  };
}
