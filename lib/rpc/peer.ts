import type { RpcAddress } from "../messages/addresses.ts";
import { MalformedBytesError } from "./bytes.ts";
import type { Connection } from "./connection.ts";
import { encodeEnvelope, EnvelopeReader } from "./envelope.ts";
import type { PayloadCodec, PayloadFormat } from "./payload.ts";

/**
 * What an environment knows of the process at the other end of a connection:
 * the addresses it goes by, and the kind of payload it speaks.
 */
export class Peer {
  readonly connection: Connection;
  /** The address that was dialled or that the peer declared first. */
  address: RpcAddress | undefined;
  /** All addresses under which messages for it come here. */
  readonly addresses: RpcAddress[] = [];
  readonly envelopes = new EnvelopeReader();
  readonly #formats: readonly PayloadFormat[];
  readonly #prefixes = new Map<string, Uint8Array>();
  #format: PayloadFormat;
  #codec: PayloadCodec;

  constructor(connection: Connection, formats: readonly PayloadFormat[]) {
    this.connection = connection;
    this.#formats = formats;
    this.#format = formats[0];
    this.#codec = this.#format.create();
  }

  /** The codec of what this peer sent last; ours until it sent something. */
  get codec(): PayloadCodec {
    return this.#codec;
  }

  /** @throws {MalformedBytesError} when no format knows the payload. */
  codecFor(payload: Uint8Array): PayloadCodec {
    if (!this.#format.accepts(payload)) {
      const format = this.#formats.find((format) => format.accepts(payload));
      if (format === undefined) {
        throw new MalformedBytesError(
          `A payload begins with ${
            [...payload.subarray(0, 4)].join(" ")
          }, which is no format known here.`,
        );
      }
      this.#format = format;
      this.#codec = format.create();
    }
    return this.#codec;
  }

  /** The envelope to an endpoint of this peer, encoded once. */
  envelopeTo(
    receiverName: string,
    receiver: RpcAddress,
    sender: RpcAddress | null,
  ): Uint8Array {
    let prefix = this.#prefixes.get(receiverName);
    if (prefix === undefined) {
      prefix = encodeEnvelope({ sender, receiver, receiverName });
      this.#prefixes.set(receiverName, prefix);
    }
    return prefix;
  }
}
