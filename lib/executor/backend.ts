import {
  EXECUTOR_HEARTBEAT_INTERVAL,
  EXECUTOR_HEARTBEAT_MAX_FAILURES,
  RPC_MESSAGE_MAX_SIZE,
  TASK_REAPER_KILL_TIMEOUT,
} from "../conf/settings.ts";
import type { Bytes, Megabytes, Milliseconds } from "../conf/units.ts";
import { describeError, getLogger } from "../log.ts";
import {
  type EndpointRef,
  parseSparkUrl,
  type RpcAddress,
  sameAddress,
} from "../messages/addresses.ts";
import {
  EXECUTOR_ENDPOINT,
  type ExecutorHeartbeatResponse,
  HEARTBEAT_RECEIVER_ENDPOINT,
  type LaunchTask,
  type TaskFailure,
  type TaskOutcome,
  type ToExecutor,
  WORKER_WATCHER_ENDPOINT,
} from "../messages/cluster.ts";
import { WORKER_ENDPOINT } from "../messages/deploy.ts";
import type { TaskState } from "../messages/states.ts";
import { createLocalDirectory } from "../process/local_dirs.ts";
import { selfModule } from "../process/self.ts";
import { RpcEnv } from "../rpc/mod.ts";
import type { ExecutorArguments } from "./arguments.ts";
import {
  type ExecutorConfiguration,
  fetchConfiguration,
  lookupDriver,
} from "./bootstrap.ts";
import { BroadcastStore } from "./broadcast_store.ts";
import { Executor } from "./executor.ts";
import { ExitCode } from "./exit_codes.ts";
import { executorAttributes, executorLogUrls } from "./log_urls.ts";
import { shuffleStreams } from "./shuffle_files.ts";

const log = getLogger("Executor");

/** What a message takes beside the bytes of a result, at the most. */
const MESSAGE_OVERHEAD: Bytes = 1 << 20;

const MEMORY_CHECK_INTERVAL: Milliseconds = 200;
/** What a process takes beside its executor's memory, at the least and in all. */
const MIN_OVERHEAD: Megabytes = 384;
const OVERHEAD_FACTOR = 0.1;

/** An executor process at work. */
export interface RunningExecutor {
  /** The exit code, once it has ended and cleaned up. */
  readonly closed: Promise<number>;
  /** Ends it in the ordinary way, as on SIGTERM. */
  stop(): void;
}

/**
 * Runs an executor (Spark: `CoarseGrainedExecutorBackend`): gets its settings
 * from the driver, registers with it, runs its tasks, and ends with the
 * driver, with its worker, or when told.
 */
export async function startExecutor(
  args: ExecutorArguments,
): Promise<RunningExecutor> {
  const configuration = await fetchConfiguration(args);
  const { conf } = configuration;
  const directory = await createLocalDirectory(conf, "blockmgr");
  const env = await RpcEnv.create({
    host: args.hostname,
    bindAddress: args.bindAddress,
    port: 0,
    conf,
  });
  const backend = new ExecutorBackend(args, configuration, env, directory);
  backend.start();
  return { closed: backend.closed, stop: () => backend.stop() };
}

class ExecutorBackend {
  readonly closed: Promise<number>;
  readonly #args: ExecutorArguments;
  readonly #configuration: ExecutorConfiguration;
  readonly #env: RpcEnv;
  readonly #executor: Executor;
  readonly #broadcasts: BroadcastStore;
  readonly #maxResultSize: Bytes;
  readonly #exit = Promise.withResolvers<number>();
  #driver: EndpointRef | undefined;
  #registered = false;
  /** Set from the moment the driver is asked; settles with its answer. */
  #registering: Promise<unknown> | undefined;
  #stopping = false;
  #heartbeat: ReturnType<typeof setTimeout> | undefined;
  #missedHeartbeats = 0;
  #memoryWatch: ReturnType<typeof setInterval> | undefined;

