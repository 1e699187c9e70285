import {
  type ClassDescriptor,
  readJavaStream,
} from "../../lib/jvm/stream/mod.ts";

/**
 * Messages that Spark's own driver, master and worker sent one another, each
 * as the payload that was on the wire.
 *
 * @module
 */

/** The releases of which there are messages. */
export const CAPTURED_RELEASES = ["3.5.9", "4.3.0"] as const;

const folder = new URL("captured/", import.meta.url);

/** A message of a release, as it was sent. */
export function capturedBytes(release: string, message: string): Uint8Array {
  return Deno.readFileSync(new URL(`${release}/${message}.bin`, folder));
}

/** The classes in one message that a release sent, superclasses first. */
export function capturedDescriptors(
  release: string,
  message: string,
): ClassDescriptor[] {
  const descriptors: ClassDescriptor[] = [];
  readJavaStream(capturedBytes(release, message), {
    onDescriptor: (descriptor) => descriptors.push(descriptor),
  });
  return descriptors;
}

/** The messages that were captured from a release. */
export function capturedMessages(release: string): string[] {
  return [...Deno.readDirSync(new URL(`${release}/`, folder))]
    .map(({ name }) => name.replace(/\.bin$/, ""))
    .sort();
}
