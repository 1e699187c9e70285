/** What several tests of processes and files need. @module */
import { join } from "node:path";

/** Runs `body` with a directory that is gone afterwards. */
export async function withTempDir(
  body: (dir: string) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "sparkts-test-" });
  try {
    await body(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Waits until a condition holds, and fails with its name after a time. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeout = 10_000,
): Promise<void> {
  const deadline = performance.now() + timeout;
  while (!await condition()) {
    if (performance.now() > deadline) {
      throw new Error(`Waited in vain until ${what}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Whether a process runs; a zombie doesn't. */
export async function isRunning(pid: number): Promise<boolean> {
  const ps = await new Deno.Command("ps", {
    args: ["-o", "stat=", "-p", String(pid)],
  }).output();
  const stat = new TextDecoder().decode(ps.stdout).trim();
  return stat !== "" && !stat.startsWith("Z");
}

/** The text of a file; empty while there is none. */
export async function textOf(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** Writes a script that may import this project; Deno's arguments to run it. */
export async function writeScript(
  dir: string,
  name: string,
  body: string,
): Promise<string[]> {
  const path = join(dir, name);
  await Deno.writeTextFile(path, body);
  const flags = (Deno.env.get("SPARKTS_RUN_FLAGS") ?? "").split("\n")
    .filter(Boolean);
  return ["run", "-A", "--quiet", ...flags, path];
}

/** Whether a program is there; for tests that are skipped where it isn't. */
export function canRun(program: string, flag = "--version"): boolean {
  try {
    return new Deno.Command(program, {
      args: [flag],
      stdout: "null",
      stderr: "null",
    }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
