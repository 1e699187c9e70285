import { assertEquals, assertThrows } from "@std/assert";
import { findJava, findSparkHome } from "../../../lib/jvm/command/homes.ts";
import { JavaSetupError } from "../../../lib/jvm/command/host.ts";
import { fakeHost } from "./fake_host.ts";

Deno.test("java home: the application's, then the worker's setting, its JAVA_HOME, its PATH", () => {
  const files = Object.fromEntries(
    ["app", "set", "env"].map((name) => [`/${name}/bin/java`, ""]),
  );
  const host = (JAVA_HOME: string) =>
    fakeHost({
      env: { JAVA_HOME, PATH: ":/nothing:/tools:/more" },
      files: { ...files, "/tools/java": "", "/more/java": "" },
    });
  const app = { JAVA_HOME: "/app" };
  const set = { javaHome: "/set" };
  assertEquals(findJava(app, set, host("/env")), "/app/bin/java");
  assertEquals(findJava({}, set, host("/env")), "/set/bin/java");
  assertEquals(findJava({ JAVA_HOME: "" }, {}, host("/env")), "/env/bin/java");
  assertEquals(findJava({}, {}, host("")), "/tools/java");
});

Deno.test("java home: none, or a wrong one, is refused with what to set", () => {
  assertThrows(
    () => findJava({}, {}, fakeHost({ env: { JAVA_HOME: "", PATH: "/x" } })),
    JavaSetupError,
    "JAVA_HOME is not set, and there is no java on PATH. Install Java there, " +
      "or set --java-home, spark.worker.javaHome or JAVA_HOME for the worker.",
  );
  assertThrows(
    () => findJava({}, { javaHome: "/gone" }, fakeHost()),
    JavaSetupError,
    "its Java home names /gone/bin/java, which cannot be executed here",
  );
  assertThrows(
    () => findJava({ JAVA_HOME: "/gone" }, {}, fakeHost()),
    JavaSetupError,
    "The application's spark.executorEnv.JAVA_HOME names /gone/bin/java",
  );
});

Deno.test("spark home: the worker's setting, then its SPARK_HOME", () => {
  const host = fakeHost({
    files: { "/set/jars/spark-core_2.12-3.5.9.jar": "" },
  });
  assertEquals(findSparkHome({ sparkHome: "/set" }, host), "/set");
  assertEquals(findSparkHome({}, host), "/spark");
});

Deno.test("spark home: none, or one without Spark's jars, is refused with what to set", () => {
  assertThrows(
    () => findSparkHome({}, fakeHost({ env: { SPARK_HOME: "" } })),
    JavaSetupError,
    "SPARK_HOME is not set. Set --spark-home, spark.worker.sparkHome or " +
      "SPARK_HOME for the worker",
  );
  const files = { "/other/jars/hadoop-client-3.jar": "" };
  assertThrows(
    () => findSparkHome({ sparkHome: "/other" }, fakeHost({ files })),
    JavaSetupError,
    "there is no spark-core_*.jar in /other/jars",
  );
});

Deno.test("homes: relative ones are the worker's folder's, as an executor has its own", () => {
  const host = fakeHost({
    env: { JAVA_HOME: "jdk", SPARK_HOME: "spark" },
    files: {
      "/at/jdk/bin/java": "",
      "/at/tools/java": "",
      "/at/spark/jars/spark-core_2.13-4.3.0.jar": "",
    },
  });
  assertEquals(findJava({}, {}, host), "/at/jdk/bin/java");
  assertEquals(findSparkHome({}, host), "/at/spark");
  const onPath = fakeHost({
    env: { JAVA_HOME: "", PATH: "tools" },
    files: { "/at/tools/java": "" },
  });
  assertEquals(findJava({}, {}, onPath), "/at/tools/java");
});
