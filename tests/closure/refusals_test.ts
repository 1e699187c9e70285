import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { captureOnce } from "./round_trip.ts";
import {
  ClosureCaptureError,
  ClosureCapturer,
  ClosureRestoreError,
  restoreClosure,
  travel,
} from "../../lib/closure/mod.ts";

async function refusal(
  value: unknown,
  options: { limit?: number; name?: string } = {},
): Promise<string> {
  const error = await assertRejects(
    () => captureOnce(value, options),
    ClosureCaptureError,
  );
  return error.message;
}

Deno.test("closure: a socket is refused by variable and function", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const accepting = listener.accept();
  const socket = await Deno.connect({
    port: listener.addr.port,
    hostname: "127.0.0.1",
  });
  const other = await accepting;
  try {
    const message = await refusal(function send() {
      return socket.write(new Uint8Array(1));
    });
    const source = await Deno.readTextFile(new URL(import.meta.url));
    const line = source.split("\n").findIndex((each) =>
      each.includes("function send() {")
    );
    const column = source.split("\n")[line]!.indexOf("function send() {");
    assertEquals(
      message,
      `Cannot send the function "send" (refusals_test.ts:${line + 1}:${
        column + 1
      }): ` +
        'it captures "socket", a Deno.TcpConn, which cannot travel to an executor.',
    );
  } finally {
    socket.close();
    other.close();
    listener.close();
  }
});

Deno.test("closure: a file deep in a captured object is named by its path", async () => {
  const path = await Deno.makeTempFile();
  const file = await Deno.open(path);
  const config = { outputs: [{ file }] };
  try {
    assertStringIncludes(
      await refusal(() => config.outputs.length),
      'it captures "config.outputs[0].file", a Deno.FsFile, which cannot travel',
    );
  } finally {
    file.close();
    await Deno.remove(path);
  }
});

Deno.test("closure: runtime objects that have no meaning elsewhere are refused", async () => {
  function* generator() {
    yield 1;
  }
  const kinds: [unknown, string][] = [
    [new WeakMap(), "a WeakMap"],
    [new WeakSet(), "a WeakSet"],
    [new WeakRef({}), "a WeakRef"],
    [Promise.resolve(1), "a Promise"],
    [new Proxy({}, {}), "a Proxy"],
    [new Proxy(() => {}, {}), "a Proxy"],
    [generator(), "a generator in progress"],
    [new Map().entries(), "an iterator in progress"],
    [[1].values(), "an iterator in progress"],
    [Symbol("own"), "the unregistered Symbol(own)"],
    [new SharedArrayBuffer(8), "a SharedArrayBuffer"],
    [new AbortController().signal, "an AbortSignal"],
    [new (class Own extends EventTarget {})(), "an Own"],
    [new Response("x"), "a Response"],
  ];
  for (const [subject, what] of kinds) {
    const message = await refusal(() => subject);
    assertStringIncludes(message, `it captures "subject", ${what}`);
  }
});

Deno.test("closure: an object says itself that it stays", async () => {
  class SparkContext {
    [travel]() {
      return { refuse: "a SparkContext" };
    }
  }
  const sc = new SparkContext();
  assertStringIncludes(
    await refusal(() => sc),
    'it captures "sc", a SparkContext, which cannot travel',
  );
});

Deno.test("closure: a variable before its initialisation", async () => {
  const early = refusal(() => later);
  const message = await early;
  const later = 1;
  assertEquals(later, 1);
  assertStringIncludes(
    message,
    'it captures "later", a variable, which is used before it is initialised',
  );
});

Deno.test("closure: direct eval, new.target and super of a function around it", async () => {
  // deno-lint-ignore no-eval -- the subject of this test
  assertStringIncludes(
    await refusal((code: string) => eval(code)),
    'it calls "eval"',
  );
  function Outer() {
    return () => new.target;
  }
  assertStringIncludes(await refusal(Outer()), '"new.target"');
  class Parent {
    hello() {
      return 1;
    }
  }
  class Child extends Parent {
    arrow() {
      return () => super.hello();
    }
  }
  assertStringIncludes(await refusal(new Child().arrow()), '"super"');
});

Deno.test("closure: a value that no function captures is named by the caller's name", async () => {
  assertEquals(
    await refusal({ a: new WeakMap() }, { name: "zero" }),
    'Cannot send "zero.a": it is a WeakMap, which cannot travel to an executor.',
  );
});

Deno.test("closure: a capture over the limit names its biggest variable and the remedy", async () => {
  const small = [1, 2, 3];
  const table = new Uint8Array(3 * 1_048_576);
  const message = await refusal(() => table.length + small.length, {
    limit: 2 * 1_048_576,
  });
  assertMatch(
    message,
    /limit of 2\.0 MiB \(3\.0 MiB so far\), most of it captured as "table" by the function "/,
  );
  assertStringIncludes(message, "sc.broadcast");
});

Deno.test("closure: many small values over the limit are refused while they are walked", async () => {
  const words = Array.from(
    { length: 50_000 },
    (_, index) => ({ word: `word ${index}` }),
  );
  assertStringIncludes(
    await refusal(() => words, { limit: 500_000 }),
    'captured as "words" by the function "',
  );
});

Deno.test("closure: after a refusal the capturer captures the next value", async () => {
  const capturer = new ClosureCapturer();
  try {
    await assertRejects(
      () => capturer.capture(new WeakMap()),
      ClosureCaptureError,
    );
    assertEquals(await restoreClosure(await capturer.capture([1])), [1]);
  } finally {
    capturer.close();
  }
  await assertRejects(() => capturer.capture([1]), Error, "closed");
});

Deno.test("closure: bytes that are no capture are refused", async () => {
  await assertRejects(
    () => restoreClosure(new Uint8Array()),
    ClosureRestoreError,
    "empty",
  );
  await assertRejects(
    () => restoreClosure(Uint8Array.of(99, 1, 2)),
    ClosureRestoreError,
    "version 99",
  );
  const bytes = await captureOnce(() => 1);
  await assertRejects(
    () => restoreClosure(bytes.slice(0, 20)),
    ClosureRestoreError,
    "damaged",
  );
});

Deno.test("closure: an unknown kind of traveller is refused where it is restored", async () => {
  const bytes = await captureOnce({
    [travel]: () => ({ kind: "toString", data: 1 }),
  });
  await assertRejects(
    () => restoreClosure(bytes),
    ClosureRestoreError,
    'revives a "toString"',
  );
});
