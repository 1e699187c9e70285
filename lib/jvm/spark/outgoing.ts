import type {
  RegisterWorkerFailed,
  ToAppClient,
} from "../../messages/deploy.ts";
import type { ExecutorState } from "../../messages/states.ts";
import type { PeerDescriptors } from "../descriptors/mod.ts";
import {
  boxBoolean,
  boxInteger,
  writeEnumeration,
  writeOption,
} from "../scala/mod.ts";
import {
  type JavaObject,
  type JavaReference,
  javaString,
  type JavaValue,
  newObject,
} from "../stream/mod.ts";
import { deployMessage, EXECUTOR_STATE } from "./class_names.ts";
import { writeEndpointRef } from "./endpoint_refs.ts";

type OutgoingMessage = ToAppClient | RegisterWorkerFailed;

/** In the order in which Spark's enumeration has them. */
const EXECUTOR_STATES: readonly ExecutorState[] = [
  "LAUNCHING",
  "RUNNING",
  "KILLED",
  "FAILED",
  "LOST",
  "EXITED",
  "DECOMMISSIONED",
];

/**
 * What a Spark process is sent: a message of lib/messages, an answer, or a
 * text, which any release can show.
 *
 * @throws {TypeError} for what has no form in Java.
 */
export function writeMessage(
  message: unknown,
  descriptors: PeerDescriptors,
): JavaReference {
  if (typeof message === "boolean") return boxBoolean(message, descriptors);
  if (typeof message === "string") return javaString(message);
  const { type } = (message ?? {}) as Partial<OutgoingMessage>;
  const fields = fieldsOf(message as OutgoingMessage, descriptors);
  if (type === undefined || fields === undefined) {
    throw new TypeError(
      `${type ?? typeof message} has no form in which Spark knows it.`,
    );
  }
  return newObject(descriptors.get(deployMessage(type)), fields);
}

/** A message's fields, which have the same names in Spark's classes. */
function fieldsOf(
  message: OutgoingMessage,
  descriptors: PeerDescriptors,
): Record<string, JavaValue> | undefined {
  const optional = <T>(value: T | null, write: (value: T) => JavaObject) =>
    writeOption(value === null ? undefined : write(value), descriptors);
  const optionalText = (value: string | null): JavaValue =>
    writeOption(value === null ? undefined : javaString(value), descriptors);
  switch (message?.type) {
    case "RegisteredApplication":
      return {
        appId: javaString(message.appId),
        master: writeEndpointRef(message.master, descriptors),
      };
    case "ExecutorAdded":
      return {
        id: message.id,
        workerId: javaString(message.workerId),
        hostPort: javaString(message.hostPort),
        cores: message.cores,
        memory: message.memory,
      };
    case "ExecutorUpdated":
      return {
        id: message.id,
        state: writeEnumeration(
          EXECUTOR_STATE,
          EXECUTOR_STATES.indexOf(message.state),
          descriptors,
        ),
        message: optionalText(message.message),
        exitStatus: optional(
          message.exitStatus,
          (status) => boxInteger(status, descriptors),
        ),
        workerHost: optionalText(message.workerHost),
      };
    case "ApplicationRemoved":
    case "RegisterWorkerFailed":
      return { message: javaString(message.message) };
    case "WorkerRemoved":
      return {
        id: javaString(message.id),
        host: javaString(message.host),
        message: javaString(message.message),
      };
    case "MasterChanged":
      return {
        master: writeEndpointRef(message.master, descriptors),
        masterWebUiUrl: javaString(message.masterWebUiUrl),
      };
    default:
      return undefined;
  }
}
