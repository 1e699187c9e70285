/**
 * The worker's directory: `WORK/appId/execId` for each executor.
 *
 * @module
 */
import { join } from "node:path";
import type { Milliseconds } from "../conf/units.ts";
import { describeError, getLogger, type Logger } from "../log.ts";
import type { ApplicationId, ExecutorId } from "../messages/deploy.ts";

/** A directory for an executor cannot be made. */
export class WorkDirError extends Error {
  override name = "WorkDirError";
}

/**
 * Makes the directory of an executor, which must not be there yet.
 *
 * @returns Its path.
 * @throws {WorkDirError} when it can't be made.
 */
export async function createExecutorDir(
  workDir: string,
  appId: ApplicationId,
  execId: ExecutorId,
): Promise<string> {
  // An id can be made from an application's name, which may hold anything.
  if (/[/\\\0]/.test(appId) || ["", ".", ".."].includes(appId)) {
    throw new WorkDirError(
      `Failed to create a directory for the application "${appId}": its id is no file name.`,
    );
  }
  const path = join(workDir, appId, String(execId));
  try {
    await Deno.mkdir(join(workDir, appId), { recursive: true });
    await Deno.mkdir(path);
    return path;
  } catch (cause) {
    throw new WorkDirError(
      `Failed to create directory ${path}: ${describeError(cause)}.`,
      { cause },
    );
  }
}

export interface CleanWorkDirOptions {
  /** Asked again just before a directory goes: one may have started. */
  readonly isRunning: (appId: ApplicationId) => boolean;
  /** What is older than this may go. */
  readonly ttl: Milliseconds;
  readonly now: Milliseconds;
  readonly log?: Logger;
}

/**
 * Removes the directories of applications that don't run here and below which
 * nothing is younger than the given age (`spark.worker.cleanup.appDataTtl`).
 * A directory's own time doesn't count, that of what is in it does.
 */
export async function cleanWorkDir(
  workDir: string,
  { isRunning, ttl, now, log = getLogger("Worker") }: CleanWorkDirOptions,
): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(workDir)) {
    if (!isDirectory || isRunning(name)) continue;
    const path = join(workDir, name);
    try {
      if (await holdsYounger(path, now - ttl) || isRunning(name)) continue;
      log.info(`Removing directory: ${path}`);
      await Deno.remove(path, { recursive: true });
    } catch (error) {
      log.warn(`Cannot clean up the directory ${path}`, error);
    }
  }
}

/** Whether anything below a directory was changed after a time. */
async function holdsYounger(
  root: string,
  cutoff: Milliseconds,
): Promise<boolean> {
  const toVisit = [root];
  for (let dir = toVisit.pop(); dir !== undefined; dir = toVisit.pop()) {
    for await (const { name, isDirectory } of Deno.readDir(dir)) {
      const path = join(dir, name);
      const { mtime } = await Deno.lstat(path);
      // Where the system tells no time, nothing is known to be old.
      if (mtime === null || mtime.getTime() > cutoff) return true;
      if (isDirectory) toVisit.push(path);
    }
  }
  return false;
}
