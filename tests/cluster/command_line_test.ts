import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { join } from "node:path";
import { appPath, Cluster, lines, Sandbox } from "./harness.ts";

interface Refusal {
  readonly what: string;
  readonly args: (sandbox: Sandbox) => string[] | Promise<string[]>;
  readonly code: number;
  readonly says: RegExp;
}

const LOCAL = ["submit", "--master", "local[1]"];

const REFUSALS: readonly Refusal[] = [
  {
    what: "a bad flag of submit",
    args: () => ["submit", "--wrong", appPath("echo.ts")],
    code: 2,
    says: /^sparkts: Unrecognized option: --wrong$/,
  },
  {
    what: "a bad flag of master",
    args: () => ["master", "--wrong"],
    code: 2,
    says: /^sparkts: Unrecognized option: --wrong$/,
  },
  {
    what: "a worker without a master",
    args: () => ["worker"],
    code: 2,
    says: /^sparkts: The worker needs a master/,
  },
  {
    what: "a worker whose master's URL is bad",
    args: () => ["worker", "--master", "http://here:1"],
    code: 2,
    says: /^sparkts: .*http:\/\/here:1/,
  },
  {
    what: "an unknown command",
    args: () => ["sumbit"],
    code: 2,
    says: /^sparkts: there is no command "sumbit"$/,
  },
  {
    what: "a bad master URL",
    args: () => ["submit", "--master", "spark:/nowhere", appPath("echo.ts")],
    code: 2,
    says: /^sparkts: .*spark:\/nowhere/,
  },
  {
    what: "a bad --executor-memory",
    args: () => [...LOCAL, "--executor-memory", "lots", appPath("echo.ts")],
    code: 2,
    says: /^sparkts: .*spark\.executor\.memory.*lots/,
  },
  {
    what: "no application",
    args: () => LOCAL,
    code: 2,
    says: /^sparkts: No application is given$/,
  },
  {
    what: "a missing application file",
    args: () => [...LOCAL, "nowhere.ts"],
    code: 1,
    says: /^sparkts: Application file does not exist: nowhere\.ts$/,
  },
  {
    what: "an application without a default export",
    args: async (sandbox) => [
      ...LOCAL,
      await sandbox.write("none.ts", "export const main = 1;\n"),
    ],
    code: 1,
    says: /^sparkts: The application .*none\.ts has no main function/,
  },
  {
    what: "an application with a syntax error",
    args: async (sandbox) => [
      ...LOCAL,
      await sandbox.write("wrong.ts", "export default function {\n"),
    ],
    code: 1,
    says: /^sparkts: Cannot load the application .*wrong\.ts: ./,
  },
  {
    what: "a missing input path",
    args: () => [...LOCAL, appPath("lines.ts"), "nowhere.txt"],
    code: 1,
    says: /^sparkts: .*nowhere\.txt/,
  },
  {
    what: "a missing properties file",
    args: () => [...LOCAL, "--properties-file", "nope", appPath("echo.ts")],
    code: 1,
    says: /^sparkts: Cannot read the properties file nope: ./,
  },
];

for (const { what, args, code, says } of REFUSALS) {
  Deno.test(`cluster: ${what} gives one clear line and ${code}`, async () => {
    await using sandbox = await Sandbox.make();
    const run = await sandbox.run(await args(sandbox));
    assertEquals([run.code, run.stdout], [code, ""], run.stderr);
    const [first, ...rest] = lines(run.stderr);
    assertMatch(first, says);
    if (code === 2) {
      assertEquals(rest.length, 1, run.stderr);
      assertMatch(rest[0], /^Usage: sparkts /);
    } else {
      assertEquals(rest, []);
    }
  });
}

Deno.test("cluster: the word count of the README runs on a local cluster and leaves nothing", async () => {
  await using sandbox = await Sandbox.make();
  const input = await sandbox.write("in.txt", "b a\r\nc b  a\n\tb");
  const { code, stdout, stderr } = await sandbox.run([
    ...["submit", "--master", "local-cluster[2,1,512]"],
    appPath("../../../scripts/examples/word_count.ts"),
    input,
  ]);
  assertEquals([code, stdout], [0, "b\t3\na\t2\nc\t1\n"], stderr);
  assertEquals(stderr, "");
  const left = [...Deno.readDirSync(sandbox.dir)].map(({ name }) => name);
  assertEquals(
    left.filter((name) => !["in.txt", "marks", "local"].includes(name)),
    [],
  );
  assertEquals([...Deno.readDirSync(join(sandbox.dir, "local"))], []);
});

