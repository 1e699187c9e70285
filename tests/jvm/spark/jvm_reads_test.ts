/** What sparkts writes, read by the classes of Spark that it is for. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { javaFormat } from "../../../lib/jvm/mod.ts";
import type {
  RegisterWorkerFailed,
  ToAppClient,
} from "../../../lib/messages/deploy.ts";
import type { ExecutorState } from "../../../lib/messages/states.ts";
import { ByteWriter } from "../../../lib/rpc/bytes.ts";
import { fetchedReleases } from "../../../scripts/fetched_releases.ts";
import { canRun } from "../../process/harness.ts";
import { CAPTURED_RELEASES, capturedBytes } from "../captured.ts";

const MASTER = { name: "Master", address: { host: "m", port: 7077 } };
const STATES: readonly ExecutorState[] = [
  "LAUNCHING",
  "RUNNING",
  "KILLED",
  "FAILED",
  "LOST",
  "EXITED",
  "DECOMMISSIONED",
];

/** Each message, and how Spark's own class shows it. */
const MESSAGES: readonly (readonly [
  ToAppClient | RegisterWorkerFailed | boolean | string,
  string,
])[] = [
  [true, "java.lang.Boolean true"],
  [false, "java.lang.Boolean false"],
  ["a text", "java.lang.String a text"],
  [
    { type: "RegisteredApplication", appId: "app-1", master: MASTER },
    "RegisteredApplication(app-1,NettyRpcEndpointRef(spark://Master@m:7077))",
  ],
  [
    {
      type: "ExecutorAdded",
      id: 3,
      workerId: "w",
      hostPort: "h:1",
      cores: 2,
      memory: 1024,
    },
    "ExecutorAdded(3,w,h:1,2,1024)",
  ],
  ...STATES.map((state) =>
    [
      {
        type: "ExecutorUpdated",
        id: 3,
        state,
        message: null,
        exitStatus: null,
        workerHost: null,
      },
      `ExecutorUpdated(3,${state},None,None,None)`,
    ] as const
  ),
  [
    {
      type: "ExecutorUpdated",
      id: 0,
      state: "EXITED",
      message: "Command exited with code 7",
      exitStatus: 7,
      workerHost: "h",
    },
    "ExecutorUpdated(0,EXITED,Some(Command exited with code 7),Some(7)," +
    "Some(h))",
  ],
  [
    { type: "ApplicationRemoved", message: "FAILED: why" },
    "ApplicationRemoved(FAILED: why)",
  ],
  [
    { type: "RegisterWorkerFailed", message: "not here" },
    "RegisterWorkerFailed(not here)",
  ],
  [
    { type: "WorkerRemoved", id: "w", host: "h", message: "gone" },
    "WorkerRemoved(w,h,gone)",
  ],
  [
    { type: "MasterChanged", master: MASTER, masterWebUiUrl: "http://m" },
    "MasterChanged(NettyRpcEndpointRef(spark://Master@m:7077),http://m)",
  ],
];

/** `before`: what the peer said before it is written to, of a capture. */
async function shown(
  home: string,
  before: readonly Uint8Array[],
): Promise<string[]> {
  const codec = javaFormat.create();
  for (const bytes of before) codec.decode(bytes);
  const all = new ByteWriter();
  for (const [message] of MESSAGES) {
    const one = new ByteWriter();
    codec.encode(message, one);
    all.i32(one.length);
    all.bytes(one.written());
  }
  const dir = await Deno.makeTempDir({ prefix: "sparkts-test-" });
  try {
    const file = join(dir, "streams");
    await Deno.writeFile(file, all.written());
    const program = fileURLToPath(
      new URL("java/ShowMessages.java", import.meta.url),
    );
    const { stdout, stderr } = await new Deno.Command("java", {
      args: ["-cp", join(home, "jars", "*"), program, file],
    }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    if (lines.length < MESSAGES.length) {
      throw new Error(new TextDecoder().decode(stderr));
    }
    return lines;
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

function expected(): string[] {
  return MESSAGES.map(([message, text]) =>
    typeof message !== "object"
      ? text
      : `org.apache.spark.deploy.DeployMessages$${message.type} ${text}`
  );
}

/** What the peer said before, and which descriptors are then used. */
const BEFORE = [
  // The first question tells Scala 2.12 from 2.13, and no more.
  ["of the table", ["CheckExistence"]],
  ["that it sent itself", ["CheckExistence", "RegisterApplication"]],
] as const;

for (const release of CAPTURED_RELEASES) {
  const home = fetchedReleases().find(({ version }) => version === release)
    ?.home;
  const missing = home === undefined
    ? ` (skipped: scripts/spark-distribution has not fetched it)`
    : canRun("javac", "-version")
    ? ""
    : " (skipped: there is no javac)";
  for (const [whose, messages] of BEFORE) {
    Deno.test({
      name: `java format: Spark ${release} reads each message, with the ` +
        `descriptors ${whose}${missing}`,
      ignore: missing !== "",
      fn: async () => {
        const before = messages.map((message) =>
          capturedBytes(release, message)
        );
        assertEquals(await shown(home ?? "", before), expected());
      },
    });
  }
}
