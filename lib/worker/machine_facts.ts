import type { Bytes } from "../conf/units.ts";

/** What a worker offers by default depends on it. */
export interface MachineFacts {
  readonly cores: number;
  readonly memory: Bytes;
  readonly hostname: string;
}

/**
 * What this machine has, or what its container may use of it: the runtime's
 * count of processors heeds a container's limit, the memory needs a look.
 */
export function readMachineFacts(): MachineFacts {
  const { total } = Deno.systemMemoryInfo();
  return {
    cores: navigator.hardwareConcurrency,
    memory: Math.min(total, containerMemoryLimit() ?? total),
    hostname: Deno.hostname(),
  };
}

/** The limit of the control group, version 2 or 1. */
const LIMIT_FILES = [
  "/sys/fs/cgroup/memory.max",
  "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

function containerMemoryLimit(): Bytes | undefined {
  for (const file of LIMIT_FILES) {
    try {
      // "max" where there is no limit.
      const text = Deno.readTextFileSync(file).trim();
      return /^\d+$/.test(text) ? Number(text) : undefined;
    } catch (error) {
      if (
        error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.PermissionDenied ||
        error instanceof Deno.errors.NotCapable
      ) continue;
      throw error;
    }
  }
  return undefined;
}
