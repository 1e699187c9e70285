import { assertEquals } from "@std/assert";
import {
  javaObjectBytes,
  readJavaObject,
} from "../../../lib/jvm/stream/mod.ts";
import {
  CAPTURED_RELEASES,
  capturedBytes,
  capturedMessages,
} from "../captured.ts";

for (const release of CAPTURED_RELEASES) {
  Deno.test(`java stream: what Spark ${release} sent is written back byte for byte`, () => {
    const messages = capturedMessages(release);
    assertEquals(messages.includes("RegisterApplication"), true);
    for (const message of messages) {
      const bytes = capturedBytes(release, message);
      assertEquals(javaObjectBytes(readJavaObject(bytes)), bytes, message);
    }
  });
}
