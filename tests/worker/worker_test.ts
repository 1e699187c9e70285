import { assert, assertEquals, assertRejects } from "@std/assert";
import { dirname, join } from "node:path";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { setLogSink } from "../../lib/log.ts";
import { toSparkUrl } from "../../lib/messages/addresses.ts";
import type {
  ExecutorStateChanged,
  RegisterWorker,
  ToMaster,
  ToWorker,
  WorkerStateResponse,
} from "../../lib/messages/deploy.ts";
import { RpcEnv } from "../../lib/rpc/rpc_env.ts";
import { type CommandBuilders } from "../../lib/worker/command_builder.ts";
import { DEFAULT_COMMAND_BUILDERS } from "../../lib/worker/command_builders.ts";
import {
  startWorker,
  type Worker,
  WorkerStartError,
} from "../../lib/worker/worker.ts";
import { isRunning, textOf, until, withTempDir } from "../process/harness.ts";
import { application, launchExecutor } from "./harness.ts";

const SHELL: CommandBuilders = {
  ...DEFAULT_COMMAND_BUILDERS,
  sparkts: {
    build: ({ command }) => ({
      command: "sh",
      args: ["-c", ...command.arguments],
      exitsWithParent: false,
    }),
  },
};

/** A master that registers every worker and notes what it is told. */
class FakeMaster {
  readonly told: ToMaster[] = [];
  readonly #env: RpcEnv;
  #worker: RegisterWorker | undefined;

  constructor(env: RpcEnv) {
    this.#env = env;
    env.register("Master", {
      receive: (message) => this.#receive(message as ToMaster),
      receiveAndReply: (message, context) => {
        this.told.push(message as ToMaster);
        context.reply(true);
      },
    });
  }

  get address() {
    return this.#env.address!;
  }

  get worker(): RegisterWorker {
    if (this.#worker === undefined) throw new Error("No worker is registered.");
    return this.#worker;
  }

  /** Sends a message to the worker. */
  send(message: ToWorker): void {
    this.#env.send(this.worker.worker, message);
  }

  async state(): Promise<WorkerStateResponse> {
    return await this.#env.ask(this.worker.worker, {
      type: "RequestWorkerState",
    }) as WorkerStateResponse;
  }

  launch(execId: number, script: string): void {
    this.send(launchExecutor(execId, {
      masterUrl: toSparkUrl(this.address),
      appDesc: application({ arguments: [script] }),
    }));
  }

  reports(execId: number): ExecutorStateChanged[] {
    return this.told.filter((message): message is ExecutorStateChanged =>
      message.type === "ExecutorStateChanged" && message.execId === execId
    );
  }

  async waitFor(execId: number, state: string): Promise<ExecutorStateChanged> {
    await until(
      `executor ${execId} is ${state}`,
      () => this.reports(execId).at(-1)?.state === state,
    );
    return this.reports(execId).at(-1)!;
  }

  #receive(message: ToMaster): void {
    this.told.push(message);
    if (message.type !== "RegisterWorker") return;
    this.#worker = message;
    this.send({
      type: "RegisteredWorker",
      master: this.#env.refTo("Master"),
      masterWebUiUrl: "",
      masterAddress: message.masterAddress,
      duplicate: false,
      registration: 1,
    });
  }
}

interface Fixture {
  readonly dir: string;
  readonly master: FakeMaster;
  readonly worker: Worker;
}

async function withWorker(body: (fixture: Fixture) => Promise<void>) {
  const restore = setLogSink(() => {});
  try {
    await withTempDir(async (dir) => {
      const conf = new SparkConf({ "spark.local.dir": join(dir, "local") });
      const env = await RpcEnv.create({ host: "127.0.0.1", port: 0, conf });
      const master = new FakeMaster(env);
      const worker = await startWorker({
        masters: [master.address],
        host: "127.0.0.1",
        port: 0,
        cores: 4,
        memory: 4_096,
        workDir: join(dir, "work"),
        conf,
        builders: SHELL,
        terminateGrace: 200,
      });
      try {
        await until(
          "the worker is registered",
          () => master.told.some(({ type }) => type === "WorkerLatestState"),
        );
        await body({ dir, master, worker });
      } finally {
        await worker.shutdown();
        await env.close();
      }
      assertEquals(await worker.closed, 0);
    });
  } finally {
    restore();
  }
}

