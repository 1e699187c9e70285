import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  type Machine,
  type MachineEffect,
  type MachineEvent,
  RpcError,
  runMachine,
} from "../../lib/rpc/mod.ts";
import { Bench, eventually, gate, type Note, registerEcho } from "./support.ts";

type Own = { readonly type: "poke"; readonly n: number };
type Event = MachineEvent<Note> | Own;
type Effect = MachineEffect | { readonly type: "own"; readonly n: number };

/** A machine that does what it is told by the event, and notes all events. */
function machineOf(react: (event: Event) => Effect[]) {
  const events: Event[] = [];
  const machine: Machine<Event, Effect> = {
    handle(event, now) {
      assert(Math.abs(now - Date.now()) < 10_000);
      events.push(event);
      return react(event);
    },
  };
  return { machine, events };
}

function run(
  env: Parameters<typeof runMachine>[0],
  react: (event: Event) => Effect[],
  carryOut: (effect: { type: "own"; n: number }) => void = () => {},
) {
  const { machine, events } = machineOf(react);
  const host = runMachine<Note, Own, Effect>(env, "Machine", machine, carryOut);
  return { host, events };
}

Deno.test("machine host: start comes after the caller's turn, so its effects may use the host", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const own: number[] = [];
  const { host, events } = run(
    env,
    (event) => event.type === "start" ? [{ type: "own", n: 7 }] : [],
    (effect) => {
      own.push(effect.n);
      host.dispatch({ type: "poke", n: effect.n + 1 });
    },
  );
  assertEquals(events, []);
  await eventually("both events", () => events.length === 2);
  assertEquals(events, [{ type: "start" }, { type: "poke", n: 8 }]);
  assertEquals(own, [7]);
  await host.close();
});

Deno.test("machine host: messages come with their sender, asks are answered by effects", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const other = await bench.server();
  const { host } = run(server, (event) => {
    if (event.type !== "message" || event.reply === null) return [];
    const { type } = event.message;
    return type === "Good"
      ? [{ type: "reply", to: event.reply, value: event.sender }]
      : [{ type: "replyFailure", to: event.reply, error: "Oops" }];
  });
  assertEquals(await other.ask(host.ref, { type: "Good" }), other.address);
  await assertRejects(
    () => other.ask(host.ref, { type: "Bad" }),
    RpcError,
    "Oops",
  );
  await host.close();
});

Deno.test("machine host: an answer may come with a later event", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  let waiting = -1;
  const { host, events } = run(env, (event) => {
    if (event.type === "poke") {
      return [{ type: "reply", to: waiting, value: event.n }];
    }
    if (event.type === "message") waiting = event.reply!;
    return [];
  });
  const answer = env.ask(host.ref, { type: "Later" });
  await eventually("the ask", () => events.length === 2);
  host.dispatch({ type: "poke", n: 3 });
  assertEquals(await answer, 3);
  await host.close();
});

Deno.test("machine host: sends and asks go out, and what comes of an ask comes back once", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const echo = registerEcho(env);
  const silent = env.register("Silent", { receiveAndReply: () => {} });
  const gone = { ...echo, name: "Gone" };
  const { host, events } = run(env, (event) => {
    if (event.type !== "start") return [];
    const message = { type: "Ping" };
    return [
      { type: "ask", to: echo, message, token: "echo" },
      { type: "ask", to: gone, message, token: "gone" },
      { type: "ask", to: silent, message, token: "silent", timeout: 5 },
      { type: "send", to: env.refTo("Machine"), message },
    ];
  });
  await eventually("all", () => events.length === 5);
  assertEquals(
    events.map((event) => "token" in event ? [event.type, event.token] : event)
      .slice(0, 1),
    [{ type: "start" }],
  );
  const ends = events.filter((event) => "token" in event);
  assertEquals(ends.map(({ token }) => token).toSorted(), [
    "echo",
    "gone",
    "silent",
  ]);
  for (const end of ends) {
    if (end.type === "answer") {
      assertEquals(end, {
        type: "answer",
        token: "echo",
        value: { type: "Ping" },
      });
    } else {
      assertEquals(end.timedOut, end.token === "silent");
      assert(end.error.length > 0);
    }
  }
  await host.close();
});

Deno.test("machine host: timers fire once, start anew, and can be cleared", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const { host, events } = run(env, (event) =>
    event.type === "start"
      ? [
        { type: "setTimer", timer: "a", after: 1 },
        { type: "setTimer", timer: "b", after: 2 },
        { type: "setTimer", timer: "c", after: 1 },
        { type: "clearTimer", timer: "b" },
        { type: "clearTimer", timer: "never set" },
        { type: "setTimer", timer: "a", after: 30 },
      ]
      : []);
  await eventually("the timers", () => events.length === 3);
  assertEquals(events.slice(1), [
    { type: "timer", timer: "c" },
    { type: "timer", timer: "a" },
  ]);
  await host.close();
});

