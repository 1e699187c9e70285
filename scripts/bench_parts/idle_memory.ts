import type { Figure } from "./figure.ts";
import { atMost, median, plain, REPEATS, spawnSparkts } from "./measure.ts";

/** How long a daemon idles before it is looked at again. */
const IDLE_MS = 5_000;
const LIMIT_MB = 70;

/** What a master and a worker hold that have nothing to do. */
export async function benchIdleMemory(): Promise<Figure[]> {
  const runs = await Promise.all(Array.from({ length: REPEATS }, measure));
  return (["master", "worker"] as const).flatMap((daemon) => {
    const started = median(runs.map((run) => run[daemon].started));
    const idle = median(runs.map((run) => run[daemon].idle));
    const worst = Math.max(started, idle);
    return [
      atMost(`Resident memory of the ${daemon}`, worst, "MB", LIMIT_MB),
      plain("  after its start", started, "MB"),
      plain(`  after ${IDLE_MS / 1_000} idle seconds`, idle, "MB"),
    ];
  });
}

interface Resident {
  readonly started: number;
  readonly idle: number;
}

async function measure(): Promise<{ master: Resident; worker: Resident }> {
  const directory = await Deno.makeTempDir({ prefix: "sparkts-bench-" });
  const daemons: Deno.ChildProcess[] = [];
  const start = async (...args: string[]) => {
    const daemon = spawnSparkts([...args, "--host", "127.0.0.1"]);
    daemons.push(daemon);
    return { pid: daemon.pid, url: await firstLine(daemon) };
  };
  try {
    const master = await start("master", "--port", "0");
    const worker = await start(
      "worker",
      "--master",
      master.url,
      "--work-dir",
      directory,
    );
    const started = [residentMb(master.pid), residentMb(worker.pid)];
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    return {
      master: { started: started[0], idle: residentMb(master.pid) },
      worker: { started: started[1], idle: residentMb(worker.pid) },
    };
  } finally {
    for (const daemon of daemons.toReversed()) {
      daemon.kill("SIGTERM");
      await daemon.status;
    }
    await Deno.remove(directory, { recursive: true });
  }
}

/** The URL that a daemon writes when it is up. */
async function firstLine(daemon: Deno.ChildProcess): Promise<string> {
  const reader = daemon.stdout.pipeThrough(new TextDecoderStream())
    .getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error("A daemon ended before it was up.");
    text += value;
  }
  await reader.cancel();
  return text.slice(0, text.indexOf("\n"));
}

/** VmRSS, in MB of a million bytes. */
function residentMb(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)![1]) * 1_024 / 1e6;
}
