import type {
  KillExecutors,
  MasterChangeAcknowledged,
  RegisterApplication,
  RequestExecutors,
  UnregisterApplication,
} from "../../messages/deploy.ts";
import { readMap, readSequence, unboxNumber } from "../scala/mod.ts";
import type { JavaObject } from "../stream/mod.ts";
import {
  readApplicationDescription,
  readResourceProfile,
} from "./application_values.ts";
import { CHECK_EXISTENCE, deployMessage } from "./class_names.ts";
import { readEndpointRef } from "./endpoint_refs.ts";
import { Fields, textOf } from "./fields.ts";

/** What a Spark process says, in the words of lib/messages. */
export type IncomingMessage =
  | KillExecutors
  | MasterChangeAcknowledged
  | RegisterApplication
  | RequestExecutors
  | UnregisterApplication
  | { readonly type: "CheckExistence"; readonly name: string };

export const REGISTER_APPLICATION = deployMessage("RegisterApplication");

/** One function for each class of message that is taken from Spark. */
const READERS: ReadonlyMap<string, (fields: Fields) => IncomingMessage> =
  new Map(Object.entries<(fields: Fields) => IncomingMessage>({
    [CHECK_EXISTENCE]: (fields) => ({
      type: "CheckExistence",
      name: fields.text("name"),
    }),
    [REGISTER_APPLICATION]: (fields) => ({
      type: "RegisterApplication",
      appDescription: readApplicationDescription(
        fields.value("appDescription"),
      ),
      driver: readEndpointRef(fields.value("driver")),
    }),
    [deployMessage("UnregisterApplication")]: (fields) => ({
      type: "UnregisterApplication",
      appId: fields.text("appId"),
    }),
    [deployMessage("RequestExecutors")]: (fields) => ({
      type: "RequestExecutors",
      appId: fields.text("appId"),
      resourceProfileToTotalExecs: readMap(
        fields.value("resourceProfileToTotalExecs"),
      ).map(([profile, total]) => ({
        profile: readResourceProfile(profile),
        total: unboxNumber(total),
      })),
    }),
    [deployMessage("KillExecutors")]: (fields) => ({
      type: "KillExecutors",
      appId: fields.text("appId"),
      executorIds: readSequence(fields.value("executorIds"))
        .map((id) => textOf(id)),
    }),
    [deployMessage("MasterChangeAcknowledged")]: (fields) => ({
      type: "MasterChangeAcknowledged",
      appId: fields.text("appId"),
    }),
  }));

/**
 * The message that an object is; undefined for a class of which none is taken.
 *
 * @throws {UnexpectedValueError} when the object isn't as its class should be.
 */
export function readMessage(object: JavaObject): IncomingMessage | undefined {
  return READERS.get(object.descriptor.name)?.(new Fields(object));
}
