/**
 * What the benchmarks share: running commands, and figures of several runs.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import type { Figure } from "./figure.ts";

export const REPEATS = 3;

const SPARKTS = pathOf("../sparkts");

/** What a command wrote, and how long it took until its exit. */
export interface TimedOutput {
  readonly stdout: string;
  readonly milliseconds: number;
}

/** @throws {Error} with what it wrote to stderr, when a command fails. */
export async function runTimed(
  command: string,
  args: readonly string[],
): Promise<TimedOutput> {
  const start = performance.now();
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    stdin: "null",
  }).output();
  const milliseconds = performance.now() - start;
  if (code !== 0) {
    const said = new TextDecoder().decode(stderr).trim();
    throw new Error(`${command} ended with exit code ${code}: ${said}`);
  }
  return { stdout: new TextDecoder().decode(stdout), milliseconds };
}

/** Runs one of the applications in `apps/` on a cluster of processes. */
export async function submit(
  cluster: `local-cluster[${number},${number},${number}]`,
  app: string,
  ...args: string[]
): Promise<TimedOutput> {
  const path = pathOf(`apps/${app}`);
  return await runTimed(SPARKTS, [
    "submit",
    "--master",
    cluster,
    path,
    ...args,
  ]);
}

/** Starts `sparkts` with a pipe on stdout; the caller ends it. */
export function spawnSparkts(args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command(SPARKTS, {
    args: [...args],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? sorted[middle]
    : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function atMost(
  name: string,
  value: number,
  unit: string,
  limit: number,
): Figure {
  const target = `≤ ${limit.toLocaleString("en")}`;
  return { name, value: rounded(value), unit, target, met: value <= limit };
}

export function atLeast(
  name: string,
  value: number,
  unit: string,
  limit: number,
): Figure {
  const target = `≥ ${limit.toLocaleString("en")}`;
  return { name, value: rounded(value), unit, target, met: value >= limit };
}

/** A figure that explains another one. */
export function plain(name: string, value: number, unit: string): Figure {
  return { name, value: rounded(value), unit };
}

/** Three digits say all that there is to say of a measurement. */
function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** The path of a file of the benchmarks, from where it is relative to them. */
export function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
