import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { javaFormat } from "../../../lib/jvm/mod.ts";
import {
  type ClassDescriptor,
  fieldOf,
  type JavaObject,
  javaObjectBytes,
  javaString,
  readJavaObject,
} from "../../../lib/jvm/stream/mod.ts";
import type { RegisterApplication } from "../../../lib/messages/deploy.ts";
import { ByteWriter, MalformedBytesError } from "../../../lib/rpc/bytes.ts";
import { RefusedMessageError } from "../../../lib/rpc/errors.ts";
import type { PayloadCodec } from "../../../lib/rpc/payload.ts";
import {
  CAPTURED_RELEASES,
  capturedBytes,
  capturedMessages,
} from "../captured.ts";

/** A codec that has read these messages of a release. */
function codecOf(release: string, ...messages: string[]): PayloadCodec {
  const codec = javaFormat.create();
  for (const message of messages) {
    codec.decode(capturedBytes(release, message));
  }
  return codec;
}

function decode(release: string, message: string): unknown {
  return codecOf(release).decode(capturedBytes(release, message));
}

function encode(codec: PayloadCodec, message: unknown): Uint8Array {
  const writer = new ByteWriter();
  codec.encode(message, writer);
  return writer.written().slice();
}

/** An object's first field of this name changed. */
function withClass(
  bytes: Uint8Array,
  change: (descriptor: ClassDescriptor) => Partial<ClassDescriptor>,
): Uint8Array {
  const object = readJavaObject(bytes) as JavaObject;
  const descriptor = { ...object.descriptor, ...change(object.descriptor) };
  const data = [...object.data];
  data[data.length - 1] = { ...data[data.length - 1], descriptor };
  return javaObjectBytes({ ...object, descriptor, data });
}

const RELEASE_FACTS = {
  "3.5.9": { appId: "app-20261201025254-0000", port: 44729, options: 19 },
  "4.3.0": { appId: "app-20261201025337-0000", port: 44159, options: 24 },
} as const;

Deno.test("java format: takes what begins as a Java object stream", () => {
  assert(javaFormat.accepts(capturedBytes("4.3.0", "Boolean")));
  assertEquals(javaFormat.accepts(new Uint8Array([1, 2])), false);
  assertEquals(javaFormat.accepts(new Uint8Array([0xac])), false);
  assertEquals(javaFormat.accepts(new Uint8Array()), false);
});

