import { SparkConf } from "../../lib/conf/spark_conf.ts";
import {
  type EndpointRef,
  formatAddress,
  type RpcAddress,
} from "../../lib/messages/addresses.ts";
import type {
  ApplicationDescription,
  Command,
  LaunchExecutor,
  RegisteredWorker,
  ToMaster,
  ToWorker,
} from "../../lib/messages/deploy.ts";
import type { ExecutorState } from "../../lib/messages/states.ts";
import { WorkerCore, type WorkerCoreOptions } from "../../lib/worker/core.ts";
import type { WorkerEffect, WorkerEvent } from "../../lib/worker/events.ts";
import { readWorkerSettings } from "../../lib/worker/worker_settings.ts";

export const WORKER: RpcAddress = { host: "worker", port: 4000 };
export const MASTER: RpcAddress = { host: "master", port: 7077 };
export const OTHER_MASTER: RpcAddress = { host: "standby", port: 7077 };
export const MASTER_URL = "spark://master:7077";

export type EffectOf<T extends WorkerEffect["type"]> = Extract<
  WorkerEffect,
  { type: T }
>;

/**
 * A worker without a network: it takes events one by one, shows what each
 * makes it do, and checks its invariants after every one.
 */
export class WorkerHarness {
  readonly core: WorkerCore;
  readonly timers = new Map<string, number>();
  /** What the last event, or events of one call, made the worker do. */
  effects: WorkerEffect[] = [];

  constructor(
    conf: Record<string, string> = {},
    options: Partial<WorkerCoreOptions> = {},
  ) {
    this.core = new WorkerCore({
      id: "worker-1",
      self: { name: "Worker", address: WORKER },
      masters: [MASTER],
      cores: 8,
      memory: 8_192,
      webUiUrl: "",
      resources: {},
      settings: readWorkerSettings(new SparkConf(conf)),
      registrationFactor: 1,
      ...options,
    });
  }

  handle(...events: WorkerEvent[]): this {
    this.effects = [];
    for (const event of events) {
      const effects = this.core.handle(event, 0);
      this.core.checkInvariants();
      for (const effect of effects) {
        if (effect.type === "setTimer") {
          this.timers.set(effect.timer, effect.after);
        }
        if (effect.type === "clearTimer") this.timers.delete(effect.timer);
      }
      this.effects.push(...effects);
    }
    return this;
  }

  receive(message: ToWorker, sender: RpcAddress = MASTER): this {
    return this.handle({ type: "message", message, sender, reply: null });
  }

  /** Lets a timer fire that must be set. */
  fire(timer: string): this {
    if (!this.timers.delete(timer)) {
      throw new Error(`No timer ${timer} is set.`);
    }
    return this.handle({ type: "timer", timer });
  }

  /** Starts the worker and has it registered. */
  register(message: Partial<RegisteredWorker> = {}): this {
    return this.handle({ type: "start" }).receive(registered(message));
  }

  /** Launches an executor and has its process started. */
  launch(execId: number, message: Partial<LaunchExecutor> = {}): this {
    const launch = launchExecutor(execId, message);
    return this.receive(launch).change(execId, "RUNNING", {
      appId: launch.appId,
      pid: 100 + execId,
    });
  }

  /** The runner's word on an executor. */
  change(
    execId: number,
    state: ExecutorState,
    more: {
      appId?: string;
      message?: string;
      exitStatus?: number;
      pid?: number;
    } = {},
  ): this {
    return this.handle({
      type: "executorChanged",
      appId: more.appId ?? "app-1",
      execId,
      state,
      message: more.message ?? null,
      exitStatus: more.exitStatus ?? null,
      pid: more.pid ?? null,
    });
  }

  /** Answers every ask that the last event made. */
  answerAll(): this {
    return this.handle(
      ...this.of("ask").map(({ token }): WorkerEvent => ({
        type: "answer",
        token,
        value: true,
      })),
    );
  }

  /** Fails every ask that the last event made. */
  failAll(timedOut = false): this {
    return this.handle(
      ...this.of("ask").map(({ token }): WorkerEvent => ({
        type: "askFailed",
        token,
        error: "no answer",
        timedOut,
      })),
    );
  }

  of<T extends WorkerEffect["type"]>(type: T): EffectOf<T>[] {
    return this.effects.filter((effect): effect is EffectOf<T> =>
      effect.type === type
    );
  }

  /** The messages of one type that went to masters, sent or asked. */
  told<T extends ToMaster["type"]>(
    type: T,
  ): { to: EndpointRef; message: Extract<ToMaster, { type: T }> }[] {
    return [...this.of("send"), ...this.of("ask")]
      .filter(({ message }) => message.type === type)
      .map(({ to, message }) => ({
        to,
        message: message as Extract<ToMaster, { type: T }>,
      }));
  }

  /** Where registrations went. */
  dialled(): string[] {
    return this.told("RegisterWorker").map(({ to }) =>
      formatAddress(to.address)
    );
  }

  /** The lines of the log that are no mere information. */
  complaints(): string[] {
    return this.of("log").filter(({ level }) => level !== "info")
      .map(({ message }) => message);
  }
}

export function registered(
  message: Partial<RegisteredWorker> = {},
): RegisteredWorker {
  return {
    type: "RegisteredWorker",
    master: { name: "Master", address: MASTER },
    masterWebUiUrl: "",
    masterAddress: MASTER,
    duplicate: false,
    registration: 1,
    ...message,
  };
}

export const COMMAND: Command = {
  kind: "sparkts",
  mainClass: "",
  arguments: [],
  environment: {},
  classPathEntries: [],
  libraryPathEntries: [],
  javaOpts: [],
};

export function application(
  command: Partial<Command> = {},
): ApplicationDescription {
  return {
    name: "word count",
    user: "ada",
    maxCores: null,
    command: { ...COMMAND, ...command },
    appUiUrl: "",
    defaultProfile: {
      id: 0,
      coresPerExecutor: null,
      memoryPerExecutor: 1_024,
      resourcesPerExecutor: [],
    },
    initialExecutorLimit: null,
  };
}

export function launchExecutor(
  execId: number,
  message: Partial<LaunchExecutor> = {},
): LaunchExecutor {
  return {
    type: "LaunchExecutor",
    masterUrl: MASTER_URL,
    appId: "app-1",
    execId,
    resourceProfileId: 0,
    appDesc: application(),
    cores: 2,
    memory: 1_024,
    resources: {},
    ...message,
  };
}
