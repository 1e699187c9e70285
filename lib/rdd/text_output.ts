import { basename } from "node:path";
import { pathExists } from "./path_exists.ts";

/**
 * Text output as Hadoop's `FileOutputCommitter` lays it out: tasks write below
 * `_temporary`, a task's commit renames its file into place, and `_SUCCESS` appears last. The
 * directory must be on a filesystem that the driver and all executors share.
 *
 * @module
 */

const TEMPORARY = "_temporary";

/** How many characters a part collects before it writes them. */
const FLUSH_LENGTH = 256 * 1024;

/** Output that cannot be written. */
export class TextOutputError extends Error {
  override readonly name: string = "TextOutputError";
}

/** The output directory exists: nothing is ever written over. */
export class OutputExistsError extends TextOutputError {
  override readonly name = "OutputExistsError";
}

/**
 * Makes the output directory and the place where tasks write. The driver calls it before the job.
 *
 * @throws {OutputExistsError} when `dir` exists, whatever it is.
 * @throws {TextOutputError} when it cannot be made.
 */
export function prepareOutput(dir: string): void {
  const parent = dir.replace(/\/+$/, "").replace(/\/?[^/]*$/, "");
  try {
    if (parent !== "") Deno.mkdirSync(parent, { recursive: true });
    // Not recursive: then it fails when the directory exists, also if that happened just now.
    Deno.mkdirSync(dir);
    Deno.mkdirSync(`${dir}/${TEMPORARY}`);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists && pathExists(dir)) {
      throw new OutputExistsError(`Output directory ${dir} already exists`, {
        cause: error,
      });
    }
    throw new TextOutputError(
      `Cannot create the output directory ${dir}: ${reason(error)}`,
      { cause: error },
    );
  }
}

/**
 * Ends the output of a job: removes what unfinished attempts left, so that none of them can still
 * commit, then writes `_SUCCESS`. The driver calls it when all tasks have committed.
 *
 * @throws {TextOutputError} when that cannot be written.
 */
export function commitOutput(dir: string): void {
  try {
    removeTemporary(dir);
    Deno.writeFileSync(`${dir}/_SUCCESS`, new Uint8Array(0));
  } catch (error) {
    throw new TextOutputError(
      `Cannot commit the output directory ${dir}: ${reason(error)}`,
      { cause: error },
    );
  }
}

/**
 * Takes the output of a failed job away: what unfinished attempts left, committed parts, and the
 * directory itself, unless somebody else has put files there. (Spark leaves the directory; then the
 * job cannot be run again before somebody has removed it.)
 *
 * @throws {TextOutputError} when that cannot be removed.
 */
export function abortOutput(dir: string): void {
  try {
    if (!pathExists(dir)) return;
    removeTemporary(dir);
    for (const entry of [...Deno.readDirSync(dir)]) {
      if (/^part-\d{5,}$/.test(entry.name)) {
        Deno.removeSync(`${dir}/${entry.name}`);
      }
    }
    if (Deno.readDirSync(dir)[Symbol.iterator]().next().done) {
      Deno.removeSync(dir);
    }
  } catch (error) {
    throw new TextOutputError(
      `Cannot remove the output of the failed job in ${dir}: ${reason(error)}`,
      { cause: error },
    );
  }
}

/** The name of a partition's file: `part-00000`. */
export function partName(partition: number): string {
  return `part-${String(partition).padStart(5, "0")}`;
}

/** Which try at which partition writes. */
export interface TextPart {
  /** The partition, from 0: it names the file. */
  partition: number;
  /** Tells this attempt from any other in the job, such as the task's id. Without `/`. */
  attempt: string | number;
}

/**
 * Writes one partition of a text output, a line per record.
 *
 * Nothing is seen in the output directory before {@linkcode TextPartWriter.commit}, which puts the
 * whole file there at once. When two attempts at one partition commit, the later file replaces the
 * earlier whole. A writer that is neither committed nor aborted is aborted by `using`.
 *
 * @example
 * ```ts ignore
 * using writer = new TextPartWriter("/data/out", { partition: 0, attempt: 17 });
 * for (const line of ["a", "b"]) writer.write(line);
 * writer.commit();
 * ```
 */
