/**
 * A driver of Spark at the master, without a JVM: what it says are the bytes
 * that one said, over a real socket. Whole jobs are in tests/spark.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import {
  type ClassDescriptor,
  fieldOf,
  type JavaObject,
  javaObjectBytes,
  type JavaReference,
  readJavaObject,
} from "../../lib/jvm/stream/mod.ts";
import { setLogSink } from "../../lib/log.ts";
import { startMaster } from "../../lib/master/mod.ts";
import {
  parseSparkUrl,
  type RpcAddress,
} from "../../lib/messages/addresses.ts";
import type { MasterStateResponse } from "../../lib/messages/deploy.ts";
import { ByteReader } from "../../lib/rpc/bytes.ts";
import { encodeEnvelope, EnvelopeReader } from "../../lib/rpc/envelope.ts";
import { type Frame, FrameType } from "../../lib/rpc/frame.ts";
import { FrameParser } from "../../lib/rpc/frame_parser.ts";
import { RpcEnv } from "../../lib/rpc/mod.ts";
import { CAPTURED_RELEASES, capturedBytes } from "../jvm/captured.ts";
import { encodeFrame } from "../rpc/frames.ts";
import { eventually } from "../rpc/support.ts";
import { workerRegistration } from "./harness.ts";

const HOST = "127.0.0.1";
const DRIVER_PORTS = { "3.5.9": 44729, "4.3.0": 44159 } as const;

/** What came for the driver: an answer, or a message to its AppClient. */
interface Arrived {
  readonly type: number;
  readonly receiverName: string | null;
  readonly object: JavaReference;
  readonly failure: string | null;
}

/** The socket of a driver. */
class Driver implements Disposable {
  readonly arrived: Arrived[] = [];
  readonly #socket: Deno.TcpConn;
  readonly #sender: RpcAddress;
  #requests = 0n;

  private constructor(socket: Deno.TcpConn, sender: RpcAddress) {
    this.#socket = socket;
    this.#sender = sender;
  }

  static async connect(master: string, port: number): Promise<Driver> {
    const { host: hostname, port: masterPort } = parseSparkUrl(master);
    const socket = await Deno.connect({ hostname, port: masterPort });
    const driver = new Driver(socket, { host: HOST, port });
    driver.#read();
    return driver;
  }

  /** Sends, and waits for the answer. */
  async ask(receiverName: string, payload: Uint8Array): Promise<Arrived> {
    // Spark draws its ids from all of 64 bits.
    const requestId = 2n ** 62n + this.#requests++;
    const body = this.#body(receiverName, payload);
    const before = this.#answers.length;
    await this.#write({ type: FrameType.RpcRequest, requestId, body });
    await eventually("an answer", () => this.#answers.length > before);
    return this.#answers[before];
  }

  async tell(receiverName: string, payload: Uint8Array): Promise<void> {
    const body = this.#body(receiverName, payload);
    await this.#write({ type: FrameType.OneWayMessage, body });
  }

  /** Waits for the message of this number, counted from 0. */
  async message(index: number): Promise<JavaObject> {
    const messages = () =>
      this.arrived.filter(({ receiverName }) => receiverName === "AppClient");
    await eventually(`message ${index}`, () => messages().length > index);
    return messages()[index].object as JavaObject;
  }

  get #answers(): Arrived[] {
    return this.arrived.filter(({ receiverName }) => receiverName === null);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #body(receiverName: string, payload: Uint8Array): Uint8Array {
    const sender = this.#sender;
    const envelope = encodeEnvelope({ sender, receiver: null, receiverName });
    return new Uint8Array([...envelope, ...payload]);
  }

