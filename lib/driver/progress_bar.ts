import { setLogSink, writeLogLine, writeToStderr } from "../log.ts";
import type { Milliseconds } from "../conf/units.ts";
import type { StageProgress } from "./task_scheduler_core.ts";

const UPDATE_INTERVAL: Milliseconds = 200;
/** Stages that end sooner than this are not worth a line. */
const FIRST_UPDATE: Milliseconds = 500;
const MAX_STAGES = 3;
const CLEAR_LINE = "\r\x1b[K";

/**
 * The running stages, on the last line of a terminal (Spark:
 * `ConsoleProgressBar`). Log lines are written above it.
 */
export class ProgressBar implements Disposable {
  readonly #progress: () => readonly StageProgress[];
  readonly #restoreLog: () => void;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #seen = new Map<number, Milliseconds>();
  #shown = "";

  constructor(progress: () => readonly StageProgress[]) {
    this.#progress = progress;
    this.#restoreLog = setLogSink((line) => {
      this.clear();
      writeLogLine(line);
    });
    this.#timer = setInterval(() => this.#update(), UPDATE_INTERVAL);
  }

  /** Takes the line away, as before other output. */
  clear(): void {
    if (this.#shown === "") return;
    writeToStderr(CLEAR_LINE);
    this.#shown = "";
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.clear();
    this.#restoreLog();
  }

  #update(): void {
    const now = performance.now();
    const stages = this.#progress();
    for (const { stageId } of stages) {
      if (!this.#seen.has(stageId)) this.#seen.set(stageId, now);
    }
    const old = stages.filter(({ stageId }) =>
      now - this.#seen.get(stageId)! >= FIRST_UPDATE
    );
    if (old.length === 0) return this.clear();
    const line = progressLine(old.slice(0, MAX_STAGES), terminalWidth());
    if (line === this.#shown) return;
    writeToStderr(CLEAR_LINE + line);
    this.#shown = line;
  }
}

/** `[Stage 0:=====>      (3 + 2) / 10]`: done, running and all tasks. */
export function progressLine(
  stages: readonly StageProgress[],
  width: number,
): string {
  const share = Math.floor((width - 1) / stages.length);
  return stages.map(({ stageId, tasks, finished, running }) => {
    const head = `[Stage ${stageId}:`;
    const tail = `(${finished} + ${running}) / ${tasks}]`;
    const room = share - head.length - tail.length;
    if (room <= 0) return `${head}${tail}`;
    const filled = Math.min(room, Math.floor(room * finished / tasks));
    const bar = filled === room
      ? "=".repeat(room)
      : `${"=".repeat(filled)}>`.padEnd(room);
    return `${head}${bar}${tail}`;
  }).join("");
}

function terminalWidth(): number {
  try {
    return Deno.consoleSize().columns || 80;
  } catch {
    // stderr is a terminal while stdout, which is what Deno measures, is not.
    return 80;
  }
}
