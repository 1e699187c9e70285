import { assertEquals, assertThrows } from "@std/assert";
import { JavaSetupError } from "../../../lib/jvm/command/host.ts";
import { buildJavaCommand } from "../../../lib/jvm/command/java_command.ts";
import { type FakeHost, fakeHost, request } from "./fake_host.ts";

/** The class path that a command is given. */
function classPathOf(
  command: Parameters<typeof request>[0],
  host: FakeHost = {},
): string[] {
  const { args } = buildJavaCommand(request(command), fakeHost(host));
  return args[args.indexOf("-cp") + 1].split(":");
}

Deno.test("java command: class path, heap, options, main class and arguments, in this order", () => {
  const built = buildJavaCommand(
    request({
      arguments: ["--executor-id", "3"],
      classPathEntries: ["/app.jar"],
      javaOpts: ["-Da=1", "-Xlog:gc:/logs/{{APP_ID}}-{{EXECUTOR_ID}}.log"],
    }),
    fakeHost({
      files: { "/spark/conf/java-opts": "-Dx='1 2' -Dy=3\n\n-Dz\n" },
    }),
  );
  assertEquals(built.command, "/jdk/bin/java");
  assertEquals(built.args, [
    "-Dx=1 2",
    "-Dy=3",
    "-Dz",
    "-cp",
    "/app.jar:/spark/conf/:/spark/jars/slf4j-api-2.0.17.jar:/spark/jars/*",
    "-Xmx512M",
    "-Da=1",
    "-Xlog:gc:/logs/app-1-3.log",
    "org.example.Executor",
    "--executor-id",
    "3",
  ]);
});

Deno.test("java command: what the environment adds to the class path comes last", () => {
  const env = {
    HADOOP_CONF_DIR: "/hadoop",
    YARN_CONF_DIR: "/yarn",
    SPARK_DIST_CLASSPATH: "/dist/a.jar:/dist/*",
  };
  assertEquals(classPathOf({}, { env }).slice(3), [
    "/hadoop",
    "/yarn",
    "/dist/a.jar",
    "/dist/*",
  ]);
});

Deno.test("java command: a folder on the class path ends in a slash, and nothing is there twice or empty", () => {
  assertEquals(
    classPathOf({ classPathEntries: ["/spark/conf:/b.jar::/b.jar", ""] }),
    [
      "/spark/conf/",
      "/b.jar",
      "/spark/jars/slf4j-api-2.0.17.jar",
      "/spark/jars/*",
    ],
  );
});

Deno.test("java command: the application's variables come before the worker's, but an empty one is none", () => {
  const env = { SPARK_CONF_DIR: "/own", HADOOP_CONF_DIR: "/hadoop" };
  const of = (environment: Record<string, string>) => {
    const path = classPathOf({ environment }, { env });
    return [path[0], path.at(-1)];
  };
  assertEquals(of({}), ["/own", "/hadoop"]);
  assertEquals(of({ SPARK_CONF_DIR: "/app", HADOOP_CONF_DIR: "/h" }), [
    "/app",
    "/h",
  ]);
  assertEquals(of({ SPARK_CONF_DIR: "", HADOOP_CONF_DIR: "" }), [
    "/own",
    "/hadoop",
  ]);
  assertEquals(
    classPathOf({}, { env: { SPARK_CONF_DIR: "" } })[0],
    "/spark/conf/",
  );
});

Deno.test("java command: java-opts is that of the folder of configuration", () => {
  const files = {
    "/spark/conf/java-opts": "-Dof=spark",
    "/app/java-opts": "-Dof=application",
  };
  const first = (environment: Record<string, string>) =>
    buildJavaCommand(request({ environment }), fakeHost({ files })).args[0];
  assertEquals(first({}), "-Dof=spark");
  assertEquals(first({ SPARK_CONF_DIR: "/app" }), "-Dof=application");
});

