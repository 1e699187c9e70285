import type { Milliseconds } from "../conf/units.ts";
import { delay, settlesWithin } from "./delay.ts";
import { isGroupAlive, signalGroup } from "./process_group.ts";

/** How a process ended. */
export interface ExitStatus {
  /** The exit code; 128 + n when signal n ended it (143 for SIGTERM). */
  readonly code: number;
  /** The signal that ended it. */
  readonly signal: Deno.Signal | null;
}

export interface SpawnOptions {
  /** The program: a path, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Variables beside the inherited ones, which they override. */
  readonly env?: Readonly<Record<string, string>>;
  /** Inherit no variables. Default: false. */
  readonly clearEnv?: boolean;
  /** "piped" holds the pipe open until the process ends. Default: "null". */
  readonly stdin?: "null" | "piped";
  /** What is piped must be read, or the process blocks. Default: "null". */
  readonly stdout?: "piped" | "inherit" | "null";
  readonly stderr?: "piped" | "inherit" | "null";
}

export interface TerminateOptions {
  /** Time between SIGTERM and SIGKILL. */
  readonly grace: Milliseconds;
  /** How long to wait after SIGKILL. Default: 10 s. */
  readonly killWait?: Milliseconds;
}

/**
 * How the end of a process was: its status, or "orphaned" when something of
 * its group still runs, as a process in uninterruptible sleep does.
 */
export type Termination = { readonly status: ExitStatus } | "orphaned";

/** A process could not be started; `cause` is the system's error. */
export class ProcessStartError extends Error {
  override name = "ProcessStartError";
}

const DEFAULT_KILL_WAIT: Milliseconds = 10_000;
const FIRST_POLL: Milliseconds = 5;
const LONGEST_POLL: Milliseconds = 100;

/**
 * A child with a session and process group of its own, so that terminal
 * signals don't reach it and that all it starts can be ended with it.
 */
export class ManagedProcess {
  readonly #child: Deno.ChildProcess;
  readonly #hasStdin: boolean;
  #groupGone = false;
  #termination: Promise<Termination> | undefined;

  /** The process id, which is also the id of its group. */
  readonly pid: number;
  /** Settles once the process itself has ended. Never rejects. */
  readonly status: Promise<ExitStatus>;
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>> | null;

  /** Use {@linkcode spawnProcess}. */
  constructor(child: Deno.ChildProcess, options: SpawnOptions) {
    this.#child = child;
    this.#hasStdin = options.stdin === "piped";
    this.pid = child.pid;
    this.stdout = options.stdout === "piped" ? child.stdout : null;
    this.stderr = options.stderr === "piped" ? child.stderr : null;
    this.status = this.#waitForExit();
  }

  /**
   * Sends a signal to the whole group.
   *
   * @returns Whether there was a process to take it.
   */
  signal(signal: Deno.Signal): boolean {
    // Once the group is empty its id may come to belong to somebody else.
    if (this.#groupGone) return false;
    const delivered = signalGroup(this.pid, signal);
    if (!delivered) this.#groupGone = true;
    return delivered;
  }

  /**
   * Ends the process and all of its group: SIGTERM, the grace, SIGKILL, a
   * bounded wait. What the process left running when it ended is ended too.
   * A second call waits for the first.
   */
  terminate(options: TerminateOptions): Promise<Termination> {
    this.#termination ??= this.#terminate(options);
    return this.#termination;
  }

  async #terminate(
    { grace, killWait = DEFAULT_KILL_WAIT }: TerminateOptions,
  ): Promise<Termination> {
    this.signal("SIGTERM");
    if (!await this.#endsWithin(grace)) {
      this.signal("SIGKILL");
      if (!await this.#endsWithin(killWait)) return "orphaned";
    }
    return { status: await this.status };
  }

  /** Whether the process and its group end within a time. */
  async #endsWithin(time: Milliseconds): Promise<boolean> {
    const deadline = performance.now() + time;
    if (!await settlesWithin(this.status, time)) return false;
    for (let poll = FIRST_POLL;; poll = Math.min(2 * poll, LONGEST_POLL)) {
      if (this.#groupGone || !await isGroupAlive(this.pid)) {
        this.#groupGone = true;
        return true;
      }
      const left = deadline - performance.now();
      if (left <= 0) return false;
      await delay(Math.min(poll, left));
    }
  }

  async #waitForExit(): Promise<ExitStatus> {
    const { code, signal } = await this.#child.status;
    if (this.#hasStdin) await closeQuietly(this.#child.stdin);
    return { code, signal };
  }
}

/**
 * Starts a process in a session and process group of its own.
 *
 * @throws {ProcessStartError} when the system refuses to start it.
 */
export function spawnProcess(options: SpawnOptions): ManagedProcess {
  const { command, args = [], cwd, env, clearEnv = false } = options;
  try {
    const child = new Deno.Command(command, {
      args: [...args],
      cwd,
      env,
      clearEnv,
      stdin: options.stdin ?? "null",
      stdout: options.stdout ?? "null",
      stderr: options.stderr ?? "null",
      detached: true,
    }).spawn();
    return new ManagedProcess(child, options);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ProcessStartError(`Cannot start "${command}": ${reason}.`, {
      cause,
    });
  }
}

async function closeQuietly(stream: WritableStream<Uint8Array>): Promise<void> {
  try {
    await stream.close();
  } catch (error) {
    // The process that would have read it is gone, which is why we close it.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}