Deno.test("worker shell: it registers under an id made of time, host and port", async () => {
  await withWorker(({ master, worker }) => {
    const { id, host, port, cores, memory } = master.worker;
    assertEquals([host, cores, memory], ["127.0.0.1", 4, 4_096]);
    assertEquals(worker.url, `spark://127.0.0.1:${port}`);
    assertEquals(id, worker.id);
    assert(new RegExp(`^worker-\\d{14}-127\\.0\\.0\\.1-${port}$`).test(id), id);
    return Promise.resolve();
  });
});

Deno.test("worker shell: an executor runs, is seen, is killed, and its application's directories go", async () => {
  await withWorker(async ({ dir, master }) => {
    master.launch(0, 'echo "$SPARK_EXECUTOR_DIRS"; exec sleep 60');
    await master.waitFor(0, "RUNNING");
    const { coresUsed, executors: [executor] } = await master.state();
    assertEquals([coresUsed, executor.state], [2, "RUNNING"]);
    assert(await isRunning(executor.pid!));
    const stdout = join(dir, "work", "app-1", "0", "stdout");
    await until(
      "the directories are printed",
      async () => await textOf(stdout) !== "",
    );
    const localDir = (await textOf(stdout)).trim();
    assertEquals(dirname(dirname(localDir)), join(dir, "local"));
    assertEquals((await Deno.stat(localDir)).mode! & 0o777, 0o700);
    master.send({
      type: "KillExecutor",
      masterUrl: toSparkUrl(master.address),
      appId: "app-1",
      execId: 0,
    });
    const { exitStatus } = await master.waitFor(0, "KILLED");
    assertEquals(exitStatus, 143);
    assertEquals((await master.state()).coresUsed, 0);
    assert((await Deno.stat(localDir)).isDirectory);
    master.send({ type: "ApplicationFinished", id: "app-1" });
    await until(
      "the local directory is gone",
      async () => await Deno.lstat(localDir).then(() => false, () => true),
    );
  });
});

Deno.test("worker shell: an executor's end is told with its code", async () => {
  await withWorker(async ({ master }) => {
    master.launch(0, "exit 3");
    const { message, exitStatus } = await master.waitFor(0, "EXITED");
    assertEquals([message, exitStatus], ["Command exited with code 3", 3]);
    assertEquals(
      master.reports(0).map(({ state }) => state),
      ["RUNNING", "EXITED"],
    );
  });
});

Deno.test("worker shell: a directory that can't be made is a failed launch", async () => {
  await withWorker(async ({ dir, master }) => {
    await Deno.mkdir(join(dir, "work", "app-1", "0"), { recursive: true });
    master.launch(0, "exit 0");
    const { message } = await master.waitFor(0, "FAILED");
    assert(message!.startsWith("Failed to create directory"), message!);
    assertEquals(master.reports(0).length, 1);
    assertEquals((await master.state()).coresUsed, 0);
  });
});

Deno.test("worker shell: shutting down it leaves no process and no local directory", async () => {
  await withWorker(async ({ dir, master, worker }) => {
    master.launch(0, "trap '' TERM; while :; do sleep 1; done");
    master.launch(1, "exec sleep 60");
    await master.waitFor(0, "RUNNING");
    await master.waitFor(1, "RUNNING");
    const pids = (await master.state()).executors.map(({ pid }) => pid!);
    await worker.shutdown();
    for (const pid of pids) assertEquals(await isRunning(pid), false);
    for (const execId of [0, 1]) {
      const { state, message } = master.reports(execId).at(-1)!;
      assertEquals([state, message], ["FAILED", "Worker shutting down"]);
    }
    const left = [];
    for await (const { name } of Deno.readDir(join(dir, "local"))) {
      left.push(name);
    }
    assertEquals(left, []);
  });
});

Deno.test("worker shell: shut down in the midst of a launch it leaves no process", async () => {
  await withWorker(async ({ dir, master, worker }) => {
    master.launch(0, `echo $$ > ${dir}/pid; exec sleep 60`);
    // Its answer comes after the launch was taken, as both go one way.
    await master.state();
    await worker.shutdown();
    const pid = Number(await textOf(`${dir}/pid`));
    if (pid > 0) assertEquals(await isRunning(pid), false);
    assertEquals(master.reports(0).at(-1)?.state, "FAILED");
  });
});

Deno.test("worker shell: a work directory that can't be made is no worker", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(join(dir, "file"), "");
    await assertRejects(
      () =>
        startWorker({
          masters: [{ host: "127.0.0.1", port: 1 }],
          host: "127.0.0.1",
          port: 0,
          cores: 1,
          memory: 1_024,
          workDir: join(dir, "file", "work"),
          conf: new SparkConf(),
        }),
      WorkerStartError,
      "Failed to create work directory",
    );
  });
});
