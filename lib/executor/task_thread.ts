/**
 * What runs in a task thread: one task at a time, in an isolate of its own, so
 * that a task that loops or runs out of memory takes nothing else with it.
 *
 * @module
 */
import { getHeapStatistics } from "node:v8";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { restoreClosure } from "../closure/restore.ts";
import { SparkConf } from "../conf/spark_conf.ts";
import type { Milliseconds } from "../conf/units.ts";
import type { TaskFailure, TaskOutcome } from "../messages/cluster.ts";
import {
  Accumulator,
  ACCUMULATOR_KIND,
  type AccumulatorMode,
  isZero,
} from "../rdd/accumulator.ts";
import { Broadcast, BROADCAST_KIND } from "../rdd/broadcast.ts";
import { decodeBroadcast } from "../rdd/broadcast_codec.ts";
import { type Chunks, isAsync } from "../rdd/chunks.ts";
import type { PartitionSpec, StageProgram } from "../rdd/plan.ts";
import { runTask, type TaskOutput } from "../rdd/run_task.ts";
import type { TaskContext, TaskEnvironment } from "../rdd/task_environment.ts";
import type { RpcEnv } from "../rpc/rpc_env.ts";
import { FetchFailedError, type ShuffleBlock } from "../shuffle/map_output.ts";
import { decodeValue, encodeValue } from "../shuffle/record_codec.ts";
import { readBlocks } from "../shuffle/shuffle_reader.ts";
import { privateBytes, toSharedBytes } from "./shared_bytes.ts";
import { shuffleFileName, shuffleStreamId } from "./shuffle_files.ts";
import type {
  FromThread,
  RunTask,
  ThreadSettings,
  ToThread,
} from "./thread_messages.ts";

interface LoadedProgram {
  readonly program: StageProgram;
  readonly accumulators: readonly Accumulator<unknown>[];
  readonly broadcasts: readonly number[];
}

const MEMORY_CHECK_INTERVAL: Milliseconds = 200;

/** Serves the thread's parent until it ends the thread. */
export function runTaskThread(): void {
  if (parentPort === null) throw new Error("This is no thread of an executor.");
  new TaskThread(parentPort, workerData as ThreadSettings).start();
}

class TaskThread {
  readonly #port: MessagePort;
  readonly #settings: ThreadSettings;
  readonly #stop: Int32Array;
  readonly #programs = new Map<number, Promise<LoadedProgram>>();
  readonly #broadcasts = new Map<number, Broadcast<unknown>>();
  readonly #arrived = new Map<number, Promise<void>>();
  readonly #requests = new Map<
    number,
    PromiseWithResolvers<Uint8Array[] | undefined>
  >();
  #nextRequest = 0;
  #rpc: Promise<RpcEnv> | undefined;

  constructor(port: MessagePort, settings: ThreadSettings) {
    this.#port = port;
    this.#settings = settings;
    this.#stop = new Int32Array(settings.stop);
  }

  start(): void {
    this.#watchMemory();
    this.#port.on("message", (message: ToThread) => this.#receive(message));
    this.#post({ type: "ready" });
  }

