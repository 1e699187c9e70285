/** What the simulated network and clock promise: what TCP and lib/rpc do. */
import { assert, assertEquals } from "@std/assert";
import type { RpcAddress } from "../../lib/messages/addresses.ts";
import { LONGEST_NOTICE, Network } from "./network.ts";
import { Prng } from "./prng.ts";
import { type Answer, type Endpoint, SimProcess } from "./sim_process.ts";
import { Trace } from "./trace.ts";
import { VirtualClock } from "./virtual_clock.ts";

interface Numbered {
  readonly type: "Numbered";
  readonly number: number;
}

/** Keeps what it is told. */
class Recorder implements Endpoint {
  readonly name = "Recorder";
  readonly numbers: number[] = [];
  readonly asks: Answer[] = [];
  readonly told: string[] = [];

  message(message: Numbered, _: RpcAddress, answer: Answer | null): void {
    this.numbers.push(message.number);
    if (answer !== null) this.asks.push(answer);
  }

  disconnected({ host }: RpcAddress): void {
    this.told.push(`${host} is gone`);
  }

  answered(token: string, value: unknown): void {
    this.told.push(`${token}: ${value}`);
  }

  askFailed(token: string, error: string, timedOut: boolean): void {
    this.told.push(`${token} failed${timedOut ? " in time" : ""}: ${error}`);
  }
}

function setUp(seed = 1) {
  const clock = new VirtualClock(0);
  const network = new Network(clock, new Prng(seed), new Trace(clock, false));
  const start = (host: string) => {
    const address = { host, port: 1 };
    const told = new Recorder();
    const process = new SimProcess(network, address, told);
    return { told, process, ref: { address, name: told.name } };
  };
  return {
    network,
    here: start("here"),
    there: start("there"),
    pass: (time: number) => clock.runUntil(clock.now + time),
  };
}

function numbered(number: number): Numbered {
  return { type: "Numbered", number };
}

Deno.test("simulation: the clock does what is due in order, and of one moment what came first", () => {
  const clock = new VirtualClock(100);
  const done: string[] = [];
  for (const after of [5, 1, 9, 1, 3]) {
    const order = done.length;
    clock.schedule(after, () => done.push(`${clock.now}`));
    assertEquals(done.length, order, "nothing happens at once");
  }
  clock.schedule(1, () => clock.schedule(0, () => done.push("at once")));
  clock.schedule(2, () => done.push("never")).cancelled = true;
  clock.runUntil(105);
  assertEquals(done, ["101", "101", "at once", "103", "105"]);
  assertEquals(clock.now, 105);
});

Deno.test("simulation: messages of one connection arrive in order whatever their delays", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { here, there, network, pass } = setUp(seed);
    network.longestDelay = 1_000;
    const sent = Array.from({ length: 20 }, (_, n) => n);
    for (const n of sent) here.process.send(there.ref, numbered(n));
    pass(20_000);
    assertEquals(there.told.numbers, sent);
  }
});

Deno.test("simulation: of what is in flight when a connection breaks only a first part arrives", () => {
  let lost = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const { here, there, network, pass } = setUp(seed);
    here.process.send(there.ref, numbered(0));
    pass(100);
    for (let n = 1; n < 10; n++) here.process.send(there.ref, numbered(n));
    network.break(network.connections[0]);
    pass(LONGEST_NOTICE + 100);
    const { numbers } = there.told;
    assertEquals(numbers, numbers.map((_, n) => n));
    lost += 10 - numbers.length;
    assertEquals(here.told.told, ["there is gone"]);
    assertEquals(there.told.told, ["here is gone"]);
    assertEquals(network.connections, []);
  }
  assert(lost > 0);
});

Deno.test("simulation: a send to an address without a connection makes one, and answers come back over it", () => {
  const { here, there, network, pass } = setUp();
  here.process.send(there.ref, numbered(1));
  pass(200);
  there.process.send(here.ref, numbered(2));
  pass(200);
  assertEquals(here.told.numbers, [2]);
  assertEquals(network.connections.length, 1);
});

Deno.test("simulation: a partition holds up what is sent, and healed lets it through", () => {
  const { here, there, network, pass } = setUp();
  here.process.send(there.ref, numbered(0));
  pass(200);
  network.cut("here", "there");
  for (const n of [1, 2]) here.process.send(there.ref, numbered(n));
  pass(60_000);
  assertEquals(there.told.numbers, [0]);
  network.heal("there", "here");
  pass(1_000);
  assertEquals(there.told.numbers, [0, 1, 2]);
});

Deno.test("simulation: an ask ends with its answer, in time, or with its connection", () => {
  const { here, there, pass } = setUp();
  for (const token of ["a", "b", "c"]) {
    here.process.ask(there.ref, numbered(0), token, 30_000);
  }
  pass(200);
  there.told.asks[0]({ value: 42 });
  pass(200);
  assertEquals(here.told.told, ["a: 42"]);
  pass(30_000);
  assertEquals(here.told.told.slice(1).sort(), [
    "b failed in time: there was no answer in time",
    "c failed in time: there was no answer in time",
  ]);
  here.process.ask(there.ref, numbered(0), "d");
  pass(200);
  there.process.crash();
  pass(LONGEST_NOTICE);
  assertEquals(here.told.told.slice(3), [
    "there is gone",
    "d failed: the connection broke",
  ]);
  here.process.ask(there.ref, numbered(0), "e");
  pass(200);
  assertEquals(here.told.told.slice(5), [
    "e failed: the peer cannot be reached",
  ]);
});

Deno.test("simulation: a process that closes has its last messages delivered before it is gone", () => {
  const { here, there, network, pass } = setUp();
  here.process.send(there.ref, numbered(1)); // its connection is yet to be made
  here.process.close();
  assertEquals(network.isFree(here.ref.address), false);
  pass(200);
  assertEquals(there.told.numbers, [1]);
  assertEquals(there.told.told, ["here is gone"]);
  assertEquals(network.isFree(here.ref.address), true);
});

Deno.test("simulation: a process that stands still catches up in order", () => {
  const { here, there, pass } = setUp();
  there.process.pause(5_000);
  for (const n of [1, 2, 3]) here.process.send(there.ref, numbered(n));
  pass(4_000);
  assertEquals(there.told.numbers, []);
  pass(2_000);
  assertEquals(there.told.numbers, [1, 2, 3]);
});