Deno.test("java command: a line of java-opts that has no end is refused without showing it", () => {
  for (const line of ['-Dpassword="abc', "-Dpassword='abc", "-Dabc\\"]) {
    const files = { "/spark/conf/java-opts": line };
    const error = assertThrows(
      () => buildJavaCommand(request(), fakeHost({ files })),
      JavaSetupError,
      "has no end",
    );
    assertEquals(error.message.includes("abc"), false);
  }
});

Deno.test("java command: Spark's classes are the worker's, whatever SPARK_HOME the driver has", () => {
  const built = buildJavaCommand(
    request({ environment: { SPARK_HOME: "/driver" } }),
    fakeHost(),
  );
  assertEquals(built.args.join(" ").includes("/driver"), false);
  assertEquals(built.env.SPARK_HOME, "/driver");
  assertEquals(
    buildJavaCommand(request(), fakeHost()).env.SPARK_HOME,
    "/spark",
  );
});

// CommandUtilsSuite
Deno.test("java command: no secret stays in it; passwords for TLS travel as variables", () => {
  const names = ["keyPassword", "privateKeyPassword", "keyStorePassword"];
  const javaOpts = [
    "-Dspark.authenticate.secret=theirs",
    "-Dspark.ssl.rpc.trustStorePassword=theirs",
    ...names.map((name) => `-Dspark.ssl.rpc.${name}=theirs`),
    "-Da=1",
  ];
  const settings = new Map([
    ["spark.ssl.rpc.trustStorePassword", "ours-trust"],
    ...names.map((name) => [`spark.ssl.rpc.${name}`, `ours-${name}`] as const),
  ]);
  const build = (enabled?: string) =>
    buildJavaCommand(
      request({ javaOpts }, {
        settings: enabled === undefined
          ? settings
          : new Map([...settings, ["spark.ssl.rpc.enabled", enabled]]),
      }),
      fakeHost(),
    );
  for (const enabled of [undefined, "false"]) {
    const { args, env } = build(enabled);
    assertEquals(args.slice(2), ["-Xmx512M", "-Da=1", "org.example.Executor"]);
    assertEquals(Object.keys(env), ["SPARK_HOME"]);
  }
  const { args, env } = build("true");
  assertEquals(args.slice(2), ["-Xmx512M", "-Da=1", "org.example.Executor"]);
  assertEquals(env, {
    _SPARK_SSL_RPC_KEY_PASSWORD: "ours-keyPassword",
    _SPARK_SSL_RPC_PRIVATE_KEY_PASSWORD: "ours-privateKeyPassword",
    _SPARK_SSL_RPC_KEY_STORE_PASSWORD: "ours-keyStorePassword",
    _SPARK_SSL_RPC_TRUST_STORE_PASSWORD: "ours-trust",
    SPARK_HOME: "/spark",
  });
});

// WorkerSuite
Deno.test("java command: the worker's own settings of TLS replace the driver's only if it asks", () => {
  const settings = new Map([
    ["spark.ssl.opt1", "y"],
    ["spark.ssl.opt2", "z"],
    ["spark.other", "w"],
  ]);
  const optionsWith = (...flag: string[]) => {
    const javaOpts = ["-Dspark.ssl.opt1=x", "-Da=1", ...flag];
    const { args } = buildJavaCommand(
      request({ javaOpts }, { settings }),
      fakeHost(),
    );
    return args.slice(3, -1);
  };
  const flag = "-Dspark.ssl.useNodeLocalConf=";
  for (const given of [[], [`${flag}false`], [flag]]) {
    assertEquals(optionsWith(...given), [
      "-Dspark.ssl.opt1=x",
      "-Da=1",
      ...given,
    ]);
  }
  assertEquals(optionsWith(`${flag}true`), [
    "-Da=1",
    "-Dspark.ssl.opt1=y",
    "-Dspark.ssl.opt2=z",
    `${flag}true`,
  ]);
});
