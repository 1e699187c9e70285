import { Worker } from "node:worker_threads";
import type { Megabytes, Milliseconds } from "../conf/units.ts";
import type { TaskFailure, TaskOutcome } from "../messages/cluster.ts";
import type { BlockCache } from "./block_cache.ts";
import { bufferOf } from "./shared_bytes.ts";
import type {
  FromThread,
  RunTask,
  ThreadSettings,
  ToThread,
} from "./thread_messages.ts";

/** Where what the threads ask for comes from, and where their results go. */
export interface TaskThreadsHandler {
  taskStarted(taskId: number): void;
  taskEnded(
    taskId: number,
    outcome: TaskOutcome,
    data: Uint8Array | null,
  ): void;
  /**
   * A task that was killed keeps its thread busy, and nothing in this process
   * can stop it.
   */
  taskStuck(taskId: number): void;
  /** The bytes of a broadcast value, in shared memory. */
  getBroadcast(id: number): Promise<Uint8Array>;
}

export interface TaskThreadsOptions {
  /** The program whose `main` runs `runTaskThread` when it is a thread. */
  readonly module: string;
  readonly threads: number;
  /** The heap of one thread, beyond which its task fails. */
  readonly heapLimit: Megabytes;
  readonly settings: Omit<ThreadSettings, "stop">;
  /** How long a killed task may go on; negative: for ever. */
  readonly killTimeout: Milliseconds;
  readonly blocks: BlockCache;
}

interface Slot {
  readonly worker: Worker;
  /** Stage code that the thread has already. */
  readonly binaries: Set<number>;
  task: RunTask | undefined;
  /** Shared with the thread: its task looks at it before each record. */
  readonly stop: Int32Array;
  /** Set when the task was killed, and why. */
  killed: string | undefined;
  reaper: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The threads that run an executor's tasks, one task a thread. They start when
 * there is work; one that dies fails its task and is replaced.
 */
export class TaskThreads {
  readonly #options: TaskThreadsOptions;
  readonly #handler: TaskThreadsHandler;
  readonly #slots = new Set<Slot>();
  readonly #binaries = new Map<number, Uint8Array>();
  readonly #waiting: RunTask[] = [];
  #closed = false;

  constructor(options: TaskThreadsOptions, handler: TaskThreadsHandler) {
    this.#options = options;
    this.#handler = handler;
  }

  /** Starts a thread ahead of the first task. */
  warmUp(): void {
    if (this.#slots.size === 0) this.#start();
  }

  addBinary(binaryId: number, data: Uint8Array): void {
    this.#binaries.set(binaryId, data);
  }

  removeBinary(binaryId: number): void {
    this.#binaries.delete(binaryId);
    for (const slot of this.#slots) {
      if (slot.binaries.delete(binaryId)) {
        post(slot, { type: "removeBinary", binaryId });
      }
    }
  }

  removeBroadcast(broadcastId: number): void {
    for (const slot of this.#slots) {
      post(slot, { type: "removeBroadcast", broadcastId });
    }
  }

  /** Runs a task on an idle thread, or as soon as there is one. */
  run(task: RunTask): void {
    if (this.#closed) return;
    const idle = this.#idle();
    if (idle) this.#give(idle, task);
    else this.#waiting.push(task);
  }

  /**
   * Ends a task. One that runs ends before its next record, or with its thread
   * when it only waits. A thread that is busy in the application's own code
   * can't be ended: the runtime doesn't interrupt it.
   *
   * @returns false when there is no such task here.
   */
  kill(taskId: number, reason: string, interrupt: boolean): boolean {
    const waiting = this.#waiting.findIndex((task) =>
      task.context.taskId === taskId
    );
    if (waiting >= 0) {
      this.#waiting.splice(waiting, 1);
      this.#handler.taskEnded(taskId, killedOutcome(reason), null);
      return true;
    }
    for (const slot of this.#slots) {
      if (slot.task?.context.taskId !== taskId) continue;
      if (interrupt && slot.killed === undefined) this.#reap(slot, reason);
      return true;
    }
    return false;
  }

  #reap(slot: Slot, reason: string): void {
    slot.killed = reason;
    Atomics.store(slot.stop, 0, 1);
    post(slot, { type: "ping" });
    if (this.#options.killTimeout < 0) return;
    slot.reaper = setTimeout(() => {
      const { task } = slot;
      if (task === undefined) return;
      this.#handler.taskStuck(task.context.taskId);
      // Whoever must go on in this process does so without the thread.
      this.#slots.delete(slot);
      slot.worker.terminate();
      this.#handler.taskEnded(
        task.context.taskId,
        killedOutcome(reason),
        null,
      );
      slot.task = undefined;
      this.#startNext();
    }, this.#options.killTimeout);
  }

  /** The killed task has ended: its thread is as good as new. */
  #reaped(slot: Slot): void {
    clearTimeout(slot.reaper);
    slot.killed = undefined;
    Atomics.store(slot.stop, 0, 0);
  }

