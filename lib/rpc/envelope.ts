import type { RpcAddress } from "../messages/addresses.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";

/**
 * What stands before the payload of a request or a one-way message: who sends
 * it, and to which endpoint (Spark: `RequestMessage` of `NettyRpcEnv`).
 *
 *     sender address · receiver address · UTF receiver name
 *     address := bool present [· UTF host · i32 port]
 */
export interface Envelope {
  /** Null when the sender has no listening port. */
  readonly sender: RpcAddress | null;
  readonly receiver: RpcAddress | null;
  readonly receiverName: string;
}

export function encodeEnvelope(envelope: Envelope): Uint8Array {
  const writer = new ByteWriter(128);
  writeAddress(writer, envelope.sender);
  writeAddress(writer, envelope.receiver);
  writer.utf(envelope.receiverName);
  return writer.written().slice();
}

/** Reads envelopes; `length` bytes of the body belong to the envelope. */
export class EnvelopeReader {
  #bytes = new Uint8Array(0);
  #envelope: Envelope | undefined;

  /**
   * A peer sends most of its messages in the same envelope, so the last one is
   * recognised by its bytes instead of being read anew.
   */
  read(body: Uint8Array): { envelope: Envelope; length: number } {
    const bytes = this.#bytes;
    if (this.#envelope !== undefined && startsWith(body, bytes)) {
      return { envelope: this.#envelope, length: bytes.length };
    }
    const reader = new ByteReader(body);
    const envelope = {
      sender: readAddress(reader),
      receiver: readAddress(reader),
      receiverName: reader.utf(),
    };
    this.#bytes = body.slice(0, reader.position);
    this.#envelope = envelope;
    return { envelope, length: reader.position };
  }
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  if (bytes.length < start.length) return false;
  for (let i = 0; i < start.length; i++) {
    if (bytes[i] !== start[i]) return false;
  }
  return true;
}

function writeAddress(writer: ByteWriter, address: RpcAddress | null): void {
  if (address === null) {
    writer.u8(0);
    return;
  }
  writer.u8(1);
  writer.utf(address.host);
  writer.i32(address.port);
}

function readAddress(reader: ByteReader): RpcAddress | null {
  if (reader.u8() === 0) return null;
  return { host: reader.utf(), port: reader.i32() };
}
