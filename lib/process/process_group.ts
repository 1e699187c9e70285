/**
 * Signals to a whole process group, and whether anything of it still runs.
 *
 * @module
 */
import process from "node:process";

/**
 * Sends a signal to every process of a group.
 *
 * @returns Whether the group has members. On Linux these may be zombies that
 * nobody has waited for yet; see {@linkcode isGroupAlive}.
 */
export function signalGroup(groupId: number, signal: Deno.Signal): boolean {
  try {
    Deno.kill(-groupId, signal);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    // There are members, and none that may be signalled, as after setuid.
    if (error instanceof Deno.errors.PermissionDenied) return true;
    throw error;
  }
}

/** Whether a group has a member that still runs; zombies don't count. */
export async function isGroupAlive(groupId: number): Promise<boolean> {
  if (!hasMembers(groupId)) return false;
  // Elsewhere than on Linux, init is quick to collect orphaned zombies. In a
  // container the first process often collects none, so there we look closer.
  if (Deno.build.os !== "linux") return true;
  return await hasRunningMember(groupId) ?? true;
}

function hasMembers(groupId: number): boolean {
  try {
    process.kill(-groupId, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error &&
      error.code === "ESRCH");
  }
}

/** Looks through /proc; `undefined` when it can't be read. */
async function hasRunningMember(groupId: number): Promise<boolean | undefined> {
  try {
    for await (const { name } of Deno.readDir("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const member = await readMember(name);
      if (member?.groupId === groupId && !"ZX".includes(member.state)) {
        return true;
      }
    }
    return false;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

async function readMember(
  pid: string,
): Promise<{ state: string; groupId: number } | undefined> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    // The name in parentheses may itself hold blanks and parentheses.
    const [state, , groupId] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state, groupId: Number(groupId) };
  } catch (error) {
    if (isUnreadable(error)) return undefined; // it ended meanwhile
    throw error;
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.PermissionDenied ||
    error instanceof Deno.errors.NotCapable ||
    // ESRCH, when the process ends between open and read.
    (error instanceof Error && "code" in error && error.code === "ESRCH");
}