  async #write(frame: Frame): Promise<void> {
    const bytes = encodeFrame(frame);
    for (let at = 0; at < bytes.length;) {
      at += await this.#socket.write(bytes.subarray(at));
    }
  }

  async #read(): Promise<void> {
    const parser = new FrameParser({
      frame: (frame) => this.#take(frame),
      streamBytes: () => {},
    }, { maxFrameSize: 1 << 20 });
    const buffer = new Uint8Array(65_536);
    try {
      for (let count; (count = await this.#socket.read(buffer)) !== null;) {
        parser.push(buffer.subarray(0, count));
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) {
        if (!(error instanceof Deno.errors.Interrupted)) throw error;
      }
    }
  }

  #take(frame: Frame): void {
    if (frame.type === FrameType.OneWayMessage) {
      const { envelope, length } = new EnvelopeReader().read(frame.body);
      const object = readJavaObject(frame.body.slice(length));
      const { receiverName } = envelope;
      this.arrived.push({
        type: frame.type,
        receiverName,
        object,
        failure: null,
      });
    } else if (frame.type === FrameType.RpcResponse) {
      const object = readJavaObject(new ByteReader(frame.body).rest().slice());
      const { type } = frame;
      this.arrived.push({ type, receiverName: null, object, failure: null });
    } else if (frame.type === FrameType.RpcFailure) {
      const { type, error: failure } = frame;
      this.arrived.push({ type, receiverName: null, object: null, failure });
    }
  }
}

/** A master and what it logs, without the lines of INFO. */
async function withMaster(
  run: (master: { url: string; warnings: string[] }) => Promise<void>,
): Promise<void> {
  const warnings: string[] = [];
  const restore = setLogSink((line) => {
    if (/ (WARN|ERROR) /.test(line)) warnings.push(line);
  });
  const conf = new SparkConf();
  const master = await startMaster({ host: HOST, port: 0, conf });
  try {
    await run({ url: master.url, warnings });
  } finally {
    await master.close();
    restore();
  }
}

function nameOf(object: JavaObject): string {
  return object.descriptor.name.split("$").at(-1)!;
}

function textIn(object: JavaObject, field: string): unknown {
  return (fieldOf(object, field) as { value?: unknown } | undefined)?.value;
}

/** The same text of as many bytes, in place of another. */
function replaceText(
  bytes: Uint8Array,
  from: string,
  to: string,
): Uint8Array {
  const latin1 = (text: string) =>
    Uint8Array.from(text, (char) => char.charCodeAt(0));
  const changed = bytes.slice();
  const needle = latin1(from);
  for (let at = 0; at + needle.length <= bytes.length; at++) {
    if (needle.every((byte, i) => bytes[at + i] === byte)) {
      changed.set(latin1(to), at);
    }
  }
  return changed;
}

