import { resolve } from "node:path";
import { WORKER_ID_PATTERN } from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import type { Megabytes, Milliseconds } from "../conf/units.ts";
import { javaFormat } from "../jvm/mod.ts";
import { describeError, getLogger } from "../log.ts";
import { type RpcAddress, toSparkUrl } from "../messages/addresses.ts";
import {
  type ToWorker,
  WORKER_ENDPOINT,
  type WorkerId,
} from "../messages/deploy.ts";
import { formatIdPattern, idTimestamp } from "../messages/id_pattern.ts";
import type { MachineEffect } from "../rpc/machine.ts";
import { type MachineHost, runMachine } from "../rpc/machine_host.ts";
import { RpcEnv } from "../rpc/rpc_env.ts";
import { AppLocalDirs } from "./app_local_dirs.ts";
import type { CommandBuilders } from "./command_builder.ts";
import { problemsOfHomes } from "./java_command_builder.ts";
import { WorkerCore } from "./core.ts";
import {
  fullId,
  type LaunchExecutorEffect,
  type WorkerEvent,
  type WorkerOwnEffect,
} from "./events.ts";
import { ExecutorRunner } from "./executor_runner.ts";
import type { WorkerIdentity } from "./master_link.ts";
import { cleanWorkDir, createExecutorDir } from "./work_dir.ts";
import { readWorkerSettings } from "./worker_settings.ts";

export interface WorkerOptions {
  /** All masters of the cluster, one at least. */
  readonly masters: readonly RpcAddress[];
  /** What others are told to dial. */
  readonly host: string;
  /** What is listened on; default: the host. */
  readonly bindAddress?: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly cores: number;
  readonly memory: Megabytes;
  /** Made when it is missing. */
  readonly workDir: string;
  readonly conf: SparkConf;
  /** Where the worker's pages are; default: it has none. */
  readonly webUiUrl?: string;
  readonly builders?: CommandBuilders;
  /** Between SIGTERM and SIGKILL for an executor. Default: 10 s. */
  readonly terminateGrace?: Milliseconds;
}

/** A worker that runs in this process. */
export interface Worker {
  readonly id: WorkerId;
  /** `spark://host:port`. */
  readonly url: string;
  /** The exit code, once the worker has ended and its executors with it. */
  readonly closed: Promise<number>;
  /** Kills the executors, waits for their end, and ends the worker. */
  shutdown(): Promise<void>;
}

/** The worker could not start. */
export class WorkerStartError extends Error {
  override name = "WorkerStartError";
}

const log = getLogger("Worker");

/**
 * Starts a worker: it registers with the masters, and runs the executors that
 * the active one asks for, each in a process of its own.
 *
 * @throws {WorkerStartError} when its directory can't be made.
 * @throws {InvalidSettingError} when a setting doesn't fit.
 * @throws {RpcError} when no port can be had.
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { conf, masters, cores, memory, host, bindAddress, port } = options;
  const settings = readWorkerSettings(conf);
  const workDir = await makeWorkDir(options.workDir);
  const env = await RpcEnv.create({
    host,
    bindAddress,
    port,
    conf,
    formats: [javaFormat],
  });
  try {
    const self = env.refTo(WORKER_ENDPOINT);
    const identity: WorkerIdentity = {
      id: makeWorkerId(conf, self.address),
      self,
      cores,
      memory,
      resources: {},
      webUiUrl: options.webUiUrl ?? "",
    };
    const core = new WorkerCore({
      ...identity,
      masters,
      settings,
      registrationFactor: 0.5 + Math.random(),
    });
    log.info(
      `Starting Spark worker ${self.address.host}:${self.address.port} with ${cores} cores, ${memory} MiB RAM`,
    );
    for (const problem of problemsOfHomes(conf)) log.warn(problem);
    const shell = new WorkerShell(env, core, identity, workDir, options);
    return {
      id: identity.id,
      url: toSparkUrl(self.address),
      closed: shell.closed,
      shutdown: () => shell.shutdown(),
    };
  } catch (error) {
    await env.close();
    throw error;
  }
}

/** Carries out what the core decides. */
class WorkerShell {
  readonly #env: RpcEnv;
  readonly #host: MachineHost<WorkerEvent>;
  readonly #identity: WorkerIdentity;
  readonly #workDir: string;
  readonly #options: WorkerOptions;
  readonly #runners = new Map<string, ExecutorRunner>();
  readonly #localDirs: AppLocalDirs;
  #removals: Promise<void> = Promise.resolve();
  #cleaning: Promise<void> | null = null;
  #closing = false;

