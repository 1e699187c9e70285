/** JVM executors: with a `java` that is a shell script, and with a real one. @module */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { setLogSink } from "../../lib/log.ts";
import type { Command } from "../../lib/messages/deploy.ts";
import { ExecutorRunner } from "../../lib/worker/executor_runner.ts";
import { problemsOfHomes } from "../../lib/worker/java_command_builder.ts";
import { isRunning, textOf, until, withTempDir } from "../process/harness.ts";
import { application, launchExecutor, WORKER } from "./harness.ts";

interface Worker {
  /** Holds `executor`, `spark` and, if there is a script, `jdk`. */
  readonly root: string;
  readonly conf: SparkConf;
  readonly states: (string | number | null)[][];
  start(command: Partial<Command>): ExecutorRunner;
  stdout(): Promise<string>;
}

/** A worker with a Spark that has no more than a name, and a Java if given. */
async function withWorker(
  java: string | null,
  body: (worker: Worker) => Promise<void>,
): Promise<void> {
  const restore = setLogSink(() => {});
  try {
    await withTempDir(async (dir) => {
      const root = await Deno.realPath(dir);
      await Deno.mkdir(join(root, "executor"));
      await Deno.mkdir(join(root, "spark/jars"), { recursive: true });
      await Deno.writeTextFile(
        join(root, "spark/jars/spark-core_2.13-4.3.0.jar"),
        "",
      );
      const conf = new SparkConf({
        "spark.worker.sparkHome": join(root, "spark"),
      });
      if (java !== null) {
        await Deno.mkdir(join(root, "jdk/bin"), { recursive: true });
        await Deno.writeTextFile(
          join(root, "jdk/bin/java"),
          `#!/bin/sh\n${java}\n`,
          { mode: 0o755 },
        );
        conf.set("spark.worker.javaHome", join(root, "jdk"));
      }
      const states: Worker["states"] = [];
      const runners: ExecutorRunner[] = [];
      await body({
        root,
        conf,
        states,
        stdout: () => textOf(join(root, "executor/stdout")),
        start(command) {
          const { type: _, masterUrl: __, ...launch } = launchExecutor(3, {
            appDesc: application({
              kind: "java",
              mainClass: "Main",
              arguments: [],
              ...command,
            }),
          });
          const runner = new ExecutorRunner({
            launch: { type: "launchExecutor", ...launch },
            worker: {
              id: "worker-1",
              self: { name: "Worker", address: WORKER },
              webUiUrl: "http://page:8081",
            },
            conf,
            prepare: () =>
              Promise.resolve({
                executorDir: join(root, "executor"),
                appLocalDirs: ["/local/a", "/local/b"],
              }),
            tell: (event) => {
              if (event.type !== "executorChanged") throw new Error(event.type);
              states.push([event.state, event.message, event.exitStatus]);
            },
          });
          runners.push(runner);
          return runner;
        },
      }).finally(async () => {
        // A test that failed may have left one running.
        for (const runner of runners) runner.kill("shutdown");
        await Promise.all(runners.map(({ done }) => done));
      });
    });
  } finally {
    restore();
  }
}

// ExecutorRunnerTest
Deno.test("JVM executor: its command line, with what stands for placeholders", async () => {
  await withWorker('for arg; do echo "$arg"; done', async (worker) => {
    await worker.start({
      mainClass: "org.example.Backend",
      classPathEntries: ["/app.jar"],
      javaOpts: ["-Dlog={{APP_ID}}/{{EXECUTOR_ID}}.log", "-Dtwo=a b"],
      arguments: [
        "--worker-url",
        "{{WORKER_URL}}",
        "{{EXECUTOR_ID}}",
        "{{HOSTNAME}}",
        "{{CORES}}",
        "{{RESOURCE_PROFILE_ID}}",
        "x{{CORES}}",
        "{{APP_ID}}",
      ],
    }).done;
    const { root } = worker;
    assertEquals((await worker.stdout()).trimEnd().split("\n"), [
      "-cp",
      `/app.jar:${root}/spark/conf:${root}/spark/jars/*`,
      "-Xmx1024M",
      "-Dlog=app-1/3.log",
      "-Dtwo=a b",
      "org.example.Backend",
      "--worker-url",
      "spark://Worker@worker:4000",
      "3",
      "worker",
      "2",
      "0",
      "x{{CORES}}",
      "app-1",
    ]);
  });
});

Deno.test("JVM executor: its environment, its folder, and no standard input", async () => {
  const names = [
    "COLOUR",
    "SPARK_HOME",
    "SPARK_EXECUTOR_DIRS",
    "SPARK_LAUNCH_WITH_SCALA",
    "SPARK_LOG_URL_STDERR",
    "SPARK_LOG_URL_STDOUT",
    "_SPARK_AUTH_SECRET",
    "LD_LIBRARY_PATH",
    "SPARKTS_EXIT_WITH_PARENT",
  ];
  const script = names.map((name) => `echo "$${name}"`).join("\n") +
    "\npwd; cat";
  await withWorker(script, async (worker) => {
    worker.conf.set("spark.authenticate", "true");
    worker.conf.set("spark.authenticate.secret", "hush");
    await worker.start({
      environment: { COLOUR: "green", LD_LIBRARY_PATH: "/theirs" },
      libraryPathEntries: ["/lib/a", "/lib/b"],
    }).done;
    const page = "http://page:8081/logPage/?appId=app-1&executorId=3&logType=";
    const own = Deno.env.get("LD_LIBRARY_PATH");
    assertEquals((await worker.stdout()).trimEnd().split("\n"), [
      "green",
      join(worker.root, "spark"),
      "/local/a:/local/b",
      "0",
      `${page}stderr`,
      `${page}stdout`,
      "hush",
      `/lib/a:/lib/b:/theirs${own ? `:${own}` : ""}`,
      "0",
      join(worker.root, "executor"),
    ]);
  });
});

