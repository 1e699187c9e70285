import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  bytesStream,
  fileStream,
  RpcConnectionError,
  RpcError,
  StreamError,
  type StreamSource,
} from "../../lib/rpc/mod.ts";
import { encodeFrame, joined } from "./frames.ts";
import { Bench, eventually, gate, reasonOf } from "./support.ts";

/** Bytes that differ from place to place, and from one stream to another. */
function pattern(size: number, seed: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed) & 0xff);
}

async function serverAndClient(
  bench: Bench,
  streams: Record<string, StreamSource>,
) {
  const server = await bench.server();
  server.serveStreams((id) => streams[id]);
  const client = await bench.client();
  const fetchBytes = async (id: string) =>
    await (await client.fetchStream(server.address!, id)).bytes();
  return { server, client, fetchBytes, address: server.address! };
}

// StreamSuite
Deno.test("streams: of 0 B, 100 B, 100 kB and a file, 20 in a row and 20 at once on one connection", async () => {
  await using bench = new Bench();
  const path = await Deno.makeTempFile();
  try {
    const file = pattern(300_000, 9);
    await Deno.writeFile(path, file);
    const wanted: Record<string, Uint8Array> = {
      empty: new Uint8Array(),
      small: pattern(100, 1),
      large: pattern(100_000, 2),
      "a file": file,
      "part of a file": file.slice(1000, 290_000),
    };
    const { fetchBytes } = await serverAndClient(bench, {
      empty: bytesStream(wanted.empty),
      small: bytesStream(wanted.small),
      large: bytesStream(wanted.large),
      "a file": fileStream(path, { offset: 0, length: file.length }),
      "part of a file": fileStream(path, { offset: 1000, length: 289_000 }),
    });
    const ids = Object.keys(wanted);
    for (let i = 0; i < 20; i++) {
      const id = ids[i % ids.length];
      assertEquals(await fetchBytes(id), wanted[id]);
    }
    await Promise.all(Array.from({ length: 20 }, async (_, i) => {
      const id = ids[i % ids.length];
      assertEquals(await fetchBytes(id), wanted[id]);
    }));
    assertEquals(bench.lines, []);
  } finally {
    await Deno.remove(path);
  }
});

// TransportRequestHandlerSuite
Deno.test("streams: an id that nobody knows fails alone, also between others that are on their way", async () => {
  await using bench = new Bench();
  const { fetchBytes } = await serverAndClient(bench, {
    a: bytesStream(pattern(500_000, 1)),
    b: bytesStream(pattern(10, 2)),
  });
  const results = await Promise.allSettled(
    ["a", "missing", "b", "gone", "a"].map(fetchBytes),
  );
  assertEquals(
    results.map((each) =>
      each.status === "fulfilled" ? each.value.length : each.reason.message
    ),
    [
      500_000,
      "Stream 'missing' was not found.",
      10,
      "Stream 'gone' was not found.",
      500_000,
    ],
  );
  assert(reasonOf(results[1]) instanceof StreamError);
  assertEquals(bench.lines, []);
});

Deno.test("streams: a provider that throws fails that fetch alone, in its own words", async () => {
  await using bench = new Bench();
  const { server, fetchBytes } = await serverAndClient(bench, {
    a: bytesStream(pattern(10, 2)),
  });
  server.serveStreams((id) => {
    throw new Error(`${id} is a bad id`);
  });
  await assertRejects(() => fetchBytes("x"), StreamError, "x is a bad id");
  assertEquals((await fetchBytes("a")).length, 10);
});

Deno.test("streams: messages and streams share no connection", async () => {
  await using bench = new Bench();
  const held = gate();
  const { server, client, fetchBytes } = await serverAndClient(bench, {
    slow: {
      byteCount: 1,
      async *read() {
        await held.promise;
        yield new Uint8Array(1);
      },
    },
  });
  const echo = server.register("Echo", {
    receiveAndReply: (message, context) => context.reply(message),
  });
  const slow = fetchBytes("slow");
  assertEquals(await client.ask(echo, { n: 1 }), { n: 1 });
  held.resolve();
  assertEquals((await slow).length, 1);
});

for (
  const [name, source] of Object.entries<StreamSource>({
    "fails midway": {
      byteCount: 1000,
      *read() {
        yield new Uint8Array(500);
        throw new Error("the disk is gone");
      },
    },
    "ends too soon": {
      byteCount: 1000,
      *read() {
        yield new Uint8Array(500);
      },
    },
    "gives too much": {
      byteCount: 1000,
      *read() {
        yield new Uint8Array(500);
        yield new Uint8Array(501);
      },
    },
  })
) {
  Deno.test(`streams: a source that ${name} closes its connection, and the next fetch works`, async () => {
    await using bench = new Bench();
    const { fetchBytes } = await serverAndClient(bench, {
      bad: source,
      good: bytesStream(pattern(10, 3)),
    });
    const [bad, behind] = await Promise.allSettled(
      ["bad", "good"].map(fetchBytes),
    );
    assert(reasonOf(bad) instanceof RpcConnectionError);
    assert(reasonOf(behind) instanceof RpcConnectionError);
    assertEquals(await fetchBytes("good"), pattern(10, 3));
    // Only the serving side knows why.
    assert(
      bench.lines.some((line) =>
        line.includes("the disk is gone") || line.includes("1000 bytes")
      ),
    );
  });
}

