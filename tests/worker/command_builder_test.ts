import { assertEquals } from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { setSelfModule } from "../../lib/process/self.ts";
import {
  commandEnvironment,
  type CommandRequest,
  formatCommand,
  sparktsCommandBuilder,
} from "../../lib/worker/command_builder.ts";
import { COMMAND } from "./harness.ts";

const NOTHING = () => undefined;
const LIBRARY_PATH = Deno.build.os === "darwin"
  ? "DYLD_LIBRARY_PATH"
  : "LD_LIBRARY_PATH";

function request(args: string[]): CommandRequest {
  return {
    command: { ...COMMAND, arguments: args },
    variables: {
      WORKER_URL: "spark://Worker@worker:4000",
      EXECUTOR_ID: "3",
      HOSTNAME: "worker",
      CORES: "2",
      APP_ID: "12345-worker321-9876",
      RESOURCE_PROFILE_ID: "0",
      USER: "ada",
    },
    memory: 1_024,
    directory: "/var/lib/app/3",
    conf: new SparkConf(),
  };
}

// ExecutorRunnerTest
Deno.test("command: placeholders that are a whole argument are replaced", () => {
  setSelfModule("file:///main.ts");
  try {
    const built = sparktsCommandBuilder.build(request([
      "--worker-url",
      "{{WORKER_URL}}",
      "{{EXECUTOR_ID}}",
      "{{HOSTNAME}}",
      "{{CORES}}",
      "{{RESOURCE_PROFILE_ID}}",
      "{{USER}}",
      "x{{CORES}}",
      "{{OTHER}}",
      "{{toString}}",
      "{{APP_ID}}",
    ]));
    const args = "args" in built ? built.args : [];
    assertEquals(args.slice(args.indexOf("executor")), [
      "executor",
      "--worker-url",
      "spark://Worker@worker:4000",
      "3",
      "worker",
      "2",
      "0",
      "ada",
      "x{{CORES}}",
      "{{OTHER}}",
      "{{toString}}",
      "12345-worker321-9876",
    ]);
  } finally {
    setSelfModule(undefined);
  }
});

Deno.test("command: its library path comes before the command's own and the worker's", () => {
  const command = {
    ...COMMAND,
    libraryPathEntries: ["libraryPathToB", "/c"],
    environment: { [LIBRARY_PATH]: "/from-command", COLOUR: "green" },
  };
  const own = (name: string) =>
    name === LIBRARY_PATH ? "/from-worker" : undefined;
  assertEquals(commandEnvironment(command, new SparkConf(), own), {
    [LIBRARY_PATH]: "libraryPathToB:/c:/from-command:/from-worker",
    COLOUR: "green",
  });
  assertEquals(commandEnvironment(COMMAND, new SparkConf(), own), {});
});

// CommandUtilsSuite
Deno.test("command: the secret is handed over only when authentication is on", () => {
  const secret = { "spark.authenticate.secret": "This is the secret sauce" };
  for (
    const [settings, expected] of [
      [secret, undefined],
      [{ ...secret, "spark.authenticate": "false" }, undefined],
      [
        { ...secret, "spark.authenticate": "true" },
        "This is the secret sauce",
      ],
    ] as const
  ) {
    const environment = { _SPARK_AUTH_SECRET: "of the application" };
    const env = commandEnvironment(
      { ...COMMAND, environment },
      new SparkConf(settings),
      NOTHING,
    );
    assertEquals(env._SPARK_AUTH_SECRET, expected);
  }
});

Deno.test("command: shown, it is quoted, and secrets are not to be read", () => {
  const line = formatCommand({
    command: "/bin/sparkts",
    args: [
      "executor",
      "-Dspark.authenticate.secret=sauce",
      "spark.ssl.keyPassword=p=q",
      "--cores=2",
    ],
  }, new SparkConf());
  assertEquals(
    line,
    '"/bin/sparkts" "executor" ' +
      '"-Dspark.authenticate.secret=*********(redacted)" ' +
      '"spark.ssl.keyPassword=*********(redacted)" "--cores=2"',
  );
  const conf = new SparkConf({ "spark.redaction.regex": "cores" });
  assertEquals(
    formatCommand({ command: "x", args: ["--cores=2", "-Dsecret=s"] }, conf),
    '"x" "--cores=*********(redacted)" "-Dsecret=s"',
  );
});
