import type {
  ExecutorChanged,
  ExecutorKey,
  KillExecutorEffect,
  LaunchExecutorEffect,
  WorkerEvent,
} from "../../lib/worker/events.ts";
import { fullId } from "../../lib/worker/events.ts";
import type { World } from "./world.ts";

/** An application with this main class has executors that never run. */
export const FAILING_MAIN_CLASS = "Failing";

interface SimExecutor extends ExecutorKey {
  killed: KillExecutorEffect["reason"] | null;
  orphaned: boolean;
}

/**
 * The executors of one worker process, as its runners would start and end
 * them. They are harsher than real ones: they don't end with their driver, so
 * that only what master and worker do about them ends them.
 */
export class SimExecutors {
  readonly #world: World;
  readonly #workerId: string;
  readonly #tell: (event: WorkerEvent) => void;
  readonly #executors = new Map<string, SimExecutor>();

  constructor(
    world: World,
    workerId: string,
    tell: (event: WorkerEvent) => void,
  ) {
    this.#world = world;
    this.#workerId = workerId;
    this.#tell = tell;
  }

  get size(): number {
    return this.#executors.size;
  }

  get allOrphaned(): boolean {
    return [...this.#executors.values()].every(({ orphaned }) => orphaned);
  }

  launch({ appId, execId, cores, appDesc }: LaunchExecutorEffect): void {
    const { executors, prng } = this.#world;
    const executor = { appId, execId, killed: null, orphaned: false };
    const id = fullId(executor);
    executors.launched({ id, workerId: this.#workerId, cores });
    this.#executors.set(id, executor);
    const fails = appDesc.command.mainClass === FAILING_MAIN_CLASS ||
      this.#world.calmSince === null && prng.chance(0.05);
    this.#later(prng.skewed(10, 5_000), executor, () => {
      if (fails && prng.chance(0.5)) {
        this.#remove(executor);
        return this.#tell({
          type: "executorLaunchFailed",
          appId,
          execId,
          error: "No space left on device",
        });
      }
      if (fails) {
        return this.#end(executor, "FAILED", "Error running executor", null);
      }
      this.#change(executor, "RUNNING", null, null);
      this.#later(prng.skewed(100, 600_000), executor, () => {
        // In the calm nothing changes any more but by what was begun before.
        if (this.#world.calmSince !== null) return;
        const code = prng.chance(0.5) ? 0 : 1;
        this.#end(executor, "EXITED", `Command exited with code ${code}`, code);
      });
    });
  }

  /** Takes a while; one that resists is orphaned first and ends later. */
  kill(effect: KillExecutorEffect): void {
    const { clock, prng } = this.#world;
    const executor = this.#executors.get(fullId(effect));
    if (executor === undefined || executor.killed !== null) return;
    executor.killed = effect.reason;
    const end = () => {
      if (this.#executors.get(fullId(executor)) !== executor) return;
      const state = executor.killed === "shutdown" ? "FAILED" : "KILLED";
      this.#end(executor, state, "killed", 143);
    };
    if (!prng.chance(0.05)) {
      clock.schedule(prng.skewed(1, 12_000), end);
      return;
    }
    clock.schedule(10_000, () => {
      if (this.#executors.get(fullId(executor)) !== executor) return;
      executor.orphaned = true;
      const { appId, execId } = executor;
      this.#tell({ type: "executorOrphaned", appId, execId });
      clock.schedule(prng.integer(1_000, 30_000), end);
    });
  }

  /** The worker's process is gone, and they with it: nobody is told. */
  killAll(): void {
    for (const executor of this.#executors.values()) this.#remove(executor);
  }

  /** Does something to an executor unless it has been killed until then. */
  #later(after: number, executor: SimExecutor, action: () => void): void {
    this.#world.clock.schedule(after, () => {
      const known = this.#executors.get(fullId(executor)) === executor;
      if (known && executor.killed === null) action();
    });
  }

  #end(
    executor: SimExecutor,
    state: ExecutorChanged["state"],
    message: string,
    exitStatus: number | null,
  ): void {
    this.#remove(executor);
    this.#change(executor, state, message, exitStatus);
  }

  #remove(executor: SimExecutor): void {
    this.#executors.delete(fullId(executor));
    this.#world.executors.ended(fullId(executor));
  }

  #change(
    { appId, execId }: SimExecutor,
    state: ExecutorChanged["state"],
    message: string | null,
    exitStatus: number | null,
  ): void {
    this.#tell({
      type: "executorChanged",
      appId,
      execId,
      state,
      message,
      exitStatus,
      pid: state === "RUNNING" ? 1_000 + execId : null,
    });
  }
}
