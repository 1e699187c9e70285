import {
  CORES_MAX,
  DRIVER_BIND_ADDRESS,
  DRIVER_HOST,
  DRIVER_PORT,
  EXECUTOR_CORES,
  EXECUTOR_MEMORY,
  EXECUTOR_REMOVE_DELAY_ON_DISCONNECTION,
  MIN_REGISTERED_RESOURCES_RATIO,
  NETWORK_TIMEOUT,
  NETWORK_TIMEOUT_INTERVAL,
} from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import type { Milliseconds } from "../conf/units.ts";
import { getLogger } from "../log.ts";
import {
  type EndpointRef,
  formatEndpointUri,
  type RpcAddress,
  sameAddress,
} from "../messages/addresses.ts";
import {
  EXECUTOR_ENDPOINT,
  type ExecutorHeartbeat,
  HEARTBEAT_RECEIVER_ENDPOINT,
  type LaunchTask,
  type RegisterExecutor,
  SCHEDULER_ENDPOINT,
  type TaskId,
  type ToExecutor,
  type ToScheduler,
} from "../messages/cluster.ts";
import {
  APP_CLIENT_ENDPOINT,
  type ApplicationDescription,
  DEFAULT_RESOURCE_PROFILE_ID,
  type MasterStateResponse,
  type ResourceProfile,
  type ToAppClient,
} from "../messages/deploy.ts";
import { delay, settlesWithin } from "../process/delay.ts";
import { localHostname } from "../process/local_host.ts";
import {
  bytesStream,
  type MachineHost,
  type RpcCallContext,
  RpcEnv,
  RpcError,
  runMachine,
} from "../rpc/mod.ts";
import {
  AppClientCore,
  type AppClientEffect,
  type AppClientEvent,
} from "./app_client_core.ts";
import { describeCluster, describeProfile } from "./resource_shortage.ts";
import type {
  BackendEvents,
  BroadcastBytes,
  SchedulerBackend,
} from "./scheduler_backend.ts";

const log = getLogger("StandaloneSchedulerBackend");

/** How long the start waits for executors that the master has granted. */
const EXECUTOR_START_WAIT: Milliseconds = 5_000;
/** The master grants what it can in the same breath as it registers. */
const GRANT_WAIT: Milliseconds = 20;

interface RegisteredExecutor {
  readonly id: string;
  readonly endpoint: EndpointRef;
  lastHeard: Milliseconds;
  /** Waits for the cluster's word on why the connection broke. */
  removal: ReturnType<typeof setTimeout> | undefined;
}

/** The masters can't be reached, or refused the application. */
export class ApplicationRefusedError extends Error {
  override name = "ApplicationRefusedError";
}

export interface StandaloneBackendOptions {
  readonly masters: readonly RpcAddress[];
  readonly appName: string;
  readonly conf: SparkConf;
  readonly events: BackendEvents;
  readonly broadcast: BroadcastBytes;
  /** Gives the start up, which may take long where no master answers. */
  readonly signal?: AbortSignal;
}

/**
 * Registers the application with the masters and starts taking executors in.
 *
 * @throws {ApplicationRefusedError} when no master answers.
 */
export async function startStandaloneBackend(
  options: StandaloneBackendOptions,
): Promise<SchedulerBackend> {
  const { conf } = options;
  const host = conf.get(DRIVER_HOST) ?? localHostname();
  const env = await RpcEnv.create({
    host,
    bindAddress: conf.get(DRIVER_BIND_ADDRESS),
    port: conf.get(DRIVER_PORT),
    conf,
  });
  const backend = new StandaloneBackend(env, options);
  try {
    await backend.start();
  } catch (error) {
    await backend.stop();
    throw error;
  }
  return backend;
}

/**
 * Spreads an application over the executors of a standalone cluster (Spark:
 * `StandaloneSchedulerBackend`, `CoarseGrainedSchedulerBackend`).
 */
