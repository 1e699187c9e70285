import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { setLogSink } from "../../lib/log.ts";
import type { Command } from "../../lib/messages/deploy.ts";
import type { CommandBuilders } from "../../lib/worker/command_builder.ts";
import { DEFAULT_COMMAND_BUILDERS } from "../../lib/worker/command_builders.ts";
import {
  ExecutorRunner,
  type ExecutorRunnerOptions,
} from "../../lib/worker/executor_runner.ts";
import { isRunning, textOf, until, withTempDir } from "../process/harness.ts";
import { application, launchExecutor, WORKER } from "./harness.ts";

type Told = Parameters<ExecutorRunnerOptions["tell"]>[0];

/** Runs the command's arguments with `sh -c`. */
const SHELL: CommandBuilders = {
  ...DEFAULT_COMMAND_BUILDERS,
  sparkts: {
    build: ({ command }) => ({
      command: "sh",
      args: ["-c", ...command.arguments],
      exitsWithParent: true,
    }),
  },
};

interface Run {
  readonly dir: string;
  readonly told: Told[];
  /** States that were told, with messages and codes. */
  states(): (string | number | null)[][];
  start(script: string, options?: Partial<StartOptions>): ExecutorRunner;
}

interface StartOptions extends Partial<ExecutorRunnerOptions> {
  readonly appCommand: Partial<Command>;
  readonly webUiUrl: string;
}

async function withRun(body: (run: Run) => Promise<void>): Promise<void> {
  const restore = setLogSink(() => {});
  try {
    await withTempDir(async (root) => {
      const dir = await Deno.realPath(root);
      const told: Told[] = [];
      await body({
        dir,
        told,
        states: () =>
          told.map((t) =>
            t.type === "executorChanged"
              ? [t.state, t.message, t.exitStatus]
              : [t.type]
          ),
        start(script, { appCommand, webUiUrl, ...options } = {}) {
          const { type: _, masterUrl: __, ...launch } = launchExecutor(3, {
            appDesc: application({ arguments: [script], ...appCommand }),
          });
          return new ExecutorRunner({
            launch: { type: "launchExecutor", ...launch },
            worker: {
              id: "worker-1",
              self: { name: "Worker", address: WORKER },
              webUiUrl: webUiUrl ?? "",
            },
            conf: new SparkConf(),
            prepare: () =>
              Promise.resolve({
                executorDir: dir,
                appLocalDirs: ["/local/a", "/local/b"],
              }),
            tell: (event) => told.push(event),
            builders: SHELL,
            terminateGrace: 200,
            ...options,
          });
        },
      });
    });
  } finally {
    restore();
  }
}

Deno.test("executor runner: RUNNING with the process's id, then EXITED with its code", async () => {
  await withRun(async (run) => {
    await run.start("exit 0").done;
    await run.start("exit 5").done;
    assertEquals(run.states(), [
      ["RUNNING", null, null],
      ["EXITED", "Command exited with code 0", 0],
      ["RUNNING", null, null],
      ["EXITED", "Command exited with code 5", 5],
    ]);
    const [running, exited] = run.told;
    assert(running.type === "executorChanged" && running.pid! > 0);
    assert(exited.type === "executorChanged" && exited.pid === null);
  });
});

Deno.test("executor runner: the log files hold all output, stderr after the command line", async () => {
  await withRun(async (run) => {
    await run.start("echo out; echo err >&2; pwd").done;
    assertEquals(await textOf(join(run.dir, "stdout")), `out\n${run.dir}\n`);
    assertEquals(
      await textOf(join(run.dir, "stderr")),
      'Spark Executor Command: "sh" "-c" "echo out; echo err >&2; pwd"\n' +
        "========================================\n\nerr\n",
    );
  });
});

Deno.test("executor runner: the command's environment, and what every executor gets", async () => {
  await withRun(async (run) => {
    const variables = [
      "COLOUR",
      "SPARK_EXECUTOR_DIRS",
      "SPARK_LAUNCH_WITH_SCALA",
      "SPARK_LOG_URL_STDOUT",
      "SPARK_LOG_URL_STDERR",
      "SPARKTS_EXIT_WITH_PARENT",
    ];
    const script = variables.map((name) => `echo "\${${name}-unset}"`)
      .join(";");
    const lines = async () =>
      (await textOf(join(run.dir, "stdout"))).trim().split("\n");
    const appCommand = { environment: { COLOUR: "green" } };
    await run.start(script, { appCommand }).done;
    assertEquals(await lines(), [
      "green",
      "/local/a:/local/b",
      "0",
      "unset",
      "unset",
      "1",
    ]);
    const page = "logPage/?appId=app-1&executorId=3&logType=";
    const webUiUrl = "http://public_dns:8081";
    await run.start(script, { webUiUrl }).done;
    assertEquals((await lines()).slice(3, 5), [
      `http://public_dns:8081/${page}stdout`,
      `http://public_dns:8081/${page}stderr`,
    ]);
    const conf = new SparkConf({ "spark.ui.reverseProxy": "true" });
    await run.start(script, { webUiUrl, conf }).done;
    assertEquals(
      (await lines())[3],
      `/proxy/worker-1/${page}stdout`,
    );
    conf.set("spark.ui.reverseProxyUrl", "http://proxy/spark/");
    await run.start(script, { webUiUrl, conf }).done;
    assertEquals(
      (await lines())[3],
      `http://proxy/spark/proxy/worker-1/${page}stdout`,
    );
  });
});

Deno.test("executor runner: killed, it is KILLED with the code of the signal", async () => {
  await withRun(async (run) => {
    const runner = run.start("echo up; exec sleep 60");
    await until(
      "it is up",
      async () => await textOf(join(run.dir, "stdout")) !== "",
    );
    runner.kill("requested");
    await runner.done;
    assertEquals(run.states().slice(1), [
      ["KILLED", "Runner thread for executor app-1/3 interrupted", 143],
    ]);
  });
});

