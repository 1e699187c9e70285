import { assertEquals } from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import {
  type EndpointRef,
  formatAddress,
  type RpcAddress,
  sameAddress,
} from "../../lib/messages/addresses.ts";
import type {
  ApplicationDescription,
  ApplicationInfo,
  ExecutorStateChanged,
  MasterStateResponse,
  RegisterWorker,
  RequestedResourceProfile,
  ResourceProfile,
  ToAppClient,
  ToMaster,
  ToWorker,
  WorkerInfo,
} from "../../lib/messages/deploy.ts";
import type { MasterState } from "../../lib/messages/states.ts";
import {
  MasterCore,
  type MasterEffect,
  type MasterEvent,
} from "../../lib/master/core.ts";

export const MASTER_ADDRESS: RpcAddress = { host: "master", port: 7077 };
export const START = new Date(2026, 10, 30, 22, 33, 51).getTime();

/** What the master sends to anyone. */
type Outgoing = ToWorker | ToAppClient;
type OutgoingOf<T extends Outgoing["type"]> = Extract<Outgoing, { type: T }>;

interface Sent {
  readonly to: EndpointRef;
  readonly message: Outgoing;
}

/**
 * A master without a network: it takes events one by one, keeps what it sends
 * and logs, has a clock that only tests move, and checks the master's
 * invariants after every event.
 */
export class MasterHarness {
  readonly core: MasterCore;
  now = START;
  readonly sent: Sent[] = [];
  readonly logs: { level: string; message: string }[] = [];
  readonly timers = new Map<string, number>();
  /** Sees each message that the master sends, once its event is done. */
  onSend: (sent: Sent) => void = () => {};
  #nextReply = 0;

  constructor(
    conf: Record<string, string> = {},
    options: { initialState?: MasterState } = {},
  ) {
    this.core = new MasterCore({
      address: MASTER_ADDRESS,
      webUiUrl: "http://master:8080",
      conf: new SparkConf(conf),
      ...options,
    });
    this.handle({ type: "start" });
  }

  handle(event: MasterEvent): MasterEffect[] {
    const effects = this.core.handle(event, this.now);
    this.core.checkInvariants();
    const sent: Sent[] = [];
    for (const effect of effects) {
      if (effect.type === "send") {
        sent.push({ to: effect.to, message: effect.message as Outgoing });
      } else if (effect.type === "log") {
        this.logs.push(effect);
      } else if (effect.type === "setTimer") {
        this.timers.set(effect.timer, this.now + effect.after);
      }
    }
    this.sent.push(...sent);
    for (const each of sent) this.onSend(each);
    return effects;
  }

  /** Sends a message that is not answered. */
  tell(message: ToMaster, sender: RpcAddress = { host: "any", port: 1 }): void {
    const effects = this.handle({
      type: "message",
      message,
      sender,
      reply: null,
    });
    assertEquals(effects.filter(({ type }) => type === "reply"), []);
  }

  /** Asks; the one reply is what comes back. */
  ask(message: ToMaster): unknown {
    const reply = this.#nextReply++;
    const effects = this.handle({
      type: "message",
      message,
      sender: { host: "any", port: 1 },
      reply,
    });
    const replies = effects.filter(({ type }) =>
      type === "reply" || type === "replyFailure"
    );
    assertEquals(replies.length, 1, `one answer to ${message.type}`);
    const [answer] = replies;
    if (answer.type !== "reply") throw new Error(`refused: ${message.type}`);
    assertEquals(answer.to, reply);
    return answer.value;
  }

  disconnect(address: RpcAddress): void {
    this.handle({ type: "disconnected", address });
  }

  /** Moves the clock; timers that are due fire in order, at their time. */
  advance(milliseconds: number): void {
    const until = this.now + milliseconds;
    while (true) {
      const due = [...this.timers].filter(([, at]) => at <= until)
        .sort(([, a], [, b]) => a - b)[0];
      if (due === undefined) break;
      const [timer, at] = due;
      this.timers.delete(timer);
      this.now = at;
      this.handle({ type: "timer", timer });
    }
    this.now = until;
  }

  // Those who talk to the master

  registerWorker(options: Partial<RegisterWorker> = {}): TestWorker {
    const message = workerRegistration(options);
    this.tell(message, message.worker.address);
    return { id: message.id, endpoint: message.worker, message };
  }

  registerApp(options: TestAppOptions = {}): TestApp {
    const driver = options.driver ??
      { address: { host: "driver", port: 5001 }, name: "AppClient" };
    const before = this.sent.length;
    this.tell({
      type: "RegisterApplication",
      appDescription: appDescription(options),
      driver,
    }, driver.address);
    const answers = this.sent.slice(before).filter(({ to, message }) =>
      message.type === "RegisteredApplication" &&
      sameAddress(to.address, driver.address)
    );
    assertEquals(answers.length, 1, "the application is registered");
    const { message } = answers[0] as { message: { appId: string } };
    return { id: message.appId, driver };
  }

