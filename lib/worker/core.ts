import type { Milliseconds } from "../conf/units.ts";
import type { RpcAddress } from "../messages/addresses.ts";
import type {
  ApplicationId,
  ExecutorStateChanged,
  KillExecutor,
  LaunchExecutor,
  MasterChanged,
  RegisteredWorker,
  ToWorker,
  WorkerStateResponse,
} from "../messages/deploy.ts";
import { isFinishedExecutor } from "../messages/states.ts";
import type { LogLevel, Machine, ReplyToken } from "../rpc/machine.ts";
import {
  type ExecutorChanged,
  type ExecutorKey,
  type ExecutorLaunchFailed,
  fullId,
  type LaunchExecutorEffect,
  type WorkerEffect,
  type WorkerEvent,
} from "./events.ts";
import { ExecutorTable, mustHold, toInfo, toReport } from "./executor_table.ts";
import {
  MasterLink,
  REGISTRATION_TIMER,
  type WorkerIdentity,
} from "./master_link.ts";
import { StateReports } from "./state_reports.ts";
import type { WorkerSettings } from "./worker_settings.ts";

export interface WorkerCoreOptions extends WorkerIdentity {
  /** All masters of the cluster, as they were given; one at least. */
  readonly masters: readonly RpcAddress[];
  readonly settings: WorkerSettings;
  /** From 0.5 to 1.5, drawn at random; see Registration. */
  readonly registrationFactor: number;
}

const HEARTBEAT_TIMER = "heartbeat";
const CLEANUP_TIMER = "cleanup";
const FAREWELL_TIMER = "farewell";

/** How long the last reports to the master may hold up the worker's end. */
const FAREWELL_TIME: Milliseconds = 5_000;

/** Why the worker ends, and where it has got with that. */
interface Ending {
  readonly code: number;
  readonly reason: string;
  phase: "killing" | "reporting" | "over";
}

/**
 * What a worker decides: with whom to register, what to launch and to kill,
 * what its executors hold (Spark: `Worker`). It has no I/O; see Machine.
 */
export class WorkerCore implements Machine<WorkerEvent, WorkerEffect> {
  readonly #options: WorkerCoreOptions;
  readonly #settings: WorkerSettings;
  readonly #link: MasterLink;
  readonly #executors: ExecutorTable;
  readonly #reports: StateReports;
  /** Applications that have ended while executors of theirs still run. */
  readonly #finishedApps = new Set<ApplicationId>();
  #ending: Ending | null = null;
  #effects: WorkerEffect[] = [];

