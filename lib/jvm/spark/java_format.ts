import type { EndpointRef } from "../../messages/addresses.ts";
import { type ByteWriter, MalformedBytesError } from "../../rpc/bytes.ts";
import { type RefusalAnswer, RefusedMessageError } from "../../rpc/errors.ts";
import type { PayloadCodec, PayloadFormat } from "../../rpc/payload.ts";
import {
  PeerDescriptors,
  SPARK_LINES,
  UnknownSparkLineError,
} from "../descriptors/mod.ts";
import {
  fieldOf,
  type JavaObject,
  type JavaReference,
  readJavaObject,
  shown,
  writeJavaObject,
} from "../stream/mod.ts";
import { readEndpointRef } from "./endpoint_refs.ts";
import { deployMessage } from "./class_names.ts";
import { readMessage, REGISTER_APPLICATION } from "./incoming.ts";
import { writeMessage } from "./outgoing.ts";

const REGISTER_WORKER = deployMessage("RegisterWorker");

/**
 * The payloads of Spark's own processes: each a Java object stream, which
 * begins with the bytes AC ED.
 */
export const javaFormat: PayloadFormat = {
  name: "Java",
  accepts: (payload) => payload[0] === 0xac && payload[1] === 0xed,
  create: () => new JavaCodec(),
};

/** Speaks with one Spark process, in the classes of its release. */
class JavaCodec implements PayloadCodec {
  readonly #descriptors = new PeerDescriptors();
  /** Classes of which the log knows already that they were refused. */
  readonly #refused = new Set<string>();

  encode(message: unknown, writer: ByteWriter): void {
    writeJavaObject(writeMessage(message, this.#descriptors), writer);
  }

  decode(payload: Uint8Array): unknown {
    let unknownLine: UnknownSparkLineError | undefined;
    const object = readJavaObject(payload, {
      onDescriptor: (descriptor) => {
        try {
          this.#descriptors.see(descriptor);
        } catch (error) {
          if (!(error instanceof UnknownSparkLineError)) throw error;
          unknownLine ??= error;
        }
      },
    });
    if (unknownLine !== undefined) this.#refuseLine(object, unknownLine);
    return this.#plain(object);
  }

  /** A message, or the answer to one of ours. */
  #plain(object: JavaReference): unknown {
    if (object === null) return null;
    if (object.kind === "string") return object.value;
    if (object.kind !== "object") {
      throw new MalformedBytesError(
        `A Java ${object.kind} is no message that Spark sends.`,
      );
    }
    const { name } = object.descriptor;
    if (name === "java.lang.Boolean") return fieldOf(object, "value");
    return readMessage(object) ?? this.#refuse(
      object,
      `sparkts takes no ${shown(shortName(name))} from a Spark process yet`,
    );
  }

  #refuseLine(object: JavaReference, error: UnknownSparkLineError): never {
    const supported = SPARK_LINES.map(({ name }) => name).join(", ");
    this.#refuse(
      object,
      `the peer is a Spark of a release that sparkts does not know: ` +
        `${error.message}. Supported are Spark ${supported}`,
      error,
    );
  }

  /** @param cause What was unknown of the peer's release, if that is why. */
  #refuse(
    object: JavaReference,
    reason: string,
    cause?: UnknownSparkLineError,
  ): never {
    const name = object?.kind === "object" ? object.descriptor.name : "";
    const repeated = this.#refused.has(name);
    // A peer can send messages of ever other names.
    if (this.#refused.size < 100) this.#refused.add(name);
    throw new RefusedMessageError(`${reason}.`, {
      cause,
      repeated,
      answer: object?.kind === "object"
        ? answerTo(object, `${reason}.`, cause === undefined)
        : null,
    });
  }
}

/**
 * What tells the sender of a one-way message that it was refused: a worker has
 * a message for that. A driver gets a string, the one value that every release
 * can read: it logs that it got this instead of a message.
 */
function answerTo(
  object: JavaObject,
  reason: string,
  lineIsKnown: boolean,
): RefusalAnswer | null {
  switch (object.descriptor.name) {
    case REGISTER_APPLICATION: {
      const to = endpointIn(object, "driver");
      return to && { to, message: reason };
    }
    case REGISTER_WORKER: {
      const to = endpointIn(object, "worker");
      const failed = { type: "RegisterWorkerFailed", message: reason };
      return to && { to, message: lineIsKnown ? failed : reason };
    }
    default:
      return null;
  }
}

function endpointIn(object: JavaObject, field: string): EndpointRef | null {
  try {
    return readEndpointRef(fieldOf(object, field) ?? null);
  } catch (error) {
    if (!(error instanceof MalformedBytesError)) throw error;
    return null; // a release that has its references in another form
  }
}

/** `RegisterWorker` of `org.apache.spark.deploy.DeployMessages$RegisterWorker`. */
function shortName(className: string): string {
  return className.replace(/\$$/, "").split(/[.$]/).at(-1) ?? className;
}