for (const master of ["local[2]", "local[*]"]) {
  Deno.test(`cluster: --master ${master} runs an application in one process`, async () => {
    await using sandbox = await Sandbox.make();
    const { code, stdout, stderr } = await sandbox.run([
      ...["submit", "--master", master],
      ...[appPath("echo.ts"), "a", "--name", "b c"],
    ]);
    assertEquals(code, 0, stderr);
    const { args, name, executors } = JSON.parse(stdout);
    // What follows the application is the application's.
    assertEquals(args, ["a", "--name", "b c"]);
    assertEquals(name, "echo.ts");
    assertEquals(executors, 1);
    assertEquals([...Deno.readDirSync(join(sandbox.dir, "local"))], []);
  });
}

Deno.test("cluster: flags go before --conf, --conf before the properties file, and all are seen by the master", async () => {
  await using cluster = await Cluster.start({ workers: 2, cores: 2 });
  const file = await cluster.write(
    "some.properties",
    [
      "spark.app.name from-file",
      "spark.executor.cores 2",
      "spark.cores.max=4",
      "spark.executor.memory 100m",
    ].join("\n"),
  );
  const run = async (...flags: string[]) => {
    const { code, stdout, stderr } = await cluster.start([
      ...["submit", "--master", cluster.url, "--properties-file", file],
      ...["--conf", "spark.driver.host=127.0.0.1", ...flags],
      appPath("echo.ts"),
    ]).finished();
    assertEquals(code, 0, stderr);
    const { id } = JSON.parse(stdout);
    const { activeApps, completedApps } = await cluster.state();
    const app = [...activeApps, ...completedApps].find((it) => it.id === id)!;
    const executors = [...app.executors, ...app.removedExecutors];
    return {
      name: app.name,
      memory: app.memoryPerExecutor,
      cores: executors.map(({ cores }) => cores),
    };
  };
  assertEquals(await run(), {
    name: "from-file",
    memory: 100,
    cores: [2, 2],
  });
  assertEquals(
    await run(
      ...["--conf", "spark.app.name=from-conf"],
      ...["--conf", "spark.executor.memory=120m", "--executor-cores", "1"],
      ...["--total-executor-cores", "3"],
    ),
    { name: "from-conf", memory: 120, cores: [1, 1, 1] },
  );
  assertEquals(
    await run(
      ...["--conf", "spark.app.name=from-conf", "--name", "from-flag"],
      ...["--conf", "spark.executor.memory=120m", "--executor-memory", "130m"],
      ...["--total-executor-cores", "2"],
    ),
    { name: "from-flag", memory: 130, cores: [2] },
  );
});

Deno.test("cluster: without --verbose a run is quiet, with it the log says what happens", async () => {
  await using cluster = await Cluster.start({ workers: 1 });
  const quiet = await cluster.submit([], "echo.ts").finished();
  assertEquals([quiet.code, quiet.stderr], [0, ""]);
  const verbose = await cluster.submit(["--verbose"], "echo.ts").finished();
  assertEquals(verbose.code, 0, verbose.stderr);
  assertEquals(lines(verbose.stdout).length, 1);
  assertStringIncludes(
    verbose.stderr,
    "Connected to Spark cluster with app ID",
  );
});

Deno.test("cluster: an executor's stderr begins with Spark's header, and daemons write only their URL to stdout", async () => {
  await using cluster = await Cluster.start({ workers: 1 });
  const { code, stdout, stderr } = await cluster.submit([], "echo.ts")
    .finished();
  assertEquals(code, 0, stderr);
  const { id } = JSON.parse(stdout);
  await cluster.idle();
  const text = await Deno.readTextFile(
    join(cluster.dir, "work-0", id, "0", "stderr"),
  );
  const [command, rule, blank] = text.split("\n");
  assertMatch(command, /^Spark Executor Command: "[^"]+" "/);
  assertStringIncludes(command, `"--app-id" "${id}"`);
  assertEquals([rule, blank], ["=".repeat(40), ""]);
  assertEquals(cluster.master.stdout, `${cluster.url}\n`);
  const { process, address } = cluster.workers[0];
  assertEquals(process.stdout, `spark://127.0.0.1:${address.port}\n`);
  assert(process.stderr.includes("Successfully registered with master"));
});
