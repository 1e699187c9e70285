import { resolve } from "node:path";
import { WORKER_JAVA_HOME, WORKER_SPARK_HOME } from "../conf/settings.ts";
import type { SparkConf } from "../conf/spark_conf.ts";
import {
  buildJavaCommand,
  findJava,
  findSparkHome,
  type JavaHost,
  JavaSetupError,
} from "../jvm/mod.ts";
import { type CommandBuilder, substitute } from "./command_builder.ts";

/** Starts a JVM with the worker's Java and Spark. */
export const javaCommandBuilder: CommandBuilder = {
  build({ command, variables, memory, conf }) {
    const built = buildJavaCommand({
      command: {
        ...command,
        arguments: command.arguments.map((argument) =>
          substitute(argument, variables)
        ),
      },
      memory,
      appId: variables.APP_ID,
      execId: variables.EXECUTOR_ID,
      homes: homesOf(conf),
      settings: new Map(conf.entries()),
    }, thisHost);
    // The executor itself watches the worker, by a connection to it.
    return { ...built, exitsWithParent: false };
  },
};

/**
 * What is wrong with the Java and the Spark that the worker was given by flag
 * or setting; one that got none may well run TypeScript alone.
 */
export function problemsOfHomes(conf: SparkConf): string[] {
  const homes = homesOf(conf);
  const problems: string[] = [];
  const attempt = (find: () => unknown) => {
    try {
      find();
    } catch (error) {
      if (!(error instanceof JavaSetupError)) throw error;
      problems.push(error.message);
    }
  };
  if (homes.javaHome) attempt(() => findJava({}, homes, thisHost));
  if (homes.sparkHome) attempt(() => findSparkHome(homes, thisHost));
  return problems;
}

function homesOf(conf: SparkConf) {
  return {
    javaHome: conf.get(WORKER_JAVA_HOME),
    sparkHome: conf.get(WORKER_SPARK_HOME),
  };
}

/** This host, looked at when an executor is started: files come and go. */
const thisHost: JavaHost = {
  env: (name) => Deno.env.get(name),
  absolute: (path) => resolve(path),
  isDirectory: (path) => look(() => Deno.statSync(path).isDirectory) ?? false,
  isExecutable: (path) =>
    look(() => {
      const { isFile, mode } = Deno.statSync(path);
      return isFile && ((mode ?? 0o111) & 0o111) !== 0;
    }) ?? false,
  list: (path) =>
    look(() => [...Deno.readDirSync(path)].map(({ name }) => name).sort()) ??
      [],
  readText: (path) => look(() => Deno.readTextFileSync(path)),
};

/** Undefined for what isn't there, or can't be looked at. */
function look<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (
      error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.PermissionDenied ||
      error instanceof Deno.errors.NotADirectory ||
      error instanceof Deno.errors.IsADirectory
    ) return undefined;
    throw error;
  }
}