  heartbeat(worker: TestWorker): void {
    this.tell({
      type: "Heartbeat",
      workerId: worker.id,
      worker: worker.endpoint,
    });
  }

  /** What a worker says of an executor; the answer is always true. */
  report(
    appId: string,
    execId: number,
    state: ExecutorStateChanged["state"],
    rest: Partial<Pick<ExecutorStateChanged, "message" | "exitStatus">> = {},
  ): void {
    const answer = this.ask({
      type: "ExecutorStateChanged",
      appId,
      execId,
      state,
      message: rest.message ?? null,
      exitStatus: rest.exitStatus ?? null,
    });
    assertEquals(answer, true);
  }

  requestExecutors(
    app: TestApp,
    ...wanted: [profile: RequestedResourceProfile, total: number][]
  ): unknown {
    return this.ask({
      type: "RequestExecutors",
      appId: app.id,
      resourceProfileToTotalExecs: wanted.map(([profile, total]) => ({
        profile,
        total,
      })),
    });
  }

  killExecutors(app: TestApp, ids: readonly (number | string)[]): unknown {
    return this.ask({
      type: "KillExecutors",
      appId: app.id,
      executorIds: ids.map(String),
    });
  }

  // What can be seen of the master

  state(): MasterStateResponse {
    return this.ask({ type: "RequestMasterState" }) as MasterStateResponse;
  }

  worker({ id }: { id: string }): WorkerInfo {
    const found = this.state().workers.filter((worker) => worker.id === id);
    assertEquals(found.length, 1, `${id} is there once`);
    return found[0];
  }

  app({ id }: { id: string }): ApplicationInfo {
    const { activeApps, completedApps } = this.state();
    const found = [...activeApps, ...completedApps].filter((app) =>
      app.id === id
    );
    assertEquals(found.length, 1, `${id} is there once`);
    return found[0];
  }

  /** The messages of a type that the master sent, to one or to all. */
  sentOf<T extends Outgoing["type"]>(
    type: T,
    to?: { readonly endpoint: EndpointRef } | { readonly driver: EndpointRef },
  ): OutgoingOf<T>[] {
    const ref = to && ("driver" in to ? to.driver : to.endpoint);
    return this.sent.filter((sent) =>
      sent.message.type === type &&
      (ref === undefined || sameAddress(sent.to.address, ref.address))
    ).map(({ message }) => message as OutgoingOf<T>);
  }

  /** Forgets what was sent and logged so far. */
  clear(): void {
    this.sent.length = 0;
    this.logs.length = 0;
  }

  warnings(): string[] {
    return this.logs.filter(({ level }) => level === "warn").map((log) =>
      log.message
    );
  }
}

export interface TestWorker {
  readonly id: string;
  readonly endpoint: EndpointRef;
  readonly message: RegisterWorker;
}

export interface TestApp {
  readonly id: string;
  readonly driver: EndpointRef;
}

export interface TestAppOptions {
  name?: string;
  driver?: EndpointRef;
  maxCores?: number | null;
  coresPerExecutor?: number | null;
  memory?: number;
  initialExecutorLimit?: number | null;
}

/** A driver at a port of its own. */
export function driverAt(port: number): EndpointRef {
  return { address: { host: "driver", port }, name: "AppClient" };
}

/** A worker of 10 cores and 1024 MiB at `host:10001`, unless told otherwise. */
export function workerRegistration(
  options: Partial<RegisterWorker> = {},
): RegisterWorker {
  const address = {
    host: options.host ?? "host",
    port: options.port ?? 10_001,
  };
  return {
    type: "RegisterWorker",
    id: `worker-${formatAddress(address)}`,
    ...address,
    worker: { address, name: "Worker" },
    cores: 10,
    memory: 1024,
    workerWebUiUrl: `http://${address.host}:8081`,
    masterAddress: MASTER_ADDRESS,
    resources: {},
    ...options,
  };
}

export function appDescription(
  options: TestAppOptions = {},
): ApplicationDescription {
  return {
    name: options.name ?? "test",
    user: "someone",
    maxCores: options.maxCores ?? null,
    command: {
      kind: "sparkts",
      mainClass: "",
      arguments: [],
      environment: {},
      classPathEntries: [],
      libraryPathEntries: [],
      javaOpts: [],
    },
    appUiUrl: "",
    defaultProfile: resourceProfile(
      0,
      options.memory ?? 128,
      options.coresPerExecutor ?? null,
    ),
    initialExecutorLimit: options.initialExecutorLimit ?? null,
  };
}

export function resourceProfile(
  id: number,
  memoryPerExecutor: number,
  coresPerExecutor: number | null = null,
): ResourceProfile {
  return { id, memoryPerExecutor, coresPerExecutor, resourcesPerExecutor: [] };
}
