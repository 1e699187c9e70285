import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  type JavaObject,
  javaObjectBytes,
  readJavaObject,
} from "../../lib/jvm/stream/mod.ts";
import { parseSparkUrl } from "../../lib/messages/addresses.ts";
import { encodeEnvelope } from "../../lib/rpc/envelope.ts";
import { lines, until } from "../cluster/harness.ts";
import { capturedBytes } from "../jvm/captured.ts";
import { encodeFrame } from "../rpc/frames.ts";
import {
  JOB_TIMEOUT,
  meanwhile,
  sparkApp,
  sparkSubmit,
  sparkTest,
} from "./harness.ts";

/** What strangers send to the master's port, and what its log says of it. */
const STRANGERS: readonly (readonly [Uint8Array, string])[] = [
  [new Uint8Array(64).fill(0xee), "A frame gives its length as"],
  [
    Uint8Array.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 9, 9]),
    "the peer sent a TLS hello",
  ],
  [
    new TextEncoder().encode("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "the peer sent an HTTP request",
  ],
  [ofUnknownRelease(), "of no release of Spark that sparkts knows"],
];

/** RegisterApplication of a Spark whose class has another number. */
function ofUnknownRelease(): Uint8Array {
  const object = readJavaObject(
    capturedBytes("4.3.0", "RegisterApplication"),
  ) as JavaObject;
  const descriptor = { ...object.descriptor, serialVersionUID: 1n };
  const data = [{ ...object.data[0], descriptor }];
  const payload = javaObjectBytes({ ...object, descriptor, data });
  const envelope = encodeEnvelope({
    sender: { host: "127.0.0.1", port: 44_159 },
    receiver: null,
    receiverName: "Master",
  });
  const body = new Uint8Array([...envelope, ...payload]);
  return encodeFrame({ type: 9, body });
}

sparkTest(
  "strangers on the master's port get a line each in its log, and the job goes on",
  async (cluster, spark) => {
    const driver = sparkSubmit(
      cluster,
      spark,
      cluster.url,
      ...[sparkApp("gate.py"), cluster.marks, "2"],
    );
    await meanwhile(
      driver,
      "its tasks run",
      () => cluster.markNames("started-").length === 2,
    );
    const { host: hostname, port } = parseSparkUrl(cluster.url);
    const warnings = () =>
      lines(cluster.master.stderr).filter((line) =>
        / (WARN|ERROR) /.test(line)
      );
    assertEquals(warnings(), []);
    for (const [index, [bytes, reason]] of STRANGERS.entries()) {
      using socket = await Deno.connect({ hostname, port });
      for (let at = 0; at < bytes.length;) {
        at += await socket.write(bytes.subarray(at));
      }
      await until("a line is logged", () => warnings().length > index);
      assertStringIncludes(warnings()[index], reason);
    }
    assertEquals(warnings().length, STRANGERS.length);
    await cluster.open();
    const { code, stdout, stderr } = await driver.finished(JOB_TIMEOUT);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, "sum 4950");
  },
);