export class TextPartWriter implements Disposable {
  readonly #target: string;
  readonly #attemptDir: string;
  readonly #source: string;
  readonly #file: Deno.FsFile;
  readonly #encoder = new TextEncoder();
  #closed = false;
  #pending: string[] = [];
  #pendingLength = 0;
  #state: "open" | "committed" | "aborted" = "open";

  /**
   * @throws {TextOutputError} when the job's output was not prepared on this filesystem, or has
   * been committed or aborted meanwhile.
   */
  constructor(dir: string, part: TextPart) {
    const name = partName(part.partition);
    const attempt = String(part.attempt);
    if (attempt === "" || basename(attempt) !== attempt) {
      throw new TypeError(
        `Cannot name an attempt "${attempt}": it must be a file name`,
      );
    }
    this.#target = `${dir}/${name}`;
    this.#attemptDir = `${dir}/${TEMPORARY}/attempt_${name}_${attempt}`;
    this.#source = `${this.#attemptDir}/${name}`;
    try {
      Deno.mkdirSync(this.#attemptDir);
      this.#file = Deno.openSync(this.#source, {
        write: true,
        createNew: true,
      });
    } catch (error) {
      const why = error instanceof Deno.errors.NotFound
        ? `${dir}/${TEMPORARY} does not exist on this host: the job has ended, ` +
          `or the directory is not on a filesystem that all hosts share`
        : reason(error);
      throw new TextOutputError(`Cannot write ${this.#target}: ${why}`, {
        cause: error,
      });
    }
  }

  /**
   * Adds a line. A `\n` is written after it; one inside it is written as it is.
   *
   * @throws {TextOutputError} when the file cannot be written, such as on a full disk.
   */
  write(line: string): void {
    this.#assertOpen();
    this.#pending.push(line);
    this.#pendingLength += line.length + 1;
    if (this.#pendingLength >= FLUSH_LENGTH) this.#flush();
  }

  /**
   * Writes what is buffered, closes the file and puts it in place.
   *
   * @throws {TextOutputError} when that fails, also because the job has ended meanwhile. The writer
   * can then only be aborted.
   */
  commit(): void {
    this.#assertOpen();
    this.#flush();
    // A network filesystem may tell of a failed write only now: close before the rename.
    this.#close();
    try {
      Deno.renameSync(this.#source, this.#target);
    } catch (error) {
      throw this.#failure(error);
    }
    this.#state = "committed";
    this.#removeAttempt();
  }

  /** Takes away what was written. Does nothing after {@linkcode commit} or a first abort. */
  abort(): void {
    if (this.#state !== "open") return;
    this.#state = "aborted";
    this.#close();
    this.#removeAttempt();
  }

  [Symbol.dispose](): void {
    this.abort();
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    this.#pending.push("");
    let bytes = this.#encoder.encode(this.#pending.join("\n"));
    this.#pending = [];
    this.#pendingLength = 0;
    try {
      while (bytes.length > 0) {
        bytes = bytes.subarray(this.#file.writeSync(bytes));
      }
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#file.close();
  }

  #removeAttempt(): void {
    // It is gone already when the driver has removed all of _temporary.
    removeIfThere(this.#attemptDir);
  }

  #failure(error: unknown): TextOutputError {
    return new TextOutputError(
      `Cannot write ${this.#target}: ${reason(error)}`,
      { cause: error },
    );
  }

  #assertOpen(): void {
    if (this.#state !== "open") {
      throw new TypeError(
        `Cannot write ${this.#target}: its writer is ${this.#state}`,
      );
    }
  }
}

function removeTemporary(dir: string): void {
  const ended = `${dir}/${TEMPORARY}.ended`;
  try {
    // In one step, so that no late attempt puts a file where we are removing. A rename does not
    // replace what an interrupted earlier call left.
    removeIfThere(ended);
    Deno.renameSync(`${dir}/${TEMPORARY}`, ended);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  removeIfThere(ended);
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