  constructor(
    args: ExecutorArguments,
    configuration: ExecutorConfiguration,
    env: RpcEnv,
    directory: string,
  ) {
    this.#args = args;
    this.#configuration = configuration;
    this.#env = env;
    this.#maxResultSize = configuration.conf.get(RPC_MESSAGE_MAX_SIZE) -
      MESSAGE_OVERHEAD;
    this.#broadcasts = new BroadcastStore(env, driverAddress(args.driverUrl));
    this.#executor = new Executor({
      host: args.hostname,
      cores: args.cores,
      memory: configuration.profile.memoryPerExecutor,
      conf: configuration.conf,
      module: selfModule(),
      directory,
    }, {
      taskStarted: (taskId) =>
        this.#report(taskId, "RUNNING", { type: "running" }, null),
      taskEnded: (taskId, outcome, data) =>
        this.#report(taskId, stateOf(outcome), outcome, data),
      taskStuck: (taskId) =>
        this.#giveUp(
          `Killed task ${taskId} could not be stopped within ${TASK_REAPER_KILL_TIMEOUT.key}.`,
          ExitCode.TaskReaper,
        ),
      getBroadcast: (id) => this.#broadcasts.get(id),
    });
    this.closed = this.#exit.promise.then((code) => this.#close(code));
  }

  start(): void {
    // The first thread takes as long to start as the driver to answer.
    this.#executor.warmUp();
    this.#watchMemory();
    this.#env.serveStreams(shuffleStreams(this.#executor.directory));
    this.#env.register(EXECUTOR_ENDPOINT, {
      receive: (message) => this.#receive(message as ToExecutor),
      onDisconnected: (address) => this.#disconnected(address),
    });
    if (this.#args.workerUrl !== null) this.#watchWorker(this.#args.workerUrl);
    this.#register().catch((error) => {
      this.#fail(
        `Cannot register with driver: ${this.#args.driverUrl}: ${
          describeError(error)
        }`,
      );
    });
  }

  stop(): void {
    this.#stopping = true;
    this.#exit.resolve(ExitCode.Done);
  }

  async #register(): Promise<void> {
    log.info(`Connecting to driver: ${this.#args.driverUrl}`);
    const driver = await lookupDriver(this.#env, this.#args.driverUrl);
    this.#driver = driver;
    const environment = Deno.env.toObject();
    this.#registering = this.#env.ask(driver, {
      type: "RegisterExecutor",
      executorId: this.#configuration.executorId,
      hostname: this.#args.hostname,
      address: this.#env.address!,
      cores: this.#args.cores,
      logUrls: executorLogUrls(environment),
      attributes: executorAttributes(environment),
      resources: {},
      resourceProfileId: this.#args.resourceProfileId,
    });
    await this.#registering;
    log.info("Successfully registered with driver");
    this.#registered = true;
    this.#env.send(driver, {
      type: "LaunchedExecutor",
      executorId: this.#configuration.executorId,
    });
    const interval = this.#configuration.conf.get(EXECUTOR_HEARTBEAT_INTERVAL);
    // Executors that start together should not all beat together.
    this.#beatIn(interval + Math.random() * interval);
  }

  #receive(message: ToExecutor): void | Promise<void> {
    switch (message.type) {
      case "AddTaskBinary":
        return this.#executor.addBinary(message.binaryId, message.data);
      case "RemoveTaskBinary":
        return this.#executor.removeBinary(message.binaryId);
      case "LaunchTask":
        return this.#launch(message);
      case "KillTask":
        if (!this.#registered) {
          return this.#fail("Received KillTask command but executor was null");
        }
        this.#executor.kill(
          message.taskId,
          message.reason,
          message.interruptThread,
        );
        return;
      case "RemoveBroadcast":
        this.#broadcasts.remove(message.broadcastId);
        return this.#executor.removeBroadcast(message.broadcastId);
      case "RemoveShuffle":
        this.#executor.removeShuffle(message.shuffleId).catch((error) =>
          log.warn(`Failed to remove shuffle ${message.shuffleId}`, error)
        );
        return;
      case "StopExecutor":
      case "Shutdown":
        log.info("Driver commanded a shutdown");
        return this.stop();
      default:
        log.warn(`This executor takes no ${message.type}.`);
    }
  }

  #launch(task: LaunchTask): void | Promise<void> {
    if (this.#registered) return this.#executor.launch(task);
    if (this.#registering === undefined) {
      return this.#fail("Received LaunchTask command but executor was null");
    }
    // A driver that has tasks sends them right behind its answer: they may be
    // read in one piece, and then this comes before whoever awaits the answer.
    return this.#registering.then(
      () => this.#executor.launch(task),
      () => {}, // A refusal ends the executor elsewhere.
    );
  }

  #report(
    taskId: number,
    state: TaskState,
    outcome: TaskOutcome,
    data: Uint8Array | null,
  ): void {
    if (this.#driver === undefined || this.#stopping) return;
    if (data !== null && data.length > this.#maxResultSize) {
      // What can't be sent must not be waited for.
      const failure = resultTooLong(data.length, this.#maxResultSize);
      state = "FAILED";
      outcome = { type: "failure", failure };
      data = null;
    }
    this.#env.send(this.#driver, {
      type: "StatusUpdate",
      executorId: this.#configuration.executorId,
      taskId,
      state,
      outcome,
      data,
    });
  }

  #disconnected(address: RpcAddress): void {
    if (this.#stopping || this.#driver === undefined) return;
    if (!sameAddress(address, this.#driver.address)) return;
    this.#fail(`Driver ${this.#args.driverUrl} disassociated! Shutting down.`);
  }

  /** Ends this process when its worker goes (Spark: `WorkerWatcher`). */
  #watchWorker(url: string): void {
    const worker = parseSparkUrl(url.replace(/^spark:\/\/Worker@/, "spark://"));
    const lost = (reason: string) => {
      if (this.#stopping) return;
      this.#fail(`Lost connection to worker rpc endpoint ${url}: ${reason}`);
    };
    this.#env.register(WORKER_WATCHER_ENDPOINT, {
      onDisconnected: (address) => {
        if (sameAddress(address, worker)) lost("it is gone. Exiting.");
      },
    });
    this.#env.lookup({ address: worker, name: WORKER_ENDPOINT }).catch(
      (error) => lost(describeError(error)),
    );
  }

  // Heartbeats

  #beatIn(delay: number): void {
    this.#heartbeat = setTimeout(() => this.#beat(), delay);
  }

  async #beat(): Promise<void> {
    const { conf, executorId } = this.#configuration;
    const interval = conf.get(EXECUTOR_HEARTBEAT_INTERVAL);
    const receiver = {
      address: this.#driver!.address,
      name: HEARTBEAT_RECEIVER_ENDPOINT,
    };
    try {
      const answer = await this.#env.ask<ExecutorHeartbeatResponse>(
        receiver,
        { type: "ExecutorHeartbeat", executorId },
        { timeout: interval },
      );
      this.#missedHeartbeats = 0;
      if (answer.reregister && !this.#stopping) {
        return this.#fail("The driver doesn't know this executor any more.");
      }
    } catch (error) {
      if (this.#stopping) return;
      this.#missedHeartbeats++;
      const limit = conf.get(EXECUTOR_HEARTBEAT_MAX_FAILURES);
      log.warn("Issue communicating with driver in heartbeater", error);
      if (this.#missedHeartbeats >= limit) {
        return this.#fail(
          `Exit as unable to send heartbeats to driver more than ${limit} times`,
          ExitCode.HeartbeatFailed,
        );
      }
    }
    if (!this.#stopping) this.#beatIn(interval);
  }

  /**
   * Ends the process when its threads have grown far beyond their heaps. A heap
   * limit counts no typed arrays, and a loop can outrun it.
   */
  #watchMemory(): void {
    const { memoryPerExecutor } = this.#configuration.profile;
    const limit = processLimit(memoryPerExecutor);
    this.#memoryWatch = setInterval(() => {
      const used = Math.floor(Deno.memoryUsage().rss / 2 ** 20);
      if (used <= limit) return;
      this.#giveUp(
        `The executor ran out of memory: the process takes ${used} MiB, for an executor of ${memoryPerExecutor} MiB. ` +
          "Use more partitions, or give the executors more with --executor-memory.",
        ExitCode.OutOfMemory,
      );
    }, MEMORY_CHECK_INTERVAL);
  }

  /** Ends at once, and tells the driver why: threads may run wild. */
  #giveUp(reason: string, code: number): void {
    if (this.#stopping) return;
    if (this.#driver !== undefined) {
      const executorId = this.#configuration.executorId;
      this.#env.send(this.#driver, {
        type: "RemoveExecutor",
        executorId,
        reason,
      });
    }
    this.#fail(reason, code);
  }

  #fail(reason: string, code: number = ExitCode.Failed): void {
    if (this.#stopping) return;
    this.#stopping = true;
    log.error(`Executor self-exiting due to : ${reason}`);
    this.#exit.resolve(code);
  }

  async #close(code: number): Promise<number> {
    clearTimeout(this.#heartbeat);
    clearInterval(this.#memoryWatch);
    await this.#env.close();
    await this.#executor.close();
    return code;
  }
}

/**
 * What the whole process may take (Spark: `spark.executor.memoryOverhead`, of
 * the same size by default).
 */
function processLimit(memory: Megabytes): Megabytes {
  return memory + Math.max(MIN_OVERHEAD, memory * OVERHEAD_FACTOR);
}

function resultTooLong(size: Bytes, limit: Bytes): TaskFailure {
  return {
    reason: "exception",
    message:
      `The task's result has ${size} bytes, and a message takes ${limit}. ` +
      `Use more partitions, or raise ${RPC_MESSAGE_MAX_SIZE.key}.`,
    stack: "",
    fetch: null,
  };
}

function driverAddress(driverUrl: string): RpcAddress {
  return parseSparkUrl(driverUrl.replace(/^spark:\/\/[^@/]*@/, "spark://"));
}

function stateOf(outcome: TaskOutcome): TaskState {
  if (outcome.type === "success") return "FINISHED";
  if (outcome.type === "running") return "RUNNING";
  return outcome.failure.reason === "killed" ? "KILLED" : "FAILED";
}