class StandaloneBackend implements SchedulerBackend {
  readonly #env: RpcEnv;
  readonly #conf: SparkConf;
  readonly #events: BackendEvents;
  readonly #profile: ResourceProfile;
  readonly #signal: AbortSignal | undefined;
  readonly #client: AppClientCore;
  readonly #clientHost: MachineHost<AppClientEvent>;
  readonly #executors = new Map<string, RegisteredExecutor>();
  /** Granted by the master and not yet heard of. */
  readonly #expected = new Set<string>();
  readonly #connected = Promise.withResolvers<string>();
  #executorsArrived: (() => void) | undefined;
  #expiry: ReturnType<typeof setInterval> | undefined;
  #nextGeneratedId = 0;
  #stopping = false;
  #stopped: Promise<void> | undefined;

  constructor(env: RpcEnv, options: StandaloneBackendOptions) {
    const { conf, events, masters, appName, broadcast } = options;
    this.#env = env;
    this.#conf = conf;
    this.#events = events;
    this.#profile = profileOf(conf);
    this.#signal = options.signal;
    this.#client = new AppClientCore({
      masters,
      description: this.#describeApplication(appName),
      self: env.refTo(APP_CLIENT_ENDPOINT),
      conf,
    });
    env.serveStreams((id) => {
      const match = /^\/broadcast\/(\d+)$/.exec(id);
      const bytes = match && broadcast(Number(match[1]));
      return bytes ? bytesStream(bytes) : undefined;
    });
    env.register(SCHEDULER_ENDPOINT, {
      receive: (message) => this.#receive(message as ToScheduler),
      receiveAndReply: (message, context) =>
        this.#answer(message as ToScheduler, context),
      onDisconnected: (address) => this.#disconnected(address),
    });
    env.register(HEARTBEAT_RECEIVER_ENDPOINT, {
      receiveAndReply: (message, context) =>
        this.#heartbeat(message as ExecutorHeartbeat, context),
    });
    this.#clientHost = runMachine<
      ToAppClient,
      AppClientEvent,
      AppClientEffect
    >(
      env,
      APP_CLIENT_ENDPOINT,
      this.#client,
      (effect) => this.#perform(effect),
    );
  }

  get appId(): string {
    return this.#client.appId ?? "";
  }

  /** Without `spark.cores.max` it isn't known how many are to be expected. */
  get coresToAwait(): number {
    return (this.#conf.get(CORES_MAX) ?? 0) *
      this.#conf.get(MIN_REGISTERED_RESOURCES_RATIO);
  }

  /** Resolves when the application is registered and can begin. */
  async start(): Promise<void> {
    const interrupt = () => this.#interrupt();
    if (this.#signal?.aborted) interrupt();
    this.#signal?.addEventListener("abort", interrupt, { once: true });
    await this.#connected.promise;
    this.#expiry = setInterval(
      () => this.#expireSilent(),
      this.#conf.get(NETWORK_TIMEOUT_INTERVAL),
    );
    Deno.unrefTimer(this.#expiry as unknown as number);
    await this.#firstExecutors();
  }

  addBinary(executorId: string, binaryId: number, data: Uint8Array): void {
    this.#send(executorId, { type: "AddTaskBinary", binaryId, data });
  }

  removeBinary(binaryId: number): void {
    this.#sendAll({ type: "RemoveTaskBinary", binaryId });
  }

  launch(executorId: string, task: LaunchTask): void {
    this.#send(executorId, task);
  }

  kill(executorId: string, taskId: TaskId, reason: string): void {
    this.#send(executorId, {
      type: "KillTask",
      taskId,
      interruptThread: true,
      reason,
    });
  }

  removeBroadcast(broadcastId: number): void {
    this.#sendAll({ type: "RemoveBroadcast", broadcastId });
  }

  removeShuffle(shuffleId: number): void {
    this.#sendAll({ type: "RemoveShuffle", shuffleId });
  }

  async describeShortage(): Promise<string> {
    const wanted = describeProfile(this.#profile);
    const master = this.#client.master;
    if (master === undefined) return `${wanted} No master is connected.`;
    const state = await this.#env.ask<MasterStateResponse>(
      master,
      { type: "RequestMasterState" },
      { timeout: 5_000 },
    );
    return `${wanted} ${describeCluster(state, this.appId)}`;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#expiry);
    this.#sendAll({ type: "StopExecutor" });
    for (const executor of this.#executors.values()) {
      clearTimeout(executor.removal);
    }
    this.#executors.clear();
    this.#clientHost.dispatch({ type: "stop" });
    await this.#clientHost.close();
    await this.#env.close();
  }

  // Messages

  #receive(message: ToScheduler): void {
    switch (message.type) {
      case "StatusUpdate": {
        const executor = this.#executors.get(message.executorId);
        if (executor) executor.lastHeard = Date.now();
        const { taskId, state, outcome, data } = message;
        return this.#events.statusUpdate(taskId, state, outcome, data);
      }
      case "LaunchedExecutor":
        return;
      case "RemoveExecutor":
        return this.#remove(message.executorId, message.reason, true);
      default:
        throw new RpcError(`The scheduler must be asked for ${message.type}.`);
    }
  }

  #answer(message: ToScheduler, context: RpcCallContext): void {
    switch (message.type) {
      case "RetrieveSparkAppConfig":
        return context.reply({
          type: "SparkAppConfig",
          sparkProperties: this.#conf.entries().filter(([key]) =>
            key.startsWith("spark.")
          ),
          ioEncryptionKey: null,
          hadoopDelegationCreds: null,
          resourceProfile: this.#profile,
        });
      case "GenerateExecID":
        return context.reply(String(++this.#nextGeneratedId));
      case "RegisterExecutor":
        return this.#registerExecutor(message, context);
      default:
        throw new RpcError(`The scheduler can't be asked ${message.type}.`);
    }
  }

  #registerExecutor(message: RegisterExecutor, context: RpcCallContext): void {
    const { executorId: id, hostname: host, cores, address } = message;
    if (this.#stopping) throw new RpcError("The application is stopping.");
    if (this.#executors.has(id)) {
      throw new RpcError(`Duplicate executor ID: ${id}`);
    }
    this.#executors.set(id, {
      id,
      endpoint: { address: context.sender, name: EXECUTOR_ENDPOINT },
      lastHeard: Date.now(),
      removal: undefined,
    });
    log.info(
      `Registered executor ${id} on ${host}:${address.port} with ${cores} core(s)`,
    );
    // The answer goes first, so that no task overtakes it.
    context.reply(true);
    this.#arrived(id);
    this.#events.executorAdded({ id, host, address, cores });
  }

  #heartbeat(message: ExecutorHeartbeat, context: RpcCallContext): void {
    const executor = this.#executors.get(message.executorId);
    if (executor) executor.lastHeard = Date.now();
    context.reply({
      type: "ExecutorHeartbeatResponse",
      reregister: executor === undefined && !this.#stopping,
    });
  }

  #perform(
    effect: Exclude<AppClientEffect, { type: "send" | "log" }>,
  ): void {
    switch (effect.type) {
      case "connected":
        log.info(
          `Connected to Spark cluster with app ID ${effect.appId}`,
        );
        return this.#connected.resolve(effect.appId);
      case "dead":
        // Before it was connected, the start fails; after it, the application.
        if (this.appId === "") {
          this.#connected.reject(new ApplicationRefusedError(effect.reason));
        } else if (!this.#stopping) {
          this.#events.dead(effect.reason);
        }
        return;
      case "executorGranted":
        this.#expected.add(effect.id);
        return;
      case "executorRemoved": {
        this.#arrived(effect.id);
        const reason = effect.message || `it is ${effect.state}`;
        // With its worker an executor goes through no fault of its tasks.
        return this.#remove(effect.id, reason, effect.workerHost === null);
      }
    }
  }

  // Executors that come and go

  async #firstExecutors(): Promise<void> {
    await delay(GRANT_WAIT);
    if (this.#expected.size === 0 || this.#signal?.aborted) return;
    const arrived = new Promise<void>((resolve) =>
      this.#executorsArrived = resolve
    );
    await settlesWithin(arrived, EXECUTOR_START_WAIT);
  }

  #interrupt(): void {
    this.#connected.reject(
      new ApplicationRefusedError(
        "The application was interrupted before it was registered.",
      ),
    );
    this.#executorsArrived?.();
  }

  #arrived(id: string): void {
    this.#expected.delete(id);
    if (this.#expected.size === 0) this.#executorsArrived?.();
  }

  #remove(id: string, reason: string, causedByApp: boolean): void {
    const executor = this.#executors.get(id);
    if (executor === undefined || this.#stopping) return;
    clearTimeout(executor.removal);
    this.#executors.delete(id);
    log.error(`Lost executor ${id}: ${reason}`);
    this.#events.executorLost(id, reason, causedByApp);
  }

  #disconnected(address: RpcAddress): void {
    if (this.#stopping) return;
    for (const executor of this.#executors.values()) {
      if (!sameAddress(executor.endpoint.address, address)) continue;
      this.#events.executorSuspended(executor.id);
      executor.removal = setTimeout(
        () =>
          this.#remove(
            executor.id,
            "Remote RPC client disassociated. Likely due to the executor's or its host's end, or network issues.",
            true,
          ),
        this.#conf.get(EXECUTOR_REMOVE_DELAY_ON_DISCONNECTION),
      );
    }
  }

  #expireSilent(): void {
    const timeout = this.#conf.get(NETWORK_TIMEOUT);
    const now = Date.now();
    for (const { id, lastHeard } of [...this.#executors.values()]) {
      if (now - lastHeard <= timeout) continue;
      this.#send(id, { type: "StopExecutor" });
      this.#remove(
        id,
        `Executor heartbeat timed out after ${now - lastHeard} ms`,
        false,
      );
    }
  }

  #send(executorId: string, message: ToExecutor): void {
    const executor = this.#executors.get(executorId);
    if (executor) this.#env.send(executor.endpoint, message);
  }

  #sendAll(message: ToExecutor): void {
    for (const id of this.#executors.keys()) this.#send(id, message);
  }

  #describeApplication(name: string): ApplicationDescription {
    const driverUrl = formatEndpointUri(this.#env.refTo(SCHEDULER_ENDPOINT));
    return {
      name,
      user: Deno.env.get("SPARK_USER") ?? Deno.env.get("USER") ?? "",
      maxCores: this.#conf.get(CORES_MAX) ?? null,
      command: {
        kind: "sparkts",
        mainClass: "executor",
        arguments: [
          ["--driver-url", driverUrl],
          ["--executor-id", "{{EXECUTOR_ID}}"],
          ["--hostname", "{{HOSTNAME}}"],
          ["--cores", "{{CORES}}"],
          ["--app-id", "{{APP_ID}}"],
          ["--worker-url", "{{WORKER_URL}}"],
          ["--resourceProfileId", "{{RESOURCE_PROFILE_ID}}"],
        ].flat(),
        environment: {},
        classPathEntries: [],
        libraryPathEntries: [],
        javaOpts: [],
      },
      appUiUrl: "",
      defaultProfile: this.#profile,
      initialExecutorLimit: null,
    };
  }
}

function profileOf(conf: SparkConf): ResourceProfile {
  return {
    id: DEFAULT_RESOURCE_PROFILE_ID,
    coresPerExecutor: conf.get(EXECUTOR_CORES) ?? null,
    memoryPerExecutor: conf.get(EXECUTOR_MEMORY),
    resourcesPerExecutor: [],
  };
}
