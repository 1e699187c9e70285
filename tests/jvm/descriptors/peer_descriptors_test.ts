import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  PeerDescriptors,
  SPARK_LINES,
  UnknownSparkLineError,
} from "../../../lib/jvm/descriptors/mod.ts";
import type { ClassDescriptor } from "../../../lib/jvm/stream/mod.ts";
import { capturedDescriptors, capturedMessages } from "../captured.ts";

const DEPLOY = "org.apache.spark.deploy.DeployMessages$";
const REF = "org.apache.spark.rpc.netty.NettyRpcEndpointRef";

function peerAfter(release: string, ...messages: string[]): PeerDescriptors {
  const peer = new PeerDescriptors();
  for (const message of messages) {
    for (const each of capturedDescriptors(release, message)) peer.see(each);
  }
  return peer;
}

function lineNames(peer: PeerDescriptors): string[] {
  return peer.lines.map(({ name }) => name);
}

function descriptor(
  name: string,
  serialVersionUID: bigint,
  superclass: ClassDescriptor | null = null,
): ClassDescriptor {
  return {
    kind: "descriptor",
    name,
    serialVersionUID,
    flags: 2,
    fields: [],
    annotation: [],
    superclass,
    proxyInterfaces: null,
  };
}

Deno.test("descriptors: a peer that sent nothing can be of every line, and is written to as the latest", () => {
  const peer = new PeerDescriptors();
  assertEquals(peer.lines, SPARK_LINES);
  assertEquals(peer.scala, "2.13");
  const latest = peerAfter("4.3.0", "RegisteredApplication");
  const name = `${DEPLOY}RegisteredApplication`;
  assertEquals(
    peer.get(name).serialVersionUID,
    latest.get(name).serialVersionUID,
  );
});

Deno.test("descriptors: the first message of a driver tells its line", () => {
  const old = peerAfter("3.5.9", "RegisterApplication");
  assertEquals(lineNames(old), ["3.4/3.5"]);
  assertEquals(old.scala, "2.12");
  const recent = peerAfter("4.3.0", "RegisterApplication");
  assertEquals(lineNames(recent), ["4.3"]);
  assertEquals(recent.scala, "2.13");
});

Deno.test("descriptors: the verifier's question tells which Scala a peer has", () => {
  assertEquals(peerAfter("3.5.9", "CheckExistence").scala, "2.12");
  const peer = peerAfter("4.3.0", "CheckExistence");
  assertEquals(lineNames(peer), ["4.0", "4.1/4.2", "4.3"]);
});

Deno.test("descriptors: a class that says less than what is known leaves the lines as they are", () => {
  const peer = peerAfter("4.3.0", "RegisterApplication");
  for (const each of capturedDescriptors("4.3.0", "CheckExistence")) {
    peer.see(each);
  }
  assertEquals(lineNames(peer), ["4.3"]);
});

Deno.test("descriptors: each message that 3.5.9 and 4.3.0 sent is of a line of that release", () => {
  for (const release of ["3.5.9", "4.3.0"]) {
    for (const message of capturedMessages(release)) {
      const peer = peerAfter(release, message);
      assert(
        peer.lines.some(({ releases }) => releases.includes(release)),
        `${release} ${message}: ${lineNames(peer)}`,
      );
    }
  }
});

Deno.test("descriptors: what a peer has not sent is as its own line has it", () => {
  for (const release of ["3.5.9", "4.3.0"]) {
    const peer = peerAfter(release, "RegisterApplication");
    const [expected] = capturedDescriptors(release, "RegisteredApplication")
      .filter(({ name }) => name === `${DEPLOY}RegisteredApplication`);
    assertEquals(peer.get(expected.name), expected);
  }
});

Deno.test("descriptors: a class is one object however often it is asked for or seen", () => {
  const peer = peerAfter("4.3.0", "CheckExistence");
  const name = `${DEPLOY}ExecutorAdded`;
  assertStrictEquals(peer.get(name), peer.get(name));
  const ref = peer.get(REF);
  assertStrictEquals(ref, peer.get(REF));
  assertStrictEquals(ref.superclass, peer.get(ref.superclass!.name));

  for (const message of ["RegisterApplication", "RegisterWorker"]) {
    for (const each of capturedDescriptors("4.3.0", message)) peer.see(each);
  }
  const own = peer.get(REF);
  assertStrictEquals(own.superclass, peer.get(own.superclass!.name));
});

