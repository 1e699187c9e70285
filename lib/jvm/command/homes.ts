import { delimiter, join } from "node:path";
import { type JavaHost, JavaSetupError } from "./host.ts";

/** Where the worker is told that Java and Spark are, by flag or setting. */
export interface ConfiguredHomes {
  readonly javaHome?: string;
  readonly sparkHome?: string;
}

/**
 * The `java` to start an executor with: of the application's own `JAVA_HOME`
 * (`spark.executorEnv.JAVA_HOME`), as in Spark, else of the worker's flag or
 * setting, of its `JAVA_HOME`, or the one on its `PATH`.
 *
 * @throws {JavaSetupError} saying where none was found.
 */
export function findJava(
  applicationEnv: Readonly<Record<string, string>>,
  { javaHome }: ConfiguredHomes,
  host: JavaHost,
): string {
  const home = applicationEnv.JAVA_HOME || javaHome || host.env("JAVA_HOME");
  if (home) {
    const java = host.absolute(join(home, "bin", "java"));
    if (host.isExecutable(java)) return java;
    const owner = applicationEnv.JAVA_HOME
      ? "The application's spark.executorEnv.JAVA_HOME names"
      : "This worker has no Java to start executors of Spark with: its Java " +
        "home names";
    throw new JavaSetupError(
      `${owner} ${java}, which cannot be executed here. ${SET_JAVA}`,
    );
  }
  for (const folder of (host.env("PATH") ?? "").split(delimiter)) {
    const java = host.absolute(join(folder, "java"));
    if (folder !== "" && host.isExecutable(java)) return java;
  }
  throw new JavaSetupError(
    "This worker has no Java to start executors of Spark with: JAVA_HOME is " +
      `not set, and there is no java on PATH. ${SET_JAVA}`,
  );
}

const SET_JAVA =
  "Install Java there, or set --java-home, spark.worker.javaHome or JAVA_HOME " +
  "for the worker.";

/**
 * The Spark whose classes an executor is started with: the worker's own. A
 * driver's place is on another host, so Spark's workers, too, never ask it.
 *
 * @throws {JavaSetupError} saying where none was found.
 */
export function findSparkHome(
  { sparkHome }: ConfiguredHomes,
  host: JavaHost,
): string {
  const given = sparkHome || host.env("SPARK_HOME");
  if (!given) {
    throw new JavaSetupError(
      "This worker has no Spark to start executors of Spark with: SPARK_HOME " +
        `is not set. ${SET_SPARK}`,
    );
  }
  const home = host.absolute(given);
  const jars = join(home, "jars");
  if (!host.list(jars).some((name) => /^spark-core_.*\.jar$/.test(name))) {
    throw new JavaSetupError(
      "This worker has no Spark to start executors of Spark with: there is no " +
        `spark-core_*.jar in ${jars}. ${SET_SPARK}`,
    );
  }
  return home;
}

const SET_SPARK =
  "Set --spark-home, spark.worker.sparkHome or SPARK_HOME for the worker to a " +
  "Spark of the driver's release.";
