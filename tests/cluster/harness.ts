/**
 * Clusters of real processes for tests: what is started ends with the test,
 * and what it wrote goes with it.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import type { Milliseconds } from "../../lib/conf/units.ts";
import {
  parseSparkUrl,
  type RpcAddress,
} from "../../lib/messages/addresses.ts";
import {
  type ApplicationInfo,
  MASTER_ENDPOINT,
  type MasterStateResponse,
  WORKER_ENDPOINT,
  type WorkerStateResponse,
} from "../../lib/messages/deploy.ts";
import { type ExitStatus, spawnProcess } from "../../lib/process/spawn.ts";
import { RpcEnv } from "../../lib/rpc/mod.ts";
import { isRunning, until } from "../process/harness.ts";

export { isRunning, until };

const HOST = "127.0.0.1";
/** No run of a test takes as long; one that does hangs. */
const RUN_TIMEOUT: Milliseconds = 30_000;
/** What the issue gives the cluster to clean up after a death. */
export const CLEANUP_TIME: Milliseconds = 5_000;

export interface StartOptions {
  /** Variables beside this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Gives it a terminal, whose output is then its stdout. Default: false. */
  readonly terminal?: boolean;
}

/** How a run ended and what it wrote. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line of `sparkts` from this checkout. */
function sparktsCommand(args: readonly string[]): string[] {
  const flags = (Deno.env.get("SPARKTS_RUN_FLAGS") ?? "").split("\n")
    .filter(Boolean);
  const main = fileURLToPath(new URL("../../main.ts", import.meta.url));
  return [Deno.execPath(), "run", "-A", "--quiet", ...flags, main, ...args];
}

/** A process of a test, with what it has written so far. */
export class TestProcess {
  readonly #process: ReturnType<typeof spawnProcess>;
  readonly #copied: Promise<unknown>;
  stdout = "";
  stderr = "";