for (const release of CAPTURED_RELEASES) {
  Deno.test(`master: a driver of Spark ${release} registers, gets executors, asks for more, gives them back and leaves`, async () => {
    await withMaster(async ({ url, warnings }) => {
      const worker = await RpcEnv.create({
        host: HOST,
        port: 0,
        conf: new SparkConf(),
      });
      const asked: { type: string; execId?: number }[] = [];
      const ref = worker.register("Worker", {
        receive: (message) => void asked.push(message as { type: string }),
      });
      const master = { name: "Master", address: parseSparkUrl(url) };
      worker.send(master, {
        ...workerRegistration({ ...ref.address, worker: ref, id: "w" }),
      });
      {
        using driver = await Driver.connect(url, DRIVER_PORTS[release]);
        const exists = await driver.ask(
          "endpoint-verifier",
          capturedBytes(release, "CheckExistence"),
        );
        assertEquals(fieldOf(exists.object as JavaObject, "value"), true);

        await driver.tell(
          "Master",
          capturedBytes(release, "RegisterApplication"),
        );
        const registered = await driver.message(0);
        assertEquals(nameOf(registered), "RegisteredApplication");
        const appId = textIn(registered, "appId") as string;
        // As every 20 s, until the driver has its answer.
        await driver.tell(
          "Master",
          capturedBytes(release, "RegisterApplication"),
        );
        assertEquals(textIn(await driver.message(1), "appId"), appId);

        // Its executor limit was 0, and this asks for one.
        const mine = (message: string) =>
          replaceText(
            capturedBytes(release, message),
            release === "3.5.9"
              ? "app-20261201025254-0000"
              : "app-20261201025337-0000",
            appId,
          );
        const wanted = release === "3.5.9"
          ? "RequestExecutors_2"
          : "RequestExecutors_3";
        const taken = await driver.ask("Master", mine(wanted));
        assertEquals(fieldOf(taken.object as JavaObject, "value"), true);
        const added = await driver.message(2);
        assertEquals(nameOf(added), "ExecutorAdded");
        assertEquals(fieldOf(added, "id"), 0);

        await worker.ask(master, {
          type: "ExecutorStateChanged",
          appId,
          execId: 0,
          state: "RUNNING",
          message: null,
          exitStatus: null,
        });
        const updated = await driver.message(3);
        assertEquals(nameOf(updated), "ExecutorUpdated");
        const state = fieldOf(updated, "state") as JavaObject;
        assertEquals(fieldOf(state, "i"), 1);

        const killed = await driver.ask("Master", mine("KillExecutors"));
        assertEquals(fieldOf(killed.object as JavaObject, "value"), true);
        await eventually(
          "the worker is asked to kill it",
          () =>
            asked.some(({ type, execId }) =>
              type === "KillExecutor" && execId === 0
            ),
        );
        await driver.tell("Master", mine("UnregisterApplication"));
        await eventually(
          "the worker hears of the end",
          () => asked.some(({ type }) => type === "ApplicationFinished"),
        );
      }
      const { completedApps } = await worker.ask<MasterStateResponse>(master, {
        type: "RequestMasterState",
      });
      assertEquals(completedApps.map(({ name, state }) => [name, state]), [[
        "captured",
        "FINISHED",
      ]]);
      assertEquals(warnings.length, 1);
      assertStringIncludes(warnings[0], "registered again");
      await worker.close();
    });
  });
}

Deno.test("master: a driver of a release that isn't known is told so, with one line in the log, and harms no other", async () => {
  await withMaster(async ({ url, warnings }) => {
    using stranger = await Driver.connect(url, 40_001);
    using driver = await Driver.connect(url, DRIVER_PORTS["3.5.9"]);
    const change = (descriptor: ClassDescriptor): ClassDescriptor => ({
      ...descriptor,
      serialVersionUID: 7n,
    });
    const object = readJavaObject(
      capturedBytes("4.3.0", "RegisterApplication"),
    ) as JavaObject;
    const descriptor = change(object.descriptor);
    const unknown = javaObjectBytes({
      ...object,
      descriptor,
      data: [{ ...object.data[0], descriptor }],
    });
    await stranger.tell("Master", unknown);
    const told = await stranger.message(0) as unknown as { value: string };
    assertStringIncludes(
      told.value,
      "of no release of Spark that sparkts knows",
    );
    await stranger.tell("Master", unknown);
    await stranger.message(1);
    assertEquals(warnings.length, 1);
    for (
      const part of [
        "RegisterApplication has the serialVersionUID 7",
        "1314361325537467148 in 4.0, 4.1/4.2, 4.3",
        "Supported are Spark 3.4/3.5, 4.0, 4.1/4.2, 4.3",
      ]
    ) assertStringIncludes(warnings[0], part);

    await driver.tell("Master", capturedBytes("3.5.9", "RegisterApplication"));
    assertEquals(nameOf(await driver.message(0)), "RegisteredApplication");
  });
});

Deno.test("master: what it doesn't take from Spark yet fails the ask by name, and the connection stays", async () => {
  await withMaster(async ({ url, warnings }) => {
    using peer = await Driver.connect(url, 40_002);
    const { failure } = await peer.ask(
      "Master",
      capturedBytes("4.3.0", "ExecutorStateChanged"),
    );
    assertEquals(
      failure,
      "sparkts takes no ExecutorStateChanged from a Spark process yet.",
    );
    assertEquals(warnings.length, 1);
    const exists = await peer.ask(
      "endpoint-verifier",
      capturedBytes("4.3.0", "CheckExistence"),
    );
    assertEquals(fieldOf(exists.object as JavaObject, "value"), true);
  });
});
