import { restoreClosure } from "../closure/restore.ts";
import { decodeValue } from "../shuffle/record_codec.ts";

/** How a broadcast's value is encoded: its first byte. */
export const BROADCAST_VALUE = 0;
export const BROADCAST_CLOSURE = 1;

/** Decodes what the driver's `encodeBroadcast` made. */
export async function decodeBroadcast(bytes: Uint8Array): Promise<unknown> {
  const body = bytes.subarray(1);
  return bytes[0] === BROADCAST_VALUE
    ? decodeValue(body)
    : await restoreClosure(body);
}
