/** A host with Java and Spark that is made up. @module */
import type {
  JavaCommandRequest,
} from "../../../lib/jvm/command/java_command.ts";
import type { JavaHost } from "../../../lib/jvm/command/host.ts";
import type { Command } from "../../../lib/messages/deploy.ts";

export interface FakeHost {
  readonly env?: Readonly<Record<string, string>>;
  /** Texts of files by path; what `bin/java` ends can be executed. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Its own folder is `/at`; folders are those that its files are in. */
export function fakeHost({ env = {}, files = {} }: FakeHost = {}): JavaHost {
  const all: Readonly<Record<string, string>> = {
    "/jdk/bin/java": "",
    "/spark/conf/spark-env.sh": "",
    "/spark/jars/slf4j-api-2.0.17.jar": "",
    "/spark/jars/spark-core_2.13-4.3.0.jar": "",
    ...files,
  };
  const variables: Readonly<Record<string, string>> = {
    JAVA_HOME: "/jdk",
    SPARK_HOME: "/spark",
    ...env,
  };
  const inside = (folder: string) =>
    Object.keys(all).filter((path) => path.startsWith(`${folder}/`));
  return {
    env: (name) => variables[name],
    absolute: (path) => path.startsWith("/") ? path : `/at/${path}`,
    isDirectory: (path) => inside(path).length > 0,
    isExecutable: (path) => path in all && path.endsWith("/java"),
    list: (path) =>
      [
        ...new Set(
          inside(path).map((file) => file.slice(path.length + 1).split("/")[0]),
        ),
      ].sort(),
    readText: (path) => all[path],
  };
}

export function request(
  command: Partial<Command> = {},
  more: Partial<JavaCommandRequest> = {},
): JavaCommandRequest {
  return {
    command: {
      kind: "java",
      mainClass: "org.example.Executor",
      arguments: [],
      environment: {},
      classPathEntries: [],
      libraryPathEntries: [],
      javaOpts: [],
      ...command,
    },
    memory: 512,
    appId: "app-1",
    execId: "3",
    homes: {},
    settings: new Map(),
    ...more,
  };
}
