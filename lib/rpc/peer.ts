import { type RpcAddress, sameAddress } from "../messages/addresses.ts";
import { MalformedBytesError } from "./bytes.ts";
import type { Connection } from "./connection.ts";
import { encodeEnvelope, type Envelope, EnvelopeReader } from "./envelope.ts";
import type { PayloadCodec, PayloadFormat } from "./payload.ts";

/** Envelopes that are kept for the next message to the same endpoint. */
const MAX_ENVELOPES = 64;

/**
 * What an environment knows of the process at the other end of a connection:
 * the addresses it goes by, and the kind of payload it speaks.
 */
export class Peer {
  readonly connection: Connection;
  /** What we dialled; undefined when the peer dialled us. */
  readonly dialled: RpcAddress | undefined;
  /** Whether the connection is one of ours for streams only. */
  readonly forStreams: boolean;
  /** All addresses under which messages for it come here. */
  readonly addresses: RpcAddress[] = [];
  readonly envelopes = new EnvelopeReader();
  readonly #formats: readonly PayloadFormat[];
  readonly #envelopesTo = new Map<string, Uint8Array>();
  #format: PayloadFormat;
  #codec: PayloadCodec;
  #senderOf: Envelope | undefined;
  #sender: RpcAddress | undefined;

  constructor(
    connection: Connection,
    options: {
      formats: readonly PayloadFormat[];
      dialled?: RpcAddress;
      forStreams?: boolean;
    },
  ) {
    this.connection = connection;
    this.dialled = options.dialled;
    this.forStreams = options.forStreams ?? false;
    this.#formats = options.formats;
    this.#format = options.formats[0];
    this.#codec = this.#format.create();
  }

  /** How the peer is called in a log line. */
  get name(): RpcAddress {
    return this.dialled ?? this.addresses[0] ?? this.connection.remote;
  }

  /** The codec of what this peer sent last; ours until it sent something. */
  get codec(): PayloadCodec {
    return this.#codec;
  }

  /** Who sends an envelope: what it declares, or else where it comes from. */
  senderOf(envelope: Envelope): RpcAddress {
    // The reader gives the same envelope again while the peer repeats it.
    if (this.#sender === undefined || envelope !== this.#senderOf) {
      this.#senderOf = envelope;
      this.#sender = envelope.sender ?? this.name;
    }
    return this.#sender;
  }

  goesBy(address: RpcAddress): boolean {
    return this.addresses.some((known) => sameAddress(known, address));
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
    let bytes = this.#envelopesTo.get(receiverName);
    if (bytes === undefined) {
      // The names are those that the peer gave its endpoints.
      if (this.#envelopesTo.size >= MAX_ENVELOPES) this.#envelopesTo.clear();
      bytes = encodeEnvelope({ sender, receiver, receiverName });
      this.#envelopesTo.set(receiverName, bytes);
    }
    return bytes;
  }
}
