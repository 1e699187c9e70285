import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { RpcError } from "../../lib/rpc/mod.ts";
import { Bench, eventually, gate, type Note } from "./support.ts";

// RpcEnvSuite
Deno.test("endpoint: registered and unregistered, it sees start, then stop", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const seen: string[] = [];
  env.register("E", {
    onStart: () => void seen.push("start"),
    onStop: () => void seen.push("stop"),
  });
  await Promise.all([env.unregister("E"), env.unregister("E")]);
  await env.close();
  assertEquals(seen, ["start", "stop"]);
});

Deno.test("endpoint: a name is taken until it is given back, and none is given when closed", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  env.register("E", {});
  assertThrows(() => env.register("E", {}), RpcError, "E");
  await env.unregister("E");
  env.register("E", {});
  await env.close();
  assertThrows(() => env.register("F", {}), RpcError, "closing");
});

// RpcEnvSuite
Deno.test("endpoint: ten senders with their own connections, no message overlaps another and each sender's come in order", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const last = new Map<unknown, unknown>();
  let running = 0;
  let count = 0;
  const ref = server.register("Counter", {
    async receive(message) {
      assertEquals(++running, 1);
      const { sender, n } = message as unknown as { sender: number; n: number };
      assertEquals(n, Number(last.get(sender) ?? -1) + 1);
      last.set(sender, n);
      if (n % 10 === 0) await Promise.resolve();
      count++;
      running--;
    },
  });
  for (let sender = 0; sender < 10; sender++) {
    const client = await bench.client();
    void (async () => {
      for (let n = 0; n < 300; n++) {
        client.send(ref, { type: "Add", sender, n });
        if (n % 50 === 49) await Promise.resolve();
      }
    })();
  }
  await eventually("all messages", () => count === 3000);
  assertEquals(bench.lines, []);
});

Deno.test("endpoint: messages and asks sent while the connection is made and after keep their order", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const seen: unknown[] = [];
  const ref = server.register("Log", {
    receive: (message) => void seen.push((message as Note).n),
    receiveAndReply(message, context) {
      seen.push((message as Note).n);
      context.reply(null);
    },
  });
  // An endpoint that hears of the connection and sends over it at once.
  client.register("Eager", {
    onConnected: () => client.send(ref, { type: "Eager", n: "eager" }),
  });
  const asks: Promise<unknown>[] = [];
  for (let n = 0; n < 200; n++) {
    if (n % 3 === 0) asks.push(client.ask(ref, { type: "A", n }));
    else client.send(ref, { type: "M", n });
    if (n > 50) await Promise.resolve();
  }
  await Promise.all(asks);
  await eventually("all messages", () => seen.length === 201);
  assertEquals(
    seen.filter((n) => n !== "eager"),
    Array.from({ length: 200 }, (_, n) => n),
  );
});

Deno.test("endpoint: both sides dial at once, and each side's messages keep their order", async () => {
  await using bench = new Bench();
  for (let round = 0; round < 5; round++) {
    const envs = [await bench.server(), await bench.server()];
    const seen: unknown[][] = [[], []];
    const refs = envs.map((env, i) =>
      env.register("Log", {
        receive: (message) => void seen[i].push((message as Note).n),
      })
    );
    for (let n = 0; n < 300; n++) {
      envs[0].send(refs[1], { type: "M", n });
      envs[1].send(refs[0], { type: "M", n });
      if (n % 20 === 19) await new Promise((resolve) => setTimeout(resolve));
    }
    await eventually("all", () => seen.every((list) => list.length === 300));
    const wanted = Array.from({ length: 300 }, (_, n) => n);
    assertEquals(seen, [wanted, wanted]);
    await Promise.all(envs.map((env) => env.close()));
  }
});

Deno.test("endpoint: one that is blocked holds up no other", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const held = gate();
  const slow = server.register("Slow", {
    async receiveAndReply(_, context) {
      await held.promise;
      context.reply("slow");
    },
  });
  const quick = server.register("Quick", {
    receiveAndReply: (_, context) => context.reply("quick"),
  });
  const answer = client.ask(slow, { type: "A" });
  assertEquals(await client.ask(quick, { type: "A" }), "quick");
  held.resolve();
  assertEquals(await answer, "slow");
});

Deno.test("endpoint: one may unregister itself in a handler, and wait for it", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const seen: string[] = [];
  const ref = server.register("Once", {
    async receiveAndReply(_, context) {
      await server.unregister("Once");
      seen.push("handled");
      context.reply(true);
    },
    onStop: () => void seen.push("stop"),
  });
  assertEquals(await client.ask(ref, { type: "A" }), true);
  await eventually("the stop", () => seen.length === 2);
  assertEquals(seen, ["handled", "stop"]);
  await assertRejects(() => client.ask(ref, { type: "A" }), RpcError, "Once");
});

Deno.test("endpoint: one that is flooded may wait for an answer of the peer that floods it", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const begun = gate();
  const flooded = gate();
  let handled = 0;
  const back = client.register("Back", {
    receiveAndReply: (_, context) => context.reply("back"),
  });
  const ref = server.register("Flooded", {
    async receive(_, sender) {
      if (handled++ > 0) return;
      begun.resolve();
      await flooded.promise;
      // More than the high-water mark is queued behind this message.
      await server.ask({ name: back.name, address: sender }, { type: "A" });
    },
  });
  client.send(ref, { type: "First" });
  await begun.promise;
  for (let n = 0; n < 30_000; n++) client.send(ref, { type: "M", n });
  await new Promise((resolve) => setTimeout(resolve, 50));
  flooded.resolve();
  await eventually("all messages", () => handled === 30_001);
  assertEquals(bench.lines, []);
});

Deno.test("endpoint: one that is behind holds up its senders instead of queueing without end", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const held = gate();
  let handled = 0;
  const ref = server.register("Behind", {
    async receive() {
      await held.promise;
      handled++;
    },
  });
  const text = "x".repeat(1000);
  await client.lookup(ref);
  for (let n = 0; n < 20_000; n++) client.send(ref, { type: "M", text });
  // A second connection is read on: what is held up is only the reading.
  const other = await bench.client();
  const echo = server.register("Echo", {
    receiveAndReply: (_, context) => context.reply(1),
  });
  assertEquals(handled, 0);
  held.resolve();
  await eventually("all messages", () => handled === 20_000);
  assertEquals(await other.ask(echo, {}), 1);
  assert(bench.lines.length === 0);
});

// RpcEnvSuite
Deno.test("endpoint: what a handler throws without an error hook is one line in the log", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const ref = env.register("Broken", {
    receive: () => {
      throw new Error("Oops");
    },
  });
  env.send(ref, { type: "A" });
  await eventually("the line", () => bench.lines.length > 0);
  assertEquals(bench.lines.length, 1);
  assert(bench.lines[0].endsWith("Broken failed to handle a message: Oops"));
});