  constructor(options: WorkerCoreOptions) {
    const { settings, masters, registrationFactor } = options;
    mustHold(masters.length > 0, "there is a master to register with");
    this.#options = options;
    this.#settings = settings;
    this.#link = new MasterLink(options, masters, settings, registrationFactor);
    this.#executors = new ExecutorTable(settings.retainedExecutors);
    this.#reports = new StateReports(
      settings.stateSyncMaxAttempts,
      settings.askTimeout,
    );
  }

  handle(event: WorkerEvent, _now: Milliseconds): WorkerEffect[] {
    if (this.#ending?.phase === "over") return [];
    this.#dispatch(event);
    if (this.#ending) this.#goOnEnding(this.#ending);
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  /** What pages and tools are shown. */
  describe(): WorkerStateResponse {
    const { id, cores, memory } = this.#options;
    return {
      type: "WorkerStateResponse",
      id,
      masterUrl: this.#link.url,
      cores,
      coresUsed: this.#executors.coresUsed,
      memory,
      memoryUsed: this.#executors.memoryUsed,
      executors: this.#executors.running.map(toInfo),
      finishedExecutors: this.#executors.finished.map(toInfo),
    };
  }

  /** @throws {Error} when the worker's own tables contradict themselves. */
  checkInvariants(): void {
    this.#executors.checkInvariants();
    mustHold(
      this.#link.reachable === null || !this.#link.registering,
      "a connected worker doesn't go on registering",
    );
    mustHold(
      [...this.#finishedApps].every((app) => this.#executors.runs(app)),
      "an ended application is remembered only for its executors",
    );
  }

  #dispatch(event: WorkerEvent): void {
    switch (event.type) {
      case "start":
        return this.#register();
      case "message":
        return this.#receive(event.message, event.reply);
      case "timer":
        return this.#timer(event.timer);
      case "disconnected":
        if (!this.#ending) this.#do(this.#link.disconnected(event.address));
        return;
      case "answer":
        return this.#reports.answered(event.token);
      case "askFailed":
        return this.#reportFailed(event);
      case "executorChanged":
        return this.#executorChanged(event);
      case "executorLaunchFailed":
        return this.#launchFailed(event);
      case "executorOrphaned":
        return this.#executorOrphaned(event);
      case "shutdown":
        return this.#end(0, event.reason);
    }
  }

  #receive(message: ToWorker, reply: ReplyToken | null): void {
    switch (message.type) {
      case "RegisteredWorker":
        return this.#registered(message);
      case "RegisterWorkerFailed":
        return this.#registrationFailed(message.message);
      case "MasterInStandby":
        return; // the active master answers for itself
      case "ReconnectWorker":
        this.#log(
          "info",
          `Master with url ${message.masterUrl} requested this worker to reconnect.`,
        );
        return this.#register();
      case "MasterChanged":
        return this.#masterChanged(message);
      case "LaunchExecutor":
        return this.#launch(message);
      case "KillExecutor":
        return this.#kill(message);
      case "ApplicationFinished":
        this.#finishedApps.add(message.id);
        return this.#maybeForgetApp(message.id);
      case "RequestWorkerState":
        if (reply === null) return;
        return this.#do([{ type: "reply", to: reply, value: this.describe() }]);
      default:
        return this.#refuseUnknown(message, reply);
    }
  }

  /** A peer may send what this release doesn't know. */
  #refuseUnknown(message: never, reply: ReplyToken | null): void {
    const error = `The worker takes no ${(message as ToWorker).type}.`;
    if (reply === null) return this.#log("warn", error);
    this.#do([{ type: "replyFailure", to: reply, error }]);
  }

  // The master

  #register(): void {
    if (!this.#ending) this.#do(this.#link.register());
  }

  #registered(message: RegisteredWorker): void {
    if (this.#ending) return;
    const first = !this.#link.everRegistered;
    this.#do(this.#link.registered(message));
    if (first) this.#startRecurring();
    // First what ended meanwhile: what the latest state does not name, and
    // nobody told of, is lost to the master.
    this.#tellWhatWaits();
    this.#do(this.#link.send({
      type: "WorkerLatestState",
      id: this.#options.id,
      registration: message.registration,
      executors: this.#executors.running.map(toReport),
      driverIds: [],
    }));
  }

  #masterChanged(message: MasterChanged): void {
    if (this.#ending) return;
    this.#do(this.#link.masterChanged(message));
    this.#do(this.#link.send({
      type: "WorkerSchedulerStateResponse",
      id: this.#options.id,
      execResponses: this.#executors.running.map((entry) => ({
        desc: toReport(entry),
        resources: entry.launch.resources,
      })),
      driverResponses: [],
    }));
    this.#tellWhatWaits();
  }

  #registrationFailed(reason: string): void {
    // Once registered, the worker has executors to look after.
    if (this.#link.everRegistered) return;
    this.#fail(`Worker registration failed: ${reason}`);
  }

  #startRecurring(): void {
    this.#heartbeat();
    if (!this.#settings.cleanupEnabled) return;
    this.#log(
      "info",
      `Worker cleanup enabled; old application directories will be deleted`,
    );
    this.#scheduleCleanup();
  }

  // Timers

  #timer(timer: string): void {
    switch (timer) {
      case REGISTRATION_TIMER: {
        const effects = this.#link.retry();
        if (effects !== null) return this.#do(effects);
        return this.#fail("All masters are unresponsive! Giving up.");
      }
      case HEARTBEAT_TIMER:
        return this.#heartbeat();
      case CLEANUP_TIMER:
        return this.#cleanUp();
      case FAREWELL_TIMER:
        return this.#exit();
      default:
        return this.#do(this.#reports.timer(timer, this.#link.reachable));
    }
  }

  #heartbeat(): void {
    const { id, self } = this.#options;
    const after = this.#settings.heartbeatInterval;
    this.#do([{ type: "setTimer", timer: HEARTBEAT_TIMER, after }]);
    this.#do(this.#link.send({
      type: "Heartbeat",
      workerId: id,
      worker: self,
    }));
  }

  #scheduleCleanup(): void {
    const after = this.#settings.cleanupInterval;
    this.#do([{ type: "setTimer", timer: CLEANUP_TIMER, after }]);
  }

  #cleanUp(): void {
    this.#scheduleCleanup();
    this.#do([{ type: "cleanWorkDir", ttl: this.#settings.appDataTtl }]);
  }

  // Executors

  #launch(message: LaunchExecutor): void {
    const id = fullId(message);
    if (!this.#obeys(message.masterUrl, "launch executor")) return;
    if (this.#ending) {
      return this.#log(
        "warn",
        `Not launching executor ${id}: the worker shuts down.`,
      );
    }
    if (this.#executors.get(message) !== undefined) {
      return this.#log(
        "warn",
        `Not launching executor ${id} again: it is here already.`,
      );
    }
    const { masterUrl: _, ...rest } = message;
    const launch: LaunchExecutorEffect = { ...rest, type: "launchExecutor" };
    this.#log(
      "info",
      `Asked to launch executor ${id} for ${launch.appDesc.name}`,
    );
    this.#executors.add(launch);
    this.#do([launch]);
  }

  #kill(message: KillExecutor): void {
    if (!this.#obeys(message.masterUrl, "kill executor")) return;
    const { appId, execId } = message;
    const id = fullId(message);
    if (this.#executors.get(message) === undefined) {
      return this.#log("info", `Asked to kill unknown executor ${id}`);
    }
    this.#log("info", `Asked to kill executor ${id}`);
    this.#do([{ type: "killExecutor", appId, execId, reason: "requested" }]);
  }

  #obeys(masterUrl: string, attempt: string): boolean {
    if (masterUrl !== "" && masterUrl === this.#link.url) return true;
    this.#log("warn", `Invalid Master (${masterUrl}) attempted to ${attempt}.`);
    return false;
  }

  #executorChanged(event: ExecutorChanged): void {
    const { state, message, exitStatus, pid } = event;
    const id = fullId(event);
    const entry = this.#executors.get(event);
    if (entry === undefined) return this.#logUnknown(id, state);
    if (!isFinishedExecutor(state)) {
      entry.state = state;
      entry.pid = pid;
      return this.#report(event);
    }
    this.#executors.finish(event, state);
    this.#log(
      "info",
      `Executor ${id} finished with state ${state}` +
        (message === null ? "" : ` message ${message}`) +
        (exitStatus === null ? "" : ` exitStatus ${exitStatus}`),
    );
    this.#report(event);
    this.#maybeForgetApp(event.appId);
  }

  #launchFailed(event: ExecutorLaunchFailed): void {
    const { appId, execId, error: message } = event;
    const id = fullId(event);
    const entry = this.#executors.remove(event);
    if (entry === undefined) return this.#logUnknown(id, "FAILED");
    const { name } = entry.launch.appDesc;
    this.#log(
      "error",
      `Failed to launch executor ${id} for ${name}: ${message}`,
    );
    this.#report({ appId, execId, state: "FAILED", message, exitStatus: null });
    this.#maybeForgetApp(appId);
  }

  #executorOrphaned(key: ExecutorKey): void {
    const entry = this.#executors.get(key);
    if (entry === undefined) return;
    entry.orphaned = true;
    this.#log(
      "warn",
      `Failed to terminate the process of executor ${fullId(key)}. ` +
        "This process will likely be orphaned.",
    );
  }

  #maybeForgetApp(appId: ApplicationId): void {
    if (!this.#finishedApps.has(appId) || this.#executors.runs(appId)) return;
    this.#finishedApps.delete(appId);
    this.#do([{ type: "removeAppDirs", appId }]);
  }

  #logUnknown(id: string, state: string): void {
    this.#log("info", `Unknown executor ${id} is ${state}`);
  }

  // Reports to the master

  #report(change: Omit<ExecutorStateChanged, "type">): void {
    const { appId, execId, state, message, exitStatus } = change;
    this.#do(this.#reports.add({
      type: "ExecutorStateChanged",
      appId,
      execId,
      state,
      message,
      exitStatus,
    }, this.#link.reachable));
  }

  #reportFailed(
    failure: { token: string; error: string; timedOut: boolean },
  ): void {
    // As it ends, the worker doesn't insist.
    if (this.#ending) return this.#reports.answered(failure.token);
    const effects = this.#reports.failed(failure, this.#link.reachable);
    if (effects !== null) return this.#do(effects);
    this.#fail(
      "Failed to tell the master of an executor's state " +
        `${this.#settings.stateSyncMaxAttempts} times: ${failure.error}`,
    );
  }

  #tellWhatWaits(): void {
    const master = this.#link.reachable;
    if (master !== null) this.#do(this.#reports.sendAll(master));
  }

  // The end

  /** Spark exits with 1 from wherever the worker can't go on. */
  #fail(reason: string): void {
    this.#log("error", reason);
    this.#end(1, reason);
  }

  /** Kills all executors; handle() goes on once they have ended. */
  #end(code: number, reason: string): void {
    if (this.#ending) return;
    this.#ending = { code, reason, phase: "killing" };
    this.#do(this.#link.stopRegistering());
    this.#do([{ type: "clearTimer", timer: CLEANUP_TIMER }]);
    for (const { launch: { appId, execId } } of this.#executors.running) {
      this.#do([{ type: "killExecutor", appId, execId, reason: "shutdown" }]);
    }
  }

  #goOnEnding(ending: Ending): void {
    if (ending.phase === "over") return;
    if (this.#executors.running.some(({ orphaned }) => !orphaned)) return;
    if (this.#reports.size === 0 || this.#link.reachable === null) {
      return this.#exit();
    }
    if (ending.phase === "reporting") return;
    ending.phase = "reporting";
    const after = FAREWELL_TIME;
    this.#do([{ type: "setTimer", timer: FAREWELL_TIMER, after }]);
  }

  #exit(): void {
    if (this.#ending === null) return;
    this.#ending.phase = "over";
    const { code, reason } = this.#ending;
    this.#do([
      { type: "clearTimer", timer: HEARTBEAT_TIMER },
      { type: "clearTimer", timer: FAREWELL_TIMER },
      { type: "exit", code, reason },
    ]);
  }

  #log(level: LogLevel, message: string): void {
    this.#do([{ type: "log", level, message }]);
  }

  #do(effects: readonly WorkerEffect[]): void {
    this.#effects.push(...effects);
  }
}