Deno.test("executor runner: what it says while it is ended is in its log", async () => {
  await withRun(async (run) => {
    const runner = run.start(
      "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done",
    );
    await until(
      "it is up",
      async () => await textOf(join(run.dir, "stdout")) !== "",
    );
    runner.kill("requested");
    await runner.done;
    assertEquals(await textOf(join(run.dir, "stdout")), "up\nbye\n");
    assertEquals(run.states()[1].slice(2), [0]);
  });
});

Deno.test("executor runner: one that ignores SIGTERM is killed after the grace, and what it started too", async () => {
  await withRun(async (run) => {
    const runner = run.start(
      "trap '' TERM; sh -c 'echo $$; exec sleep 60' & wait; sleep 60",
    );
    const stdout = join(run.dir, "stdout");
    await until("it is up", async () => await textOf(stdout) !== "");
    const grandchild = Number(await textOf(stdout));
    const start = performance.now();
    runner.kill("requested");
    await runner.done;
    assert(performance.now() - start >= 200);
    assertEquals(run.states()[1].slice(2), [137]);
    assertEquals(await isRunning(grandchild), false);
  });
});

Deno.test("executor runner: what an executor that ends leaves running is killed", async () => {
  await withRun(async (run) => {
    await run.start("sleep 60 & echo $!").done;
    const left = Number(await textOf(join(run.dir, "stdout")));
    assertEquals(await isRunning(left), false);
    assertEquals(run.states()[1].slice(0, 1), ["EXITED"]);
  });
});

Deno.test("executor runner: when the worker shuts down it is FAILED", async () => {
  await withRun(async (run) => {
    const runner = run.start("exec sleep 60");
    await until("it runs", () => run.told.length === 1);
    runner.kill("shutdown");
    await runner.done;
    assertEquals(run.states()[1], ["FAILED", "Worker shutting down", 143]);
  });
});

Deno.test("executor runner: killed before its process was started, there is none", async () => {
  await withRun(async (run) => {
    const note = join(run.dir, "started");
    for (const reason of ["shutdown", "requested"] as const) {
      const runner = run.start(`touch ${note}`);
      runner.kill(reason);
      await runner.done;
    }
    assertEquals(run.states(), [
      ["FAILED", "Worker shutting down", null],
      ["KILLED", "Runner thread for executor app-1/3 interrupted", null],
    ]);
    assertEquals(await textOf(note), "");
    assertEquals(await Deno.lstat(note).catch(() => null), null);
  });
});

Deno.test("executor runner: a program that can't be started is FAILED with the reason", async () => {
  await withRun(async (run) => {
    const builders: CommandBuilders = {
      ...SHELL,
      sparkts: {
        build: () => ({
          command: "sparkts-no-such-program",
          args: [],
          exitsWithParent: false,
        }),
      },
    };
    await run.start("", { builders }).done;
    const [[state, message, code]] = run.states();
    assertEquals([run.told.length, state, code], [1, "FAILED", null]);
    assert(
      String(message).startsWith(
        'Error running executor: Cannot start "sparkts-no-such-program": ',
      ),
    );
  });
});

Deno.test("executor runner: a JVM executor without Java or Spark is FAILED with what to do", async () => {
  await withRun(async (run) => {
    const appCommand = { kind: "java" } as const;
    const gone = join(run.dir, "gone");
    for (const key of ["spark.worker.javaHome", "spark.worker.sparkHome"]) {
      const conf = new SparkConf({ [key]: gone });
      if (key !== "spark.worker.javaHome") {
        conf.set("spark.worker.javaHome", join(run.dir, "jdk"));
        await Deno.mkdir(join(run.dir, "jdk/bin"), { recursive: true });
        await Deno.writeTextFile(join(run.dir, "jdk/bin/java"), "", {
          mode: 0o755,
        });
      }
      await run.start("", { appCommand, conf }).done;
    }
    assertEquals(run.states(), [
      [
        "FAILED",
        "Error running executor: This worker has no Java to start executors of " +
        `Spark with: its Java home names ${gone}/bin/java, which cannot be ` +
        "executed here. Install Java there, or set --java-home, " +
        "spark.worker.javaHome or JAVA_HOME for the worker.",
        null,
      ],
      [
        "FAILED",
        "Error running executor: This worker has no Spark to start executors of " +
        `Spark with: there is no spark-core_*.jar in ${gone}/jars. Set ` +
        "--spark-home, spark.worker.sparkHome or SPARK_HOME for the worker to " +
        "a Spark of the driver's release.",
        null,
      ],
    ]);
  });
});

Deno.test("executor runner: directories that can't be made fail the launch", async () => {
  await withRun(async (run) => {
    await run.start("", {
      prepare: () => Promise.reject(new Error("Failed to create directory")),
    }).done;
    assertEquals(run.told, [{
      type: "executorLaunchFailed",
      appId: "app-1",
      execId: 3,
      error: "Failed to create directory",
    }]);
  });
});

Deno.test("executor runner: a rolling setting that can't be read leaves no process behind", async () => {
  await withRun(async (run) => {
    const key = "spark.executor.logs.rolling.maxRetainedFiles";
    const conf = new SparkConf({ [key]: "many" });
    await run.start("echo $$ > pid; sleep 60", { conf }).done;
    const [[state, message]] = run.states();
    assertEquals([run.told.length, state], [1, "FAILED"]);
    assert(String(message).includes(key));
    const pid = Number(await textOf(join(run.dir, "pid")));
    if (pid > 0) assertEquals(await isRunning(pid), false);
  });
});