for (const release of CAPTURED_RELEASES) {
  const { appId, port, options } = RELEASE_FACTS[release];

  Deno.test(`java format: reads RegisterApplication of Spark ${release}`, () => {
    const message = decode(release, "RegisterApplication");
    const { appDescription, driver } = message as RegisterApplication;
    const { command, ...description } = appDescription;
    assertEquals(driver, {
      name: "AppClient",
      address: { host: "127.0.0.1", port },
    });
    assertEquals(description, {
      name: "captured",
      user: "root",
      maxCores: 3,
      appUiUrl: "",
      defaultProfile: {
        id: 0,
        coresPerExecutor: 1,
        memoryPerExecutor: 600,
        resourcesPerExecutor: [],
      },
      initialExecutorLimit: 0,
    });
    const { environment, javaOpts, ...rest } = command;
    assertEquals(rest, {
      kind: "java",
      mainClass: "org.apache.spark.executor.CoarseGrainedExecutorBackend",
      arguments: [
        "--driver-url",
        `spark://CoarseGrainedScheduler@127.0.0.1:${port}`,
        "--executor-id",
        "{{EXECUTOR_ID}}",
        "--hostname",
        "{{HOSTNAME}}",
        "--cores",
        "{{CORES}}",
        "--app-id",
        "{{APP_ID}}",
        "--worker-url",
        "{{WORKER_URL}}",
        "--resourceProfileId",
        "{{RESOURCE_PROFILE_ID}}",
      ],
      classPathEntries: [],
      libraryPathEntries: [],
    });
    assertEquals(environment.SPARK_USER, "alice");
    assertEquals(javaOpts[0], `-Dspark.driver.port=${port}`);
    assertEquals(javaOpts.length, options);
  });

  Deno.test(`java format: reads the other messages of a driver of Spark ${release}`, () => {
    assertEquals(decode(release, "CheckExistence"), {
      type: "CheckExistence",
      name: "Master",
    });
    assertEquals(decode(release, "UnregisterApplication"), {
      type: "UnregisterApplication",
      appId,
    });
    assertEquals(decode(release, "KillExecutors"), {
      type: "KillExecutors",
      appId,
      executorIds: ["0"],
    });
    assertEquals(decode(release, "Boolean"), true);
  });

  Deno.test(`java format: reads several resource profiles of Spark ${release}`, () => {
    const message = release === "3.5.9"
      ? "RequestExecutors_2"
      : "RequestExecutors_3";
    assertEquals(decode(release, message), {
      type: "RequestExecutors",
      appId,
      resourceProfileToTotalExecs: [
        {
          profile: {
            id: 1,
            coresPerExecutor: 1,
            memoryPerExecutor: 512,
            resourcesPerExecutor: [],
          },
          total: 1,
        },
        {
          profile: {
            id: 0,
            coresPerExecutor: 1,
            memoryPerExecutor: 600,
            resourcesPerExecutor: [],
          },
          total: release === "3.5.9" ? 1 : 0,
        },
      ],
    });
  });

  Deno.test(`java format: writes what Spark ${release}'s own master writes`, () => {
    const codec = codecOf(release, "CheckExistence", "RegisterApplication");
    const added = readJavaObject(capturedBytes(release, "ExecutorAdded"));
    const [{ values }] = (added as JavaObject).data;
    const [cores, id, memory, hostPort, workerId] = values;
    const text = (value: unknown) => (value as { value: string }).value;
    assertEquals(
      encode(codec, {
        type: "ExecutorAdded",
        id,
        workerId: text(workerId),
        hostPort: text(hostPort),
        cores,
        memory,
      }),
      capturedBytes(release, "ExecutorAdded"),
    );
    assertEquals(encode(codec, true), capturedBytes(release, "Boolean"));
    const master = { name: "Master", address: MASTER_OF[release] };
    assertEquals(
      encode(codec, { type: "RegisteredApplication", appId, master }),
      capturedBytes(release, "RegisteredApplication"),
    );
  });
}

const MASTER_OF = {
  "3.5.9": { host: "127.0.0.1", port: 17177 },
  "4.3.0": { host: "127.0.0.1", port: 17277 },
};

Deno.test("java format: writes a state as the release before the first word would", () => {
  const codec = codecOf("4.3.0", "RegisterApplication");
  assertEquals(
    encode(codec, {
      type: "ExecutorUpdated",
      id: 0,
      state: "RUNNING",
      message: null,
      exitStatus: null,
      workerHost: null,
    }),
    capturedBytes("4.3.0", "ExecutorUpdated"),
  );
});

Deno.test("java format: a message that is not taken yet is refused by its name", () => {
  const refusal = assertThrows(
    () => decode("4.3.0", "WorkerLatestState"),
    RefusedMessageError,
  );
  assertEquals(
    refusal.message,
    "sparkts takes no WorkerLatestState from a Spark process yet.",
  );
  assertEquals(refusal.answer, null);
});

for (const release of CAPTURED_RELEASES) {
  Deno.test(`java format: a worker of Spark ${release} is told that it is not taken`, () => {
    const codec = javaFormat.create();
    const refusal = assertThrows(
      () => codec.decode(capturedBytes(release, "RegisterWorker")),
      RefusedMessageError,
    );
    const { to, message } = refusal.answer!;
    assertEquals([to.name, to.address.host], ["Worker", "127.0.0.1"]);
    const written = readJavaObject(encode(codec, message)) as JavaObject;
    assertEquals(
      written.descriptor.name,
      "org.apache.spark.deploy.DeployMessages$RegisterWorkerFailed",
    );
    assertEquals(
      fieldOf(written, "message"),
      javaString("sparkts takes no RegisterWorker from a Spark process yet."),
    );
  });
}