Deno.test("JVM executor: its log begins with the command line, without secrets", async () => {
  await withWorker("echo oops >&2", async (worker) => {
    await worker.start({
      javaOpts: [
        "-Dspark.ssl.keyStorePassword=abc",
        "-Dspark.authenticate.secret=abc",
      ],
    }).done;
    const { root } = worker;
    assertEquals(
      await textOf(join(root, "executor/stderr")),
      `Spark Executor Command: "${root}/jdk/bin/java" "-cp" ` +
        `"${root}/spark/conf:${root}/spark/jars/*" "-Xmx1024M" ` +
        '"-Dspark.ssl.keyStorePassword=*********(redacted)" "Main"\n' +
        `${"=".repeat(40)}\n\noops\n`,
    );
  });
});

Deno.test("JVM executor: what it forked ends with it, also when it is killed", async () => {
  const forks = "sleep 60 & echo $!";
  await withWorker(
    `${forks}; test "$4" = stay && wait; exit 7`,
    async (worker) => {
      await worker.start({}).done;
      assertEquals(await isRunning(Number(await worker.stdout())), false);
      assertEquals(worker.states[1], [
        "EXITED",
        "Command exited with code 7",
        7,
      ]);
      const runner = worker.start({ mainClass: "stay" });
      // Once it is told to run, its log is no longer that of the first.
      await until(
        "it is up",
        async () => worker.states.length === 3 && await worker.stdout() !== "",
      );
      const forked = Number(await worker.stdout());
      assertEquals(await isRunning(forked), true);
      runner.kill("requested");
      await runner.done;
      assertEquals(await isRunning(forked), false);
      assertEquals(worker.states[3], [
        "KILLED",
        "Runner thread for executor app-1/3 interrupted",
        143,
      ]);
    },
  );
});

Deno.test("JVM executor: homes that were set and are wrong are problems, unset ones are not", async () => {
  await withWorker("", (worker) => {
    assertEquals(problemsOfHomes(new SparkConf()), []);
    assertEquals(problemsOfHomes(worker.conf), []);
    worker.conf.set("spark.worker.javaHome", "/gone");
    worker.conf.set("spark.worker.sparkHome", "/gone");
    const [java, spark, ...more] = problemsOfHomes(worker.conf);
    assert(java.includes("/gone/bin/java, which cannot be executed here"));
    assert(spark.includes("no spark-core_*.jar in /gone/jars"));
    assertEquals(more, []);
    return Promise.resolve();
  });
});

const PROGRAM = `
public class Main {
  public static void main(String[] args) throws Exception {
    if (args[0].equals("exit")) System.exit(Integer.parseInt(args[1]));
    Process child = new ProcessBuilder("sleep", "60").start();
    System.out.println(String.join(" ", args) + " " + System.getProperty("which")
        + " " + Runtime.getRuntime().maxMemory() / (1 << 20) + " " + child.pid());
    Thread.sleep(60_000);
  }
}
`;

/** Why a class can't be compiled and run here; empty when it can. */
async function withoutJava(): Promise<string> {
  for (const name of ["java", "javac"]) {
    try {
      const { success } = await new Deno.Command(name, {
        args: ["-version"],
        stdout: "null",
        stderr: "null",
      }).output();
      if (!success) return `, skipped: ${name} does not work here`;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return `, skipped: there is no ${name} on PATH`;
    }
  }
  return "";
}

const missing = await withoutJava();

Deno.test({
  name:
    `JVM executor: a real one runs a class, exits, and is killed with its child${missing}`,
  ignore: missing !== "",
  async fn() {
    await withWorker(null, async (worker) => {
      const classes = join(worker.root, "classes");
      const source = join(worker.root, "Main.java");
      await Deno.writeTextFile(source, PROGRAM);
      const compiled = await new Deno.Command("javac", {
        args: ["-d", classes, source],
      }).output();
      assertEquals(new TextDecoder().decode(compiled.stderr), "");
      const command = {
        classPathEntries: [classes],
        javaOpts: ["-Dwhich={{APP_ID}}-{{EXECUTOR_ID}}", "-XX:+UseSerialGC"],
      };
      await worker.start({ ...command, arguments: ["exit", "5"] }).done;
      assertEquals(worker.states[1], [
        "EXITED",
        "Command exited with code 5",
        5,
      ]);
      const runner = worker.start({
        ...command,
        arguments: ["on", "{{HOSTNAME}}", "{{CORES}}"],
      });
      await until("it is up", async () => /\d\n$/.test(await worker.stdout()));
      const [on, host, cores, which, megabytes, child] = (await worker.stdout())
        .trim().split(" ");
      assertEquals([on, host, cores, which], ["on", "worker", "2", "app-1-3"]);
      // A collector may keep a part of the heap from what it tells.
      assert(Number(megabytes) > 900 && Number(megabytes) <= 1024, megabytes);
      assertEquals(await isRunning(Number(child)), true);
      runner.kill("requested");
      await runner.done;
      assertEquals(worker.states[3].slice(0, 1), ["KILLED"]);
      assertEquals(worker.states[3][2], 143);
      assertEquals(await isRunning(Number(child)), false);
    });
  },
});
