import { delimiter, join } from "node:path";
import type { JavaHost } from "./host.ts";

/**
 * An executor's class path, in the order of Spark's own launcher
 * (`AbstractCommandBuilder`): what the application asks for, the folder of
 * configuration, Spark's jars, and what the environment adds.
 *
 * @param lookUp A variable: the application's, else the worker's.
 */
export function classPath(
  entries: readonly string[],
  sparkHome: string,
  lookUp: (name: string) => string | undefined,
  host: JavaHost,
): string[] {
  const jars = join(sparkHome, "jars");
  const path = [
    ...entries,
    configurationFolder(sparkHome, lookUp),
    // Other jars may hold older classes of the logging interface.
    ...host.list(jars).filter((name) => name.startsWith("slf4j-api-"))
      .map((name) => join(jars, name)),
    join(jars, "*"),
    lookUp("HADOOP_CONF_DIR"),
    lookUp("YARN_CONF_DIR"),
    lookUp("SPARK_DIST_CLASSPATH"),
  ].flatMap((part) => part?.split(delimiter) ?? []).filter(Boolean);
  return [
    ...new Set(
      path.map((entry) =>
        !entry.endsWith("/") && host.isDirectory(entry) ? `${entry}/` : entry
      ),
    ),
  ];
}

/** Where Spark's configuration of this host is. */
export function configurationFolder(
  sparkHome: string,
  lookUp: (name: string) => string | undefined,
): string {
  return lookUp("SPARK_CONF_DIR") ?? join(sparkHome, "conf");
}