Deno.test("machine host: a peer that goes away is an event", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const peer = await bench.server();
  const { host, events } = run(env, () => []);
  peer.send(host.ref, { type: "Hello" });
  await eventually("the message", () => events.length === 2);
  await peer.close();
  await eventually("the end", () => events.length === 3);
  assertEquals(events[2], { type: "disconnected", address: peer.address! });
  await host.close();
});

Deno.test("machine host: exit gives code and reason", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const { host } = run(
    env,
    () => [{ type: "exit", code: 1, reason: "All masters are unresponsive" }],
  );
  assertEquals(await host.exited, {
    code: 1,
    reason: "All masters are unresponsive",
  });
  await host.close();
});

Deno.test("machine host: all effects of one event come before the next event", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const order: string[] = [];
  const { host } = run(env, (event) => {
    if (event.type !== "poke") return [];
    order.push(`event ${event.n}`);
    return event.n < 3
      ? [{ type: "own", n: event.n }, { type: "own", n: 100 + event.n }]
      : [];
  }, (effect) => {
    order.push(`effect ${effect.n}`);
    if (effect.n < 3) host.dispatch({ type: "poke", n: effect.n + 1 });
  });
  host.dispatch({ type: "poke", n: 1 });
  assertEquals(order, [
    "event 1",
    "effect 1",
    "effect 101",
    "event 2",
    "effect 2",
    "effect 102",
    "event 3",
  ]);
  await host.close();
});

Deno.test("machine host: a machine that throws fails the ask, logs, and goes on", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const { host } = run(env, (event) => {
    switch (event.type) {
      case "start":
        return [
          {
            type: "ask",
            to: registerEcho(env),
            message: { type: "Ping" },
            token: "t",
          },
          { type: "setTimer", timer: "t", after: 1 },
        ];
      case "message":
        if (event.message.type === "Fine") {
          return [{ type: "reply", to: event.reply!, value: "fine" }];
        }
    }
    throw new Error(`broken by ${event.type}`);
  });
  await assertRejects(
    () => env.ask(host.ref, { type: "Break" }),
    Error,
    "broken by message",
  );
  host.dispatch({ type: "poke", n: 1 });
  await eventually("all lines", () => bench.lines.length === 4);
  for (const type of ["message", "poke", "timer", "answer"]) {
    const lines = bench.lines.filter((line) =>
      line.endsWith(`broken by ${type}`)
    );
    assertEquals(lines.length, 1, type);
    assertStringIncludes(lines[0], "ERROR Machine: Failed to handle");
  }
  assertEquals(await env.ask(host.ref, { type: "Fine" }), "fine");
  await host.close();
});

// NettyRpcEnvSuite: a message may be null
Deno.test("machine host: what is no message fails the ask or is logged, and never reaches the machine", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const { host, events } = run(server, () => []);
  for (const odd of [null, 7, "text"]) {
    const message = odd as unknown as object;
    client.send(host.ref, message);
    await assertRejects(
      () => client.ask(host.ref, message),
      RpcError,
      `It takes messages, and got ${odd === null ? "null" : typeof odd}.`,
    );
  }
  await eventually("the lines", () => bench.lines.length === 3);
  assertEquals(events, [{ type: "start" }]);
  await host.close();
});

Deno.test("machine host: an effect that fails is logged, and the others are carried out", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const done: number[] = [];
  const { host } = run(
    env,
    (event) =>
      event.type === "start"
        ? [{ type: "own", n: 1 }, { type: "own", n: 2 }]
        : [],
    (effect) => {
      if (effect.n === 1) throw new Error("Oops");
      done.push(effect.n);
    },
  );
  await eventually("the second", () => done.length > 0);
  assertEquals(bench.lines.length, 1);
  assertStringIncludes(bench.lines[0], "Failed to carry out own: Oops");
  await host.close();
});

Deno.test("machine host: closed, it takes no event, fires no timer, and fails the asks it held", async () => {
  await using bench = new Bench();
  const server = await bench.server();
  const client = await bench.client();
  const asked = gate();
  const { host, events } = run(server, (event) => {
    if (event.type === "message") asked.resolve();
    return [{ type: "setTimer", timer: "t", after: 1 }];
  });
  const ask = assertRejects(
    () => client.ask(host.ref, { type: "Hold" }),
    RpcError,
    "Machine has stopped",
  );
  await asked.promise;
  await host.close();
  const count = events.length;
  host.dispatch({ type: "poke", n: 1 });
  await ask;
  await new Promise((resolve) => setTimeout(resolve, 5));
  assertEquals(events.length, count);
});

Deno.test("machine host: when its environment closes first, its timers end with it", async () => {
  await using bench = new Bench();
  const env = await bench.server();
  const { host, events } = run(
    env,
    () => [{ type: "setTimer", timer: "t", after: 60_000 }],
  );
  await eventually("the start", () => events.length === 1);
  await env.close();
  host.dispatch({ type: "poke", n: 1 });
  assertEquals(events.length, 1);
});