Deno.test("streams: a file that is shorter than was said closes the connection with the reason", async () => {
  await using bench = new Bench();
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeFile(path, new Uint8Array(10));
    const { fetchBytes } = await serverAndClient(bench, {
      short: fileStream(path, { offset: 5, length: 10 }),
      missing: fileStream(`${path}.none`, { offset: 0, length: 10 }),
    });
    await assertRejects(() => fetchBytes("short"), RpcConnectionError);
    await assertRejects(() => fetchBytes("missing"), RpcConnectionError);
    await eventually(
      "both lines",
      () =>
        bench.lines.some((line) => line.includes("5 bytes before the end")) &&
        bench.lines.some((line) => line.includes("No such file")),
    );
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("streams: a slow reader holds up the source instead of filling memory", async () => {
  await using bench = new Bench();
  const chunk = new Uint8Array(64 * 1024);
  const total = 64 * 1024 * 1024;
  let produced = 0;
  const { client, address } = await serverAndClient(bench, {
    long: {
      byteCount: total,
      *read() {
        for (; produced < total; produced += chunk.length) yield chunk;
      },
    },
  });
  const stream = await client.fetchStream(address, "long");
  // What it stops at: a megabyte of ours and what the sockets hold.
  let before = -1;
  while (before !== produced) {
    before = produced;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert(produced < total / 2, `${produced}`);
  let received = 0;
  for await (const bytes of stream) received += bytes.length;
  assertEquals(received, total);
});

Deno.test("streams: one that its fetcher leaves or cancels doesn't hold up those behind it", async () => {
  await using bench = new Bench();
  const { client, fetchBytes, address } = await serverAndClient(bench, {
    long: bytesStream(new Uint8Array(8 * 1024 * 1024)),
    short: bytesStream(pattern(100, 5)),
  });
  const left = await client.fetchStream(address, "long");
  for await (const _ of left) break;
  assertEquals(await fetchBytes("short"), pattern(100, 5));
  const cancelled = await client.fetchStream(address, "long");
  cancelled.cancel();
  assertEquals(await fetchBytes("short"), pattern(100, 5));
  const thrown = await client.fetchStream(address, "long");
  await assertRejects(async () => {
    for await (const _ of thrown) throw new Error("reader failed");
  });
  assertEquals(await fetchBytes("short"), pattern(100, 5));
});

Deno.test("streams: cancelled while its reader waits, the reader ends", async () => {
  await using bench = new Bench();
  const held = gate();
  const { client, address } = await serverAndClient(bench, {
    slow: {
      byteCount: 10,
      async *read() {
        yield new Uint8Array(5);
        await held.promise;
        yield new Uint8Array(5);
      },
    },
  });
  const stream = await client.fetchStream(address, "slow");
  let received = 0;
  for await (const bytes of stream) {
    received += bytes.length;
    if (received === 5) queueMicrotask(() => stream.cancel());
  }
  assertEquals(received, 5);
  held.resolve();
});

// TransportResponseHandlerSuite
Deno.test("streams: all that wait fail when the server goes away, the one that is read also", async () => {
  await using bench = new Bench();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = await bench.client();
  const address = { host: "127.0.0.1", port: listener.addr.port };
  const fetches = ["a", "b", "c"].map(async (id) =>
    await (await client.fetchStream(address, id)).bytes()
  );
  const socket = await listener.accept();
  await socket.write(joined([
    encodeFrame({ type: 7, streamId: "a", byteCount: 1_000_000 }),
    new Uint8Array(100),
  ]));
  const results = Promise.allSettled(fetches);
  const buffer = new Uint8Array(1000);
  await socket.read(buffer);
  socket.close();
  listener.close();
  for (const result of await results) {
    assert(reasonOf(result) instanceof RpcConnectionError);
  }
});

Deno.test("streams: from a port where nobody listens, and after close, fetching fails", async () => {
  await using bench = new Bench();
  const { server, client, fetchBytes } = await serverAndClient(bench, {});
  await server.close();
  await assertRejects(() => fetchBytes("a"), RpcConnectionError);
  await client.close();
  const error = await assertRejects(() => fetchBytes("a"), RpcError);
  assertStringIncludes(error.message, "closing");
});

Deno.test("streams: a server that closes lets what it sends come to its end", async () => {
  await using bench = new Bench();
  const { server, client, address } = await serverAndClient(bench, {
    long: bytesStream(pattern(4_000_000, 4)),
  });
  const stream = await client.fetchStream(address, "long");
  const [bytes] = await Promise.all([stream.bytes(), server.close()]);
  assertEquals(bytes.length, 4_000_000);
});