  #startNext(): void {
    const next = this.#waiting.shift();
    if (next) this.run(next);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const slot of this.#slots) clearTimeout(slot.reaper);
    this.#waiting.length = 0;
    await Promise.all([...this.#slots].map((slot) => slot.worker.terminate()));
  }

  #idle(): Slot | undefined {
    for (const slot of this.#slots) {
      if (slot.task === undefined && slot.killed === undefined) return slot;
    }
    return this.#slots.size < this.#options.threads ? this.#start() : undefined;
  }

  #start(): Slot {
    const { module, settings, heapLimit } = this.#options;
    const stop = new SharedArrayBuffer(4);
    const slot: Slot = {
      worker: new Worker(new URL(module), {
        workerData: { ...settings, stop },
        resourceLimits: { maxOldGenerationSizeMb: heapLimit },
      }),
      binaries: new Set(),
      stop: new Int32Array(stop),
      task: undefined,
      killed: undefined,
      reaper: undefined,
    };
    this.#slots.add(slot);
    let failure: TaskFailure | undefined;
    slot.worker.on("message", (message: FromThread) => {
      if (message.type !== "outOfMemory") return this.#receive(slot, message);
      failure ??= this.#outOfMemory();
      slot.worker.terminate();
    });
    slot.worker.on("error", (error: Error & { code?: string }) => {
      failure = this.#describe(error);
    });
    slot.worker.on("exit", (code: number) => {
      this.#slots.delete(slot);
      this.#ended(
        slot,
        failure ?? {
          reason: "threadEnded",
          message: `The task ended its thread with exit code ${code}.`,
          stack: "",
          fetch: null,
        },
      );
    });
    return slot;
  }

  #describe(error: Error & { code?: string }): TaskFailure {
    if (error.code === "ERR_WORKER_OUT_OF_MEMORY") return this.#outOfMemory();
    return {
      reason: "exception",
      message: `${error.name}: ${error.message}`,
      stack: error.stack ?? "",
      fetch: null,
    };
  }

  #outOfMemory(): TaskFailure {
    return {
      reason: "outOfMemory",
      message:
        `The task ran out of memory: it may take ${this.#options.heapLimit} MiB. ` +
        "Use more partitions, or give the executors more with --executor-memory.",
      stack: "",
      fetch: null,
    };
  }

  #ended(slot: Slot, failure: TaskFailure): void {
    clearTimeout(slot.reaper);
    if (this.#closed) return;
    const { task, killed } = slot;
    if (task !== undefined) {
      const outcome = killed === undefined
        ? { type: "failure", failure } as const
        : killedOutcome(killed);
      this.#handler.taskEnded(task.context.taskId, outcome, null);
    }
    this.#startNext();
  }

  #give(slot: Slot, task: RunTask): void {
    slot.task = task;
    if (!slot.binaries.has(task.binaryId)) {
      const data = this.#binaries.get(task.binaryId);
      if (data) {
        slot.binaries.add(task.binaryId);
        const { binaryId } = task;
        post(slot, { type: "addBinary", binaryId, data: bufferOf(data) });
      }
    }
    post(slot, { ...task, spec: bufferOf(task.spec) });
    this.#handler.taskStarted(task.context.taskId);
  }

  #receive(
    slot: Slot,
    message: Exclude<FromThread, { type: "outOfMemory" }>,
  ): void {
    switch (message.type) {
      case "ready":
        return;
      case "pong":
        // It waits, for an answer or a timer: so it can be ended.
        if (slot.killed !== undefined && slot.task !== undefined) {
          slot.worker.terminate();
        }
        return;
      case "taskEnded": {
        // A stuck one came to an end after all: it has been reported already.
        if (slot.task === undefined) return;
        slot.task = undefined;
        const { killed } = slot;
        if (killed !== undefined) this.#reaped(slot);
        const outcome = killed === undefined
          ? message.outcome
          : killedOutcome(killed);
        this.#handler.taskEnded(message.taskId, outcome, message.data);
        const next = this.#waiting.shift();
        if (next) this.#give(slot, next);
        return;
      }
      case "getBroadcast":
        this.#answer(
          slot,
          message.requestId,
          this.#handler.getBroadcast(message.broadcastId).then((bytes) => [
            bytes,
          ]),
        );
        return;
      case "getBlock": {
        const chunks = this.#options.blocks.get(
          message.rddId,
          message.partition,
        );
        this.#answer(slot, message.requestId, Promise.resolve(chunks ?? null));
        return;
      }
      case "putBlock":
        this.#options.blocks.put(
          message.rddId,
          message.partition,
          message.chunks,
        );
    }
  }

  async #answer(
    slot: Slot,
    requestId: number,
    chunks: Promise<readonly Uint8Array[] | null>,
  ): Promise<void> {
    try {
      post(slot, {
        type: "bytes",
        requestId,
        chunks: (await chunks)?.map(bufferOf) ?? null,
        error: null,
      });
    } catch (error) {
      post(slot, {
        type: "bytes",
        requestId,
        chunks: null,
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }
}

function post(slot: Slot, message: ToThread): void {
  slot.worker.postMessage(message);
}

function killedOutcome(reason: string): TaskOutcome {
  return {
    type: "failure",
    failure: { reason: "killed", message: reason, stack: "", fetch: null },
  };
}
