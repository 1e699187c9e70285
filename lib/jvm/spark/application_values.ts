/**
 * What an application of Spark's is described by, as the plain data that
 * master and workers know.
 *
 * @module
 */
import type {
  ApplicationDescription,
  Command,
  RequestedResourceProfile,
} from "../../messages/deploy.ts";
import {
  readMap,
  readOption,
  readSequence,
  unboxNumber,
} from "../scala/mod.ts";
import type { JavaValue } from "../stream/mod.ts";
import {
  APPLICATION_DESCRIPTION,
  COMMAND,
  EXECUTOR_RESOURCE_REQUEST,
  RESOURCE_PROFILE,
} from "./class_names.ts";
import { Fields, textOf } from "./fields.ts";

/** MiB of an executor whose profile doesn't say, as in Spark's master. */
const DEFAULT_MEMORY = 1024;

/** Of what a profile asks for, that which is no custom resource. */
const BUILT_IN_RESOURCES = new Set([
  "cores",
  "memory",
  "memoryOverhead",
  "offHeap",
  "pyspark.memory",
]);

/** Spark's ApplicationDescription. Where events are logged is the driver's. */
export function readApplicationDescription(
  value: JavaValue,
): ApplicationDescription {
  const fields = Fields.of(value, APPLICATION_DESCRIPTION);
  const profile = readResourceProfile(fields.value("defaultProfile"));
  return {
    name: fields.text("name"),
    user: fields.text("user"),
    maxCores: readOptionalInt(fields.value("maxCores")),
    command: readCommand(fields.value("command")),
    appUiUrl: fields.text("appUiUrl"),
    defaultProfile: {
      ...profile,
      memoryPerExecutor: profile.memoryPerExecutor ?? DEFAULT_MEMORY,
    },
    initialExecutorLimit: readOptionalInt(fields.value("initialExecutorLimit")),
  };
}

function readCommand(value: JavaValue): Command {
  const fields = Fields.of(value, COMMAND);
  const texts = (name: string) =>
    readSequence(fields.value(name)).map((element) => textOf(element));
  return {
    kind: "java",
    mainClass: fields.text("mainClass"),
    arguments: texts("arguments"),
    environment: Object.fromEntries(
      readMap(fields.value("environment")).map(([name, value]) => [
        textOf(name),
        textOf(value),
      ]),
    ),
    classPathEntries: texts("classPathEntries"),
    libraryPathEntries: texts("libraryPathEntries"),
    javaOpts: texts("javaOpts"),
  };
}

/**
 * What the cluster manager grants of Spark's ResourceProfile: cores, memory of
 * the heap, and custom resources. The rest is the driver's to look after.
 */
export function readResourceProfile(
  value: JavaValue,
): RequestedResourceProfile {
  const fields = Fields.of(value, RESOURCE_PROFILE);
  const amounts = new Map(
    readMap(fields.value("executorResources")).map(([name, request]) => [
      textOf(name),
      Fields.of(request, EXECUTOR_RESOURCE_REQUEST).long("amount"),
    ]),
  );
  return {
    id: fields.int("_id"),
    coresPerExecutor: amounts.get("cores") ?? null,
    memoryPerExecutor: amounts.get("memory") ?? null,
    resourcesPerExecutor: [...amounts]
      .filter(([name]) => !BUILT_IN_RESOURCES.has(name))
      .map(([name, amount]) => ({ name, amount })),
  };
}

function readOptionalInt(value: JavaValue): number | null {
  const inner = readOption(value);
  return inner === undefined ? null : unboxNumber(inner);
}