  constructor(
    command: readonly string[],
    dir: string,
    options: StartOptions,
  ) {
    const [program, ...rest] = options.terminal
      ? ["script", "-qec", command.map(quoted).join(" "), "/dev/null"]
      : command;
    this.#process = spawnProcess({
      command: program,
      args: rest,
      cwd: dir,
      env: {
        SPARK_LOCAL_HOSTNAME: HOST,
        SPARK_LOCAL_DIRS: join(dir, "local"),
        TMPDIR: dir,
        ...options.env,
      },
      stdout: "piped",
      stderr: "piped",
    });
    this.#copied = Promise.all([
      copy(this.#process.stdout!, (text) => this.stdout += text),
      copy(this.#process.stderr!, (text) => this.stderr += text),
    ]);
  }

  get pid(): number {
    return this.#process.pid;
  }

  get status(): Promise<ExitStatus> {
    return this.#process.status;
  }

  /** Signals this process alone, not what it started. */
  signal(signal: Deno.Signal): void {
    Deno.kill(this.pid, signal);
  }

  /** Waits until something is written, and fails with what was instead. */
  async says(text: string, timeout?: Milliseconds): Promise<void> {
    const said = () => this.stdout.includes(text) || this.stderr.includes(text);
    try {
      await until(`"${text}" is said`, said, timeout);
    } catch (cause) {
      throw new Error(`Not said: "${text}", but:\n${this.#output}`, { cause });
    }
  }

  /** Waits for the end; what takes too long fails. */
  async finished(timeout: Milliseconds = RUN_TIMEOUT): Promise<Finished> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`It does not end:\n${this.#output}`)),
      timeout,
    );
    try {
      const { code } = await Promise.race([this.status, late.promise]);
      await Promise.race([this.#copied, late.promise]);
      return { code, stdout: this.stdout, stderr: this.stderr };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends it and its group. */
  async end(): Promise<void> {
    await this.#process.terminate({ grace: 5_000 });
    await this.#copied;
  }

  get #output(): string {
    return `${this.stdout}\n--- stderr ---\n${this.stderr}`;
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

async function copy(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  take: (text: string) => void,
): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    take(text);
  }
}

/** A directory for one test, and the processes that run in it. */
export class Sandbox implements AsyncDisposable {
  readonly #processes: TestProcess[] = [];
  /** Of this test alone; removed at its end. */
  readonly dir: string;
  /** For the fixtures' marks. */
  readonly marks: string;

  protected constructor(dir: string) {
    this.dir = dir;
    this.marks = join(dir, "marks");
  }

  static async make(): Promise<Sandbox> {
    return await new Sandbox(await makeDir()).ready();
  }

  protected async ready(): Promise<this> {
    await Deno.mkdir(this.marks);
    return this;
  }

  /** Starts `sparkts`. */
  start(args: readonly string[], options: StartOptions = {}): TestProcess {
    return this.startProgram(sparktsCommand(args), options);
  }

  startProgram(
    command: readonly string[],
    options: StartOptions = {},
  ): TestProcess {
    const started = new TestProcess(command, this.dir, options);
    this.#processes.push(started);
    return started;
  }

  run(args: readonly string[], options?: StartOptions): Promise<Finished> {
    return this.start(args, options).finished();
  }

  async write(name: string, text: string): Promise<string> {
    const path = join(this.dir, name);
    await Deno.writeTextFile(path, text);
    return path;
  }

  /** Names of the marks that a fixture left, such as `started-0-PID`. */
  markNames(prefix: string): string[] {
    return [...Deno.readDirSync(this.marks)].map(({ name }) => name)
      .filter((name) => name.startsWith(prefix)).sort();
  }

  /** Waits for a number of marks. */
  async marked(prefix: string, count: number): Promise<string[]> {
    await until(
      `there are ${count} marks ${prefix}`,
      () => this.markNames(prefix).length >= count,
      20_000,
    );
    return this.markNames(prefix);
  }

  /** Lets the tasks of the fixture `gate.ts` go on. */
  async open(): Promise<void> {
    await Deno.writeTextFile(join(this.marks, "go"), "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The newest first: drivers before workers, workers before masters.
    for (const started of this.#processes.reverse()) await started.end();
    await Deno.remove(this.dir, { recursive: true });
  }
}

export interface ClusterOptions {
  readonly workers?: number;
  readonly cores?: number;
  readonly memory?: string;
  /** More flags of each worker. */
  readonly workerFlags?: readonly string[];
}

/** A master and workers, as `sparkts master` and `sparkts worker` run them. */
export class Cluster extends Sandbox {
  readonly #rpc: RpcEnv;
  #master: TestProcess | undefined;
  #url = "";
  readonly workers: { process: TestProcess; address: RpcAddress }[] = [];

  private constructor(dir: string, rpc: RpcEnv) {
    super(dir);
    this.#rpc = rpc;
  }

  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const { workers = 2, cores = 1, memory = "512m", workerFlags = [] } =
      options;
    const rpc = await RpcEnv.create({
      host: HOST,
      port: null,
      conf: new SparkConf(),
    });
    const cluster = new Cluster(await makeDir(), rpc);
    try {
      await cluster.ready();
      await cluster.#startMaster();
      await Promise.all(
        Array.from(
          { length: workers },
          (_, i) =>
            cluster.#startWorker(i, [
              ...["--cores", String(cores), "--memory", memory],
              ...workerFlags,
            ]),
        ),
      );
      await until(
        "all workers are registered",
        async () => (await cluster.state()).workers.length === workers,
      );
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  get master(): TestProcess {
    return this.#master!;
  }

  get url(): string {
    return this.#url;
  }

  state(): Promise<MasterStateResponse> {
    return this.#rpc.ask(
      { address: parseSparkUrl(this.#url), name: MASTER_ENDPOINT },
      { type: "RequestMasterState" },
    );
  }

  workerState(index: number): Promise<WorkerStateResponse> {
    const { address } = this.workers[index];
    return this.#rpc.ask(
      { address, name: WORKER_ENDPOINT },
      { type: "RequestWorkerState" },
    );
  }

  /** The one application that the master has or had. */
  async app(): Promise<ApplicationInfo> {
    const { activeApps, completedApps } = await this.state();
    return [...activeApps, ...completedApps][0];
  }

  /** Process ids of the executors that run on a worker. */
  async executorPids(index: number): Promise<number[]> {
    const { executors } = await this.workerState(index);
    return executors.map(({ pid }) => pid).filter((pid) => pid !== null);
  }

  /** Waits until no core and no memory of any worker is in use. */
  async idle(timeout?: Milliseconds): Promise<void> {
    await until("nothing is in use at the master", async () => {
      const { workers } = await this.state();
      return workers.every((each) =>
        each.coresUsed === 0 && each.memoryUsed === 0
      );
    }, timeout);
  }

  /** Starts an application of `apps/` on this cluster. */
  submit(
    flags: readonly string[],
    app: string,
    ...args: string[]
  ): TestProcess {
    return this.start([
      "submit",
      "--master",
      this.#url,
      "--conf",
      "spark.executor.memory=256m",
      "--conf",
      `spark.driver.host=${HOST}`,
      ...flags,
      appPath(app),
      ...args,
    ]);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#rpc.close();
    await super[Symbol.asyncDispose]();
  }

  async #startMaster(): Promise<void> {
    this.#master = this.start(["master", "--host", HOST, "--port", "0"]);
    this.#url = await firstLine(this.#master);
  }

  async #startWorker(
    index: number,
    flags: readonly string[],
  ): Promise<void> {
    const process = this.start(
      ["worker", "--master", this.#url, "--host", HOST, "--port", "0"].concat(
        ["--work-dir", join(this.dir, `work-${index}`)],
        flags,
      ),
    );
    const address = parseSparkUrl(await firstLine(process));
    this.workers.push({ process, address });
  }
}

/** The path of a fixture. */
export function appPath(name: string): string {
  return fileURLToPath(new URL(`./apps/${name}`, import.meta.url));
}

/** Waits until none of some processes runs. */
export async function allGone(
  pids: readonly number[],
  timeout: Milliseconds = CLEANUP_TIME,
): Promise<void> {
  await until(`the processes ${pids.join(", ")} are gone`, async () => {
    const running = await Promise.all(pids.map(isRunning));
    return !running.includes(true);
  }, timeout);
}

/** All that a process started and all that these started, as they run now. */
export async function descendantsOf(pid: number): Promise<number[]> {
  const ps = await new Deno.Command("ps", { args: ["-eo", "pid=,ppid="] })
    .output();
  const rows = new TextDecoder().decode(ps.stdout).trim().split("\n")
    .map((row) => row.trim().split(/\s+/).map(Number));
  const found: number[] = [];
  collect(pid);
  return found;

  function collect(parent: number): void {
    for (const [child, its] of rows) {
      if (its !== parent) continue;
      found.push(child);
      collect(child);
    }
  }
}

/** The lines of a text that are not empty. */
export function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** The process id in a mark such as `started-0-PID`. */
export function pidOf(mark: string): number {
  return Number(mark.slice(mark.lastIndexOf("-") + 1));
}

async function firstLine(process: TestProcess): Promise<string> {
  await until("its URL is written", () => process.stdout.includes("\n"));
  return process.stdout.slice(0, process.stdout.indexOf("\n"));
}

async function makeDir(): Promise<string> {
  return await Deno.realPath(
    await Deno.makeTempDir({ prefix: "sparkts-test-" }),
  );
}
