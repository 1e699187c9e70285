/**
 * Whole clusters under faults, a seed each.
 *
 * `SPARKTS_SIM_SEEDS=2000` runs so many seeds instead of the default;
 * `SPARKTS_SIM_SEED=17` runs one, and prints all that happens in it.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import type { Machine } from "../../lib/rpc/machine.ts";
import { simulate, SimulationError } from "./simulation.ts";
import type { Sabotage } from "./world.ts";

const DEFAULT_SEEDS = 300;
/** By then a thing that is broken on purpose must have shown itself. */
const SEEDS_TO_FAIL = 100;

Deno.test("simulation: whatever breaks, the cluster keeps its promises and settles in the end", () => {
  const single = readCount("SPARKTS_SIM_SEED");
  if (single !== undefined) {
    console.log(simulate(single, { fullTrace: true }));
    return;
  }
  const seeds = readCount("SPARKTS_SIM_SEEDS") ?? DEFAULT_SEEDS;
  let launched = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    launched += simulate(seed).executorsLaunched;
  }
  assert(launched > seeds, "executors are launched at all");
});

Deno.test("simulation: the same seed makes the same run, another seed another one", () => {
  const [first, again, other] = [7, 7, 8].map((seed) => simulate(seed));
  assertEquals(again, first);
  assertNotEquals(other.traceHash, first.traceHash);
});

Deno.test("simulation: a failure names its seed, shows the last events and is replayed exactly", () => {
  const sabotage: Sabotage = { worker: withEffects((effects) => effects, 2) };
  const run = () => simulate(3, { sabotage });
  const error = assertThrows(run, SimulationError);
  assertEquals(error.seed, 3);
  assertMatch(error.message, /^Seed 3 fails: executor app-\S+ was launched tw/);
  assertMatch(error.message, /\d+\.\d{3} worker\d +< LaunchExecutor/);
  assertMatch(error.message, /SPARKTS_SIM_SEED=3$/);
  assertEquals(assertThrows(run, SimulationError).message, error.message);
});

/** What is broken on purpose, and how that shows. */
const BREAKAGES: readonly [what: string, Sabotage, RegExp][] = [
  [
    "a worker that never starts its executors",
    { worker: withEffects(without("launchExecutor")) },
    /what \S+ believes, and what runs there differ/,
  ],
  [
    "a worker that starts each executor twice",
    { worker: withEffects((effects) => effects, 2) },
    /was launched twice/,
  ],
  [
    "a worker that kills nothing",
    { worker: withEffects(without("killExecutor")) },
    /still runs on|outlive/,
  ],
  [
    "a worker that ends without a look at its executors",
    {
      worker: withEffects((effects) =>
        effects.some(({ type }) => type === "killExecutor")
          ? [...effects, { type: "exit", code: 1, reason: "broken" }]
          : effects
      ),
    },
    /ended before its executors/,
  ],
  [
    "a master that leaves a worker alone which it gave up wrongly",
    { master: withEffects(without("send", "ReconnectWorker")) },
    /takes for alive|still runs on/,
  ],
  [
    "a worker that repeats its reports",
    {
      worker: withEffects((effects) =>
        effects.flatMap((effect) =>
          effect.type === "ask"
            ? Array.from({ length: 6 }, (_, n) => ({
              ...effect,
              token: `${(effect as { token?: string }).token}-${n}`,
            }))
            : [effect]
        )
      ),
    },
    /told 6 times of/,
  ],
  [
    "a master that frees no cores",
    { master: withoutEvents(isMessage("ExecutorStateChanged", isEnd)) },
    /what master and worker think of/,
  ],
  [
    "a master that kills nothing",
    { master: withEffects(without("send", "KillExecutor")) },
    /still runs on/,
  ],
  [
    "a master that tells its workers of no executor",
    { master: withEffects(without("send", "LaunchExecutor")) },
    /what master and worker think of/,
  ],
  [
    "a master that takes for lost what is still on its way",
    {
      worker: withEffects((effects) =>
        effects.map((effect) => {
          const { message } = effect as { message?: Typed };
          return message?.type === "WorkerLatestState"
            ? { ...effect, message: { ...message, registration: 1e9 } }
            : effect;
        })
      ),
    },
    /still runs on|what master and worker think of/,
  ],
  [
    "a master that does not see drivers go",
    {
      master: withoutEvents((event) =>
        event.type === "disconnected" &&
        (event as { address?: { host: string } }).address?.host.startsWith(
            "driver",
          ) === true
      ),
    },
    /its driver is gone/,
  ],
  [
    "a master that goes on with an application past the limit",
    {
      master: (core) => ({
        handle(event, now) {
          const effects = core.handle(event, now);
          for (const app of core.tables.applications.values()) {
            if (app.executors.size > 0) app.retryCount += 100;
          }
          return effects;
        },
      }),
    },
    /goes on after \d+ executors that failed in a row/,
  ],
  [
    "a driver that registers over and over",
    {
      app: (core) => ({
        handle(event) {
          const effects = core.handle(event);
          const registration = effects.find(({ type }) => type === "send");
          return registration ? Array(4).fill(registration) : effects;
        },
      }),
    },
    /registered 4 times/,
  ],
];

for (const [what, sabotage, violation] of BREAKAGES) {
  Deno.test(`simulation: ${what} is found out`, () => {
    for (let seed = 1; seed <= SEEDS_TO_FAIL; seed++) {
      try {
        simulate(seed, { sabotage });
      } catch (error) {
        if (!(error instanceof SimulationError)) throw error;
        const { message } = error.cause as Error;
        if (violation.test(message)) return;
      }
    }
    throw new Error(`${SEEDS_TO_FAIL} seeds found nothing like ${violation}.`);
  });
}

// How machines are broken. The machines differ in their events and effects,
// but all of them have a type.

interface Typed {
  readonly type: string;
}

/** Changes what a machine wants done, or has it done several times. */
function withEffects(
  change: (effects: readonly Typed[]) => readonly Typed[],
  times = 1,
): <E, F>(core: Machine<E, F>) => Machine<E, F> {
  return <E, F>(core: Machine<E, F>): Machine<E, F> => ({
    handle(event, now) {
      const effects = core.handle(event, now) as readonly Typed[];
      return Array(times).fill(change(effects)).flat() as F[];
    },
  });
}

/** Drops effects of a type, or only those with a message of some type. */
function without(
  type: string,
  message?: string,
): (effects: readonly Typed[]) => Typed[] {
  return (effects) =>
    effects.filter((effect) =>
      effect.type !== type ||
      message !== undefined &&
        (effect as { message?: Typed }).message?.type !== message
    );
}

/** Keeps events from a machine. */
function withoutEvents(
  isDropped: (event: Typed) => boolean,
): <E, F>(core: Machine<E, F>) => Machine<E, F> {
  return <E, F>(core: Machine<E, F>): Machine<E, F> => ({
    handle: (event, now) =>
      isDropped(event as Typed) ? [] : core.handle(event, now),
  });
}

function isMessage(
  type: string,
  matches: (message: Typed) => boolean,
): (event: Typed) => boolean {
  return (event) => {
    const { message } = event as { message?: Typed };
    return message?.type === type && matches(message);
  };
}

function isEnd(message: Typed): boolean {
  const { state } = message as { state?: string };
  return state !== "RUNNING" && state !== "LAUNCHING";
}

/** @throws {Error} when the variable is set to something else than a count. */
function readCount(variable: string): number | undefined {
  const text = Deno.env.get(variable);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) {
    throw new Error(`Cannot read ${variable}: received "${text}".`);
  }
  return Number(text);
}
