/** What some processes hold in memory, in MB of a million bytes. */
export interface Resident {
  /** All of it (VmRSS), what they share counted for each. */
  readonly total: number;
  /** Pages of executables and libraries: the system can drop them. */
  readonly executable: number;
  readonly anonymous: number;
}

export function residentOf(pids: readonly number[]): Resident {
  const sum = (field: string) =>
    pids.reduce((sum, pid) => sum + megabytes(pid, field), 0);
  return {
    total: sum("VmRSS"),
    executable: sum("RssFile"),
    anonymous: sum("RssAnon"),
  };
}

function megabytes(pid: number, field: string): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const line = new RegExp(`^${field}:\\s*(\\d+) kB$`, "m").exec(status);
  return Number(line![1]) * 1_024 / 1e6;
}