  readonly closed: Promise<number>;

  constructor(
    env: RpcEnv,
    core: WorkerCore,
    identity: WorkerIdentity,
    workDir: string,
    options: WorkerOptions,
  ) {
    this.#env = env;
    this.#identity = identity;
    this.#workDir = workDir;
    this.#options = options;
    this.#localDirs = new AppLocalDirs(options.conf);
    this.#host = runMachine<
      ToWorker,
      Exclude<WorkerEvent, { type: "message" }>,
      WorkerOwnEffect
    >(env, WORKER_ENDPOINT, core, (effect) => this.#carryOut(effect));
    this.closed = this.#close();
  }

  async shutdown(): Promise<void> {
    this.#host.dispatch({ type: "shutdown", reason: "Worker shutting down" });
    await this.closed;
  }

  async #close(): Promise<number> {
    const { code, reason } = await this.#host.exited;
    log.info(`The worker ends: ${reason}`);
    await this.#host.close();
    await this.#env.close();
    this.#closing = true;
    await Promise.all([this.#removals, this.#cleaning]);
    await this.#localDirs.close();
    return code;
  }

  #carryOut(effect: Exclude<WorkerOwnEffect, MachineEffect>): void {
    switch (effect.type) {
      case "launchExecutor":
        return this.#launch(effect);
      case "killExecutor":
        return this.#runners.get(fullId(effect))?.kill(effect.reason);
      case "removeAppDirs":
        this.#removals = this.#removals.then(() =>
          this.#localDirs.remove(effect.appId)
        );
        return;
      case "cleanWorkDir":
        return this.#cleanWorkDir(effect.ttl);
    }
  }

  #launch(launch: LaunchExecutorEffect): void {
    const { appId, execId } = launch;
    const id = fullId(launch);
    const { conf, builders, terminateGrace } = this.#options;
    const runner = new ExecutorRunner({
      launch,
      worker: this.#identity,
      conf,
      builders,
      terminateGrace,
      prepare: async () => ({
        executorDir: await createExecutorDir(this.#workDir, appId, execId),
        appLocalDirs: await this.#localDirs.get(appId),
      }),
      tell: (event) => this.#host.dispatch(event),
    });
    this.#runners.set(id, runner);
    runner.done.then(() => this.#runners.delete(id));
  }

  /** One that goes on when the next is due is not joined by it. */
  #cleanWorkDir(ttl: Milliseconds): void {
    this.#cleaning ??= this.#clean(ttl).finally(() => this.#cleaning = null);
  }

  async #clean(ttl: Milliseconds): Promise<void> {
    try {
      await cleanWorkDir(this.#workDir, {
        isRunning: (appId) => this.#closing || this.#hasRunnerOf(appId),
        ttl,
        now: Date.now(),
        log,
      });
    } catch (error) {
      log.error(`Cannot clean up the directory ${this.#workDir}`, error);
    }
  }

  #hasRunnerOf(appId: string): boolean {
    return [...this.#runners.keys()].some((id) => id.startsWith(`${appId}/`));
  }
}

async function makeWorkDir(workDir: string): Promise<string> {
  const path = resolve(workDir);
  try {
    await Deno.mkdir(path, { recursive: true });
    return path;
  } catch (cause) {
    throw new WorkerStartError(
      `Failed to create work directory ${path}: ${describeError(cause)}.`,
      { cause },
    );
  }
}

function makeWorkerId(conf: SparkConf, { host, port }: RpcAddress): WorkerId {
  return formatIdPattern(
    conf.get(WORKER_ID_PATTERN),
    idTimestamp(Date.now()),
    host,
    port,
  );
}
