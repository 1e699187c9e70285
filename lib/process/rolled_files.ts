/**
 * The files that a rolling log leaves behind: `stdout--2026-11-30`,
 * `stdout--2026-11-30.gz`, … beside the active `stdout`.
 *
 * @module
 */
import { basename, dirname, join } from "node:path";

const MAX_ALTERNATIVES = 10_000;

/**
 * Gives the active file its rolled name. A name that is taken gets `--0`,
 * `--1`, … A file that doesn't exist is left so.
 *
 * @throws {Error} when the system refuses, or all names are taken.
 */
export async function rollFile(
  path: string,
  suffix: string,
  compress: boolean,
): Promise<void> {
  if (!await exists(path)) return;
  const target = await findFreeName(path + suffix);
  await Deno.rename(path, target);
  if (compress) await compressFile(target);
}

/** The rolled files of an active one, oldest first by their names. */
export async function listRolledFiles(path: string): Promise<string[]> {
  const folder = dirname(path);
  const prefix = `${basename(path)}--`;
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (name.startsWith(prefix)) names.push(name);
  }
  return names.sort(compareRolledNames).map((name) => join(folder, name));
}

/**
 * By time, then by the number that tells files of one time apart: in a plain
 * comparison of texts `…--2` would follow `…--10`, and `….gz` all of them.
 */
function compareRolledNames(a: string, b: string): number {
  const [left, right] = [a, b].map((name) =>
    name.replace(/\.gz$/, "").split("-")
  );
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = Number(left[i]) - Number(right[i]);
    if (difference) return difference;
    if (Number.isNaN(difference) && left[i] !== right[i]) {
      return left[i] < right[i] ? -1 : 1;
    }
  }
  return left.length - right.length;
}

/** Removes rolled files until no more than `keep` are left. */
export async function removeOldest(path: string, keep: number): Promise<void> {
  const files = await listRolledFiles(path);
  for (const file of files.slice(0, Math.max(0, files.length - keep))) {
    await Deno.remove(file);
  }
}

async function findFreeName(wanted: string): Promise<string> {
  if (!await isTaken(wanted)) return wanted;
  for (let i = 0; i < MAX_ALTERNATIVES; i++) {
    const alternative = `${wanted}--${i}`;
    if (!await isTaken(alternative)) return alternative;
  }
  throw new Error(`Cannot find a free name for the log file ${wanted}.`);
}

async function isTaken(path: string): Promise<boolean> {
  return await exists(path) || await exists(`${path}.gz`);
}

/** Writes `path.gz`, and removes the original once that is whole. */
async function compressFile(path: string): Promise<void> {
  const compressed = `${path}.gz`;
  try {
    const source = await Deno.open(path);
    await source.readable
      .pipeThrough(new CompressionStream("gzip"))
      .pipeTo((await Deno.create(compressed)).writable);
  } catch (error) {
    await Deno.remove(compressed).catch(ignoreMissing);
    throw error;
  }
  await Deno.remove(path);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