Deno.test("descriptors: a class that comes in a second message extends the one of the first", () => {
  const peer = new PeerDescriptors();
  const option = capturedDescriptors("4.3.0", "ExecutorUpdated")
    .find(({ name }) => name === "scala.Option")!;
  const some = capturedDescriptors("4.3.0", "RequestExecutors")
    .find(({ name }) => name === "scala.Some")!;
  assertNotStrictEquals(some.superclass, option);
  peer.see(option);
  peer.see(some);
  assertEquals(peer.get("scala.Some"), some);
  assertStrictEquals(
    peer.get("scala.Some").superclass,
    peer.get("scala.Option"),
  );
});

Deno.test("descriptors: a class from the table extends the peer's own", () => {
  const peer = new PeerDescriptors();
  const [option] = capturedDescriptors("4.3.0", "RequestExecutors")
    .filter(({ name }) => name === "scala.Option");
  peer.see(option);
  const some = peer.get("scala.Some");
  assertStrictEquals(some.superclass, peer.get("scala.Option"));
});

Deno.test("descriptors: a class from the table is given anew once the peer's line is known", () => {
  const peer = new PeerDescriptors();
  const name = `${DEPLOY}ExecutorAdded`;
  const before = peer.get(name);
  for (const each of capturedDescriptors("3.5.9", "RegisterApplication")) {
    peer.see(each);
  }
  assertNotStrictEquals(peer.get(name), before);
  assert(peer.get(name).serialVersionUID !== before.serialVersionUID);
});

Deno.test("descriptors: a peer's own fields and flags are taken when the number is the table's", () => {
  const peer = new PeerDescriptors();
  const name = `${DEPLOY}ExecutorAdded`;
  const changed = {
    ...descriptor(name, peer.get(name).serialVersionUID),
    flags: 3,
    fields: [{ type: "J", name: "more", className: null }] as const,
  };
  peer.see(changed);
  assertEquals(peer.get(name), changed);
});

Deno.test("descriptors: a class that the table doesn't have tells nothing and is kept", () => {
  const peer = new PeerDescriptors();
  peer.see(descriptor("com.example.Lambda", 5n));
  assertEquals(peer.lines, SPARK_LINES);
  assertEquals(peer.get("com.example.Lambda").serialVersionUID, 5n);
});

Deno.test("descriptors: a class that nobody knows can't be had", () => {
  assertThrows(
    () => new PeerDescriptors().get("com.example.Unknown"),
    TypeError,
    "com.example.Unknown",
  );
});

Deno.test("descriptors: a number that no line has is told with the class, the number and the lines' own", () => {
  const name = `${DEPLOY}RegisterApplication`;
  const { message } = assertThrows(
    () => new PeerDescriptors().see(descriptor(name, 9007199254740993n)),
    UnknownSparkLineError,
  );
  for (
    const part of [
      name,
      "9007199254740993",
      "-5495080032843259921 in 3.4/3.5",
      "1314361325537467148 in 4.0, 4.1/4.2, 4.3",
    ]
  ) assert(message.includes(part), `${part} is not in: ${message}`);
});

Deno.test("descriptors: numbers that differ only beyond a double's precision are not the same", () => {
  const peer = new PeerDescriptors();
  const name = `${DEPLOY}RegisterApplication`;
  const almost = peer.get(name).serialVersionUID + 1n;
  assertEquals(Number(almost), Number(almost - 1n));
  assertThrows(() => peer.see(descriptor(name, almost)), UnknownSparkLineError);
});

Deno.test("descriptors: classes of two lines in one peer are refused, and what was known stays", () => {
  const peer = peerAfter("3.5.9", "CheckExistence");
  const [later] = capturedDescriptors("4.3.0", "RegisterApplication")
    .filter(({ name }) => name === `${DEPLOY}RegisterApplication`);
  assertThrows(() => peer.see(later), UnknownSparkLineError);
  assertEquals(lineNames(peer), ["3.4/3.5"]);
  assertEquals(peer.get(later.name).serialVersionUID, -5495080032843259921n);
});