  /**
   * What runs from a promise and runs out of memory is cut off, but the
   * runtime tells nobody and the thread lives on. It raises the heap's limit
   * to get so far, though, and that can be seen.
   */
  #watchMemory(): void {
    const limit = getHeapStatistics().heap_size_limit;
    const timer = setInterval(() => {
      if (getHeapStatistics().heap_size_limit === limit) return;
      clearInterval(timer);
      this.#post({ type: "outOfMemory" });
    }, MEMORY_CHECK_INTERVAL);
  }

  #receive(message: ToThread): void {
    switch (message.type) {
      case "addBinary": {
        const loading = this.#load(new Uint8Array(message.data));
        // A program that can't be restored fails each of its tasks, later.
        loading.catch(() => {});
        this.#programs.set(message.binaryId, loading);
        return;
      }
      case "ping":
        return this.#post({ type: "pong" });
      case "removeBinary":
        this.#programs.delete(message.binaryId);
        return;
      case "removeBroadcast":
        this.#broadcasts.get(message.broadcastId)?.destroy();
        this.#broadcasts.delete(message.broadcastId);
        this.#arrived.delete(message.broadcastId);
        return;
      case "bytes": {
        const request = this.#requests.get(message.requestId);
        this.#requests.delete(message.requestId);
        if (message.error !== null) request?.reject(new Error(message.error));
        else request?.resolve(message.chunks?.map(privateBytes));
        return;
      }
      case "runTask":
        this.#run({ ...message, spec: new Uint8Array(message.spec) });
    }
  }

  async #load(data: Uint8Array): Promise<LoadedProgram> {
    const accumulators: Accumulator<unknown>[] = [];
    const broadcasts: number[] = [];
    const program = await restoreClosure(data, {
      revive: {
        [ACCUMULATOR_KIND]: (data) => {
          const { id, mode, zero } = data as {
            id: number;
            mode: AccumulatorMode;
            zero: unknown;
          };
          const accumulator = new Accumulator<unknown>(id, mode, zero);
          accumulators.push(accumulator);
          return accumulator;
        },
        [BROADCAST_KIND]: (id) => {
          broadcasts.push(id as number);
          return this.#broadcast(id as number);
        },
      },
    });
    return { program: program as StageProgram, accumulators, broadcasts };
  }

  async #run(task: RunTask): Promise<void> {
    const started = performance.now();
    const cached: [number, number][] = [];
    let fetchFailure: FetchFailedError | undefined;
    let loaded: LoadedProgram | undefined;
    try {
      loaded = await this.#programOf(task.binaryId);
      await Promise.all(loaded.broadcasts.map((id) => this.#fill(id)));
      const spec = decodeValue(task.spec) as PartitionSpec;
      const environment = this.#environment(task.context, cached, (error) => {
        fetchFailure ??= error;
      });
      const output = await runTask(loaded.program, spec, environment);
      const runTime = performance.now() - started;
      this.#succeed(task.context.taskId, output, loaded, cached, runTime);
    } catch (error) {
      loaded?.accumulators.forEach((accumulator) => accumulator.takePartial());
      // The application may have made an error of its own of it.
      const failure = describeFailure(fetchFailure ?? error);
      const outcome: TaskOutcome = { type: "failure", failure };
      const { taskId } = task.context;
      this.#post({ type: "taskEnded", taskId, outcome, data: null });
    }
  }

  #programOf(binaryId: number): Promise<LoadedProgram> {
    const loading = this.#programs.get(binaryId);
    if (loading === undefined) throw new Error(`No stage code ${binaryId}.`);
    return loading;
  }

  #succeed(
    taskId: number,
    output: TaskOutput,
    loaded: LoadedProgram,
    cached: [number, number][],
    runTime: number,
  ): void {
    const updates = loaded.accumulators
      .map((each) => [each.id, each.takePartial()] as const)
      .filter(([, partial]) => !isZero(partial));
    const accumulators = updates.length === 0
      ? new Uint8Array(0)
      : encodeValue(updates);
    const result = output.type === "action" ? output.result : undefined;
    const outcome: TaskOutcome = {
      type: "success",
      mapOutput: output.type === "shuffle"
        ? { path: output.path, segments: output.segments }
        : null,
      cached,
      accumulatorBytes: accumulators.length,
      runTime,
    };
    const data = accumulators.length === 0
      ? result ?? null
      : concat(accumulators, result);
    this.#post({ type: "taskEnded", taskId, outcome, data });
  }

  #environment(
    context: TaskContext,
    cached: [number, number][],
    fetchFailed: (error: FetchFailedError) => void,
  ): TaskEnvironment {
    const { executorHost, shuffleDirectory } = this.#settings;
    return {
      context,
      isKilled: () => Atomics.load(this.#stop, 0) !== 0,
      readShuffle: (blocks) =>
        noting(
          readBlocks(blocks, {
            host: executorHost,
            fetch: (block, segment) => this.#fetchSegment(block, segment),
          }),
          fetchFailed,
        ),
      newShuffleFile: (shuffleId) =>
        `${shuffleDirectory}/${shuffleFileName(shuffleId, context)}`,
      blocks: {
        get: (rddId, partition) =>
          this.#request((requestId) => ({
            type: "getBlock",
            requestId,
            rddId,
            partition,
          })),
        put: (rddId, partition, chunks) => {
          cached.push([rddId, partition]);
          this.#post({
            type: "putBlock",
            rddId,
            partition,
            chunks: chunks.map(toSharedBytes),
          });
        },
      },
    };
  }

  async #fetchSegment(
    block: ShuffleBlock,
    segment: { offset: number; length: number },
  ): Promise<Uint8Array> {
    // Most tasks fetch nothing from other hosts: the thread starts without RPC.
    this.#rpc ??= import("../rpc/rpc_env.ts").then(({ RpcEnv }) =>
      RpcEnv.create({
        host: this.#settings.executorHost,
        port: null,
        conf: new SparkConf(
          this.#settings.settings as Iterable<[string, string]>,
        ),
      })
    );
    const rpc = await this.#rpc;
    const stream = await rpc.fetchStream(
      block.address,
      shuffleStreamId(block.path, segment),
    );
    return await stream.bytes();
  }

  #broadcast(id: number): Broadcast<unknown> {
    let broadcast = this.#broadcasts.get(id);
    if (broadcast === undefined) {
      broadcast = Broadcast.awaiting(id);
      this.#broadcasts.set(id, broadcast);
    }
    return broadcast;
  }

  /** Gets a broadcast's value before a task that uses it begins. */
  #fill(id: number): Promise<void> {
    let arrived = this.#arrived.get(id);
    if (arrived === undefined) {
      arrived = this.#getBroadcast(id);
      this.#arrived.set(id, arrived);
      arrived.catch(() => this.#arrived.delete(id));
    }
    return arrived;
  }

  async #getBroadcast(broadcastId: number): Promise<void> {
    const chunks = await this.#request((requestId) => ({
      type: "getBroadcast",
      requestId,
      broadcastId,
    }));
    const value = await decodeBroadcast(chunks![0]);
    this.#broadcast(broadcastId).fill(value);
  }

  #request(
    message: (requestId: number) => FromThread,
  ): Promise<Uint8Array[] | undefined> {
    const requestId = this.#nextRequest++;
    const request = Promise.withResolvers<Uint8Array[] | undefined>();
    this.#requests.set(requestId, request);
    this.#post(message(requestId));
    return request.promise;
  }

  #post(message: FromThread): void {
    this.#port.postMessage(message);
  }
}