Deno.test("java format: a release that isn't known is refused, its driver told why, the log once", () => {
  const codec = javaFormat.create();
  const payload = withClass(
    capturedBytes("4.3.0", "RegisterApplication"),
    () => ({ serialVersionUID: 42n }),
  );
  const refusal = assertThrows(
    () => codec.decode(payload),
    RefusedMessageError,
  );
  assertEquals(
    refusal.message,
    "the peer is a Spark of a release that sparkts does not know: its class " +
      "org.apache.spark.deploy.DeployMessages$RegisterApplication has the " +
      "serialVersionUID 42, of no release of Spark that sparkts knows " +
      "(-5495080032843259921 in 3.4/3.5; 1314361325537467148 in 4.0, " +
      "4.1/4.2, 4.3). Supported are Spark 3.4/3.5, 4.0, 4.1/4.2, 4.3.",
  );
  assertEquals(refusal.repeated, false);
  assertEquals(refusal.answer?.to, {
    name: "AppClient",
    address: { host: "127.0.0.1", port: 44159 },
  });
  // What the driver is sent is a string: every release can read that.
  assertEquals(
    readJavaObject(encode(codec, refusal.answer?.message)),
    javaString(refusal.message),
  );
  const again = assertThrows(() => codec.decode(payload), RefusedMessageError);
  assertEquals(again.repeated, true);
});

Deno.test("java format: an object that isn't as its class should be ends the connection", () => {
  const unlike = withClass(
    capturedBytes("4.3.0", "UnregisterApplication"),
    ({ fields }) => ({ fields: fields.map((f) => ({ ...f, name: "other" })) }),
  );
  const error = assertThrows(
    () => javaFormat.create().decode(unlike),
    MalformedBytesError,
  );
  assertStringIncludes(error.message, "appId of");
});

Deno.test("java format: what has no form in Java is the caller's mistake", () => {
  const codec = javaFormat.create();
  assertThrows(
    () => encode(codec, { type: "LaunchTask" }),
    TypeError,
    "LaunchTask has no form in which Spark knows it",
  );
  assertThrows(() => encode(codec, undefined), TypeError, "undefined has no");
});

Deno.test("java format: a message with some bytes changed is read, refused or malformed, and nothing else", () => {
  let read = 0;
  let tried = 0;
  for (const release of CAPTURED_RELEASES) {
    for (const message of capturedMessages(release)) {
      const bytes = capturedBytes(release, message);
      for (let seed = 1; seed <= 200; seed++) {
        const changed = bytes.slice();
        // Two bytes, spread over all that there are by a prime.
        for (const n of [seed * 7919, seed * 104_729]) {
          changed[n % changed.length] = n % 251;
        }
        tried++;
        try {
          javaFormat.create().decode(changed);
          read++;
        } catch (error) {
          assert(
            error instanceof MalformedBytesError ||
              error instanceof RefusedMessageError,
            `${release} ${message} ${seed}: ${error}`,
          );
        }
      }
    }
  }
  assert(read > 0 && read < tried / 2, `${read} of ${tried}`);
});

Deno.test("java format: a worker of an unknown release is told by a text, and a peer's names are shown short", () => {
  const codec = javaFormat.create();
  const worker = withClass(
    capturedBytes("4.3.0", "RegisterWorker"),
    () => ({ serialVersionUID: 1n }),
  );
  const refusal = assertThrows(() => codec.decode(worker), RefusedMessageError);
  assertEquals(refusal.answer?.message, refusal.message);

  const named = withClass(
    capturedBytes("4.3.0", "UnregisterApplication"),
    () => ({ name: "Odd\nWARN Master: " + "x".repeat(50_000) }),
  );
  const { message } = assertThrows(
    () => javaFormat.create().decode(named),
    RefusedMessageError,
  );
  assertStringIncludes(message, "takes no Odd\\nWARN");
  assert(message.length < 300 && !message.includes("\n"));
});
