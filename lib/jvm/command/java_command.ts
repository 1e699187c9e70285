import { delimiter, join } from "node:path";
import type { Megabytes } from "../../conf/units.ts";
import type { Command } from "../../messages/deploy.ts";
import { classPath, configurationFolder } from "./class_path.ts";
import { type ConfiguredHomes, findJava, findSparkHome } from "./homes.ts";
import type { JavaHost } from "./host.ts";
import {
  passwordVariables,
  splitOptions,
  withIds,
  withNodeLocalSsl,
  withoutSecrets,
} from "./java_options.ts";

export interface JavaCommandRequest {
  /** With its arguments as they are to be. */
  readonly command: Command;
  readonly memory: Megabytes;
  readonly appId: string;
  readonly execId: string;
  readonly homes: ConfiguredHomes;
  /** The worker's own settings. */
  readonly settings: ReadonlyMap<string, string>;
}

export interface JavaCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables beside those that every command gets. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The command line of an executor of Spark, as Spark's own worker makes it
 * (`ExecutorRunner`, `CommandUtils`, `WorkerCommandBuilder`):
 *
 *     java OPTIONS-OF-THE-HOST -cp PATH -Xmx<memory>M JAVA-OPTS MAIN-CLASS ARGUMENTS
 *
 * @throws {JavaSetupError} when the host lacks Java or Spark.
 */
export function buildJavaCommand(
  request: JavaCommandRequest,
  host: JavaHost,
): JavaCommand {
  const { command, memory, homes, settings } = request;
  const { environment } = command;
  // An empty variable is none, as in Spark's launcher.
  const lookUp = (name: string) =>
    environment[name] || host.env(name) || undefined;
  const java = findJava(environment, homes, host);
  const sparkHome = findSparkHome(homes, host);
  const hostOptions = host.readText(
    join(configurationFolder(sparkHome, lookUp), "java-opts"),
  );
  const options = command.javaOpts.map((option) => withIds(option, request));
  const path = classPath(command.classPathEntries, sparkHome, lookUp, host);
  return {
    command: java,
    args: [
      ...(hostOptions ?? "").split(/\r?\n/).flatMap(splitOptions),
      "-cp",
      path.join(delimiter),
      `-Xmx${memory}M`,
      ...withoutSecrets(withNodeLocalSsl(options, settings)),
      command.mainClass,
      ...command.arguments,
    ],
    env: {
      ...passwordVariables((key) => settings.get(key)),
      // Executors find Spark's Python files by it.
      SPARK_HOME: environment.SPARK_HOME ?? sparkHome,
    },
  };
}