/** Passes chunks through, and tells of a block that could not be had. */
function noting(
  chunks: Chunks,
  failed: (error: FetchFailedError) => void,
): Chunks {
  const note = (error: unknown) => {
    if (error instanceof FetchFailedError) failed(error);
    return error;
  };
  return isAsync(chunks)
    ? (async function* () {
      try {
        yield* chunks;
      } catch (error) {
        throw note(error);
      }
    })()
    : (function* () {
      try {
        yield* chunks;
      } catch (error) {
        throw note(error);
      }
    })();
}

function concat(first: Uint8Array, second?: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + (second?.length ?? 0));
  whole.set(first);
  if (second) whole.set(second, first.length);
  return whole;
}

/** Causes that are followed; a chain may be a cycle. */
const MAX_CAUSES = 8;

function describeFailure(error: unknown): TaskFailure {
  if (error instanceof FetchFailedError) {
    const { shuffleId, mapIndex, executorId } = error.block;
    return {
      reason: "fetchFailed",
      message: error.message,
      stack: "",
      fetch: { shuffleId, mapIndex, executorId },
    };
  }
  if (!(error instanceof Error)) {
    const message = `Uncaught ${formatThrown(error)}`;
    return { reason: "exception", message, stack: "", fetch: null };
  }
  let stack = error.stack ?? "";
  let cause = error.cause;
  for (let i = 0; i < MAX_CAUSES && cause instanceof Error; i++) {
    stack += `\nCaused by: ${cause.stack ?? cause}`;
    cause = cause.cause;
  }
  const message = `${error.name}: ${error.message}`;
  return { reason: "exception", message, stack, fetch: null };
}

function formatThrown(value: unknown): string {
  return typeof value === "string" ? value : Deno.inspect(value);
}
