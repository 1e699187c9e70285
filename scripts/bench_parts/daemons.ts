/**
 * A master and a worker, ours or Spark's own, for one benchmark.
 *
 * @module
 */
import { join } from "node:path";
import { pathOf } from "./measure.ts";

const HOST = "127.0.0.1";
const UP_LIMIT_MS = 60_000;
/** Log lines with milliseconds, on stderr. */
const LOG4J = `rootLogger.level = info
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1}: %m%n
`;

/** Whose master and worker it is. */
export type Maker = "sparkts" | "Spark";

/** A folder for one cluster's files, and the environment for its processes. */
export interface Place {
  readonly directory: string;
  readonly sparkHome: string;
  readonly env: Record<string, string>;
}

export async function makePlace(sparkHome: string): Promise<Place> {
  const directory = await Deno.makeTempDir({ prefix: "sparkts-bench-" });
  const conf = join(directory, "conf");
  await Deno.mkdir(conf);
  await Deno.writeTextFile(join(conf, "log4j2.properties"), LOG4J);
  return {
    directory,
    sparkHome,
    env: {
      SPARK_HOME: sparkHome,
      SPARK_CONF_DIR: conf,
      SPARK_LOCAL_IP: HOST,
      SPARK_LOCAL_DIRS: join(directory, "local"),
      PYSPARK_PYTHON: "python3",
    },
  };
}

/** A process whose stderr is read, and kept only to be searched. */
class Daemon {
  readonly #process: Deno.ChildProcess;
  readonly #read: Promise<unknown>;
  #output = "";

  constructor(command: string, args: string[], env: Record<string, string>) {
    this.#process = new Deno.Command(command, {
      args,
      env,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#read = Promise.all([
      this.#keep(this.#process.stdout),
      this.#keep(this.#process.stderr),
    ]);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** @throws {Error} with what it said instead, when it doesn't say it. */
  async says(pattern: RegExp): Promise<string> {
    const end = performance.now() + UP_LIMIT_MS;
    while (performance.now() < end) {
      const found = pattern.exec(this.#output);
      if (found !== null) return found[0];
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    throw new Error(`A daemon didn't say ${pattern}, but: ${this.#output}`);
  }

  async end(): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.status;
    await this.#read;
  }

  async #keep(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.#output += text;
    }
  }
}

/** A master and a worker of two cores that run. */
export class Daemons implements AsyncDisposable {
  readonly #daemons: readonly Daemon[];

  private constructor(
    readonly url: string,
    /** From the start of the master to the worker's registration. */
    readonly startMs: number,
    daemons: readonly Daemon[],
  ) {
    this.#daemons = daemons;
  }

  static async start(maker: Maker, place: Place): Promise<Daemons> {
    const daemons: Daemon[] = [];
    const run = (args: string[]) => {
      const { sparkHome, env } = place;
      const daemon = maker === "sparkts"
        ? new Daemon(pathOf("../sparkts"), args, env)
        : new Daemon(join(sparkHome, "bin", "spark-class"), args, env);
      daemons.push(daemon);
      return daemon;
    };
    const offer = ["--host", HOST, "--cores", "2", "--memory", "2g"];
    const work = ["--work-dir", join(place.directory, `work-${maker}`)];
    try {
      const begun = performance.now();
      let url: string;
      if (maker === "sparkts") {
        const master = run(["master", "--host", HOST, "--port", "0"]);
        url = await master.says(/spark:\/\/\S+:\d+(?=\n)/);
        await run(["worker", ...offer, ...work, url]).says(REGISTERED);
      } else {
        const port = String(freePort());
        const ui = ["--webui-port", "0"];
        const deploy = "org.apache.spark.deploy";
        await run([
          ...[`${deploy}.master.Master`, "--host", HOST, "--port", port],
          ...ui,
        ]).says(/New state: ALIVE/);
        url = `spark://${HOST}:${port}`;
        await run([
          ...[`${deploy}.worker.Worker`, ...offer, ...work, ...ui],
          url,
        ]).says(REGISTERED);
      }
      return new Daemons(url, performance.now() - begun, daemons);
    } catch (error) {
      for (const daemon of daemons.toReversed()) await daemon.end();
      throw error;
    }
  }

  get pids(): number[] {
    return this.#daemons.map(({ pid }) => pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const daemon of this.#daemons.toReversed()) await daemon.end();
  }
}

const REGISTERED = /Successfully registered with master/;

function freePort(): number {
  using listener = Deno.listen({ hostname: HOST, port: 0 });
  return listener.addr.port;
}
