/**
 * Runs the benchmarks that are named, or all, and prints their figures.
 *
 * @module
 */
import { describeError, writeLogLine } from "../../lib/log.ts";
import { benchEmptyTasks } from "./empty_tasks.ts";
import type { Figure } from "./figure.ts";
import { benchIdleMemory } from "./idle_memory.ts";
import { benchRpc } from "./rpc.ts";
import { benchSpark } from "./spark.ts";
import { benchStartup } from "./startup.ts";
import { benchWordCount } from "./word_count.ts";

/** What else may run (load average of a minute) before the figures suffer. */
const MAX_LOAD = 0.5;

interface Bench {
  readonly doc: string;
  /** Runs only when it is named: it needs what not everyone has. */
  readonly onlyByName?: boolean;
  run(): Promise<Figure[]>;
}

const BENCHES = new Map<string, Bench>([
  ["rpc", { doc: "asks a second between two processes", run: benchRpc }],
  ["memory", { doc: "what an idle daemon holds", run: benchIdleMemory }],
  ["startup", { doc: "a cluster for two empty tasks", run: benchStartup }],
  ["tasks", { doc: "empty tasks a second", run: benchEmptyTasks }],
  ["wordcount", { doc: "words of a text, counted", run: benchWordCount }],
  ["spark", {
    doc: "jobs of Apache Spark, by its own cluster; only when named",
    onlyByName: true,
    run: benchSpark,
  }],
]);

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes("--json");
  const names = args.filter((arg) => arg !== "--json");
  if (names.includes("--help")) {
    console.log(usage());
    return 0;
  }
  const wrong = names.find((name) => !BENCHES.has(name));
  if (wrong !== undefined) {
    writeLogLine(`scripts/bench: there is no benchmark "${wrong}"`);
    writeLogLine(usage());
    return 2;
  }
  warnOfLoad();
  const figures: Figure[] = [];
  let failed = false;
  for (const name of names.length === 0 ? defaultNames() : names) {
    try {
      for (const figure of await BENCHES.get(name)!.run()) {
        figures.push(figure);
        if (!json) console.log(format(figure));
      }
    } catch (error) {
      failed = true;
      writeLogLine(`scripts/bench: ${name}: ${describeError(error)}`);
    }
  }
  if (json) console.log(JSON.stringify(figures, null, 2));
  return failed || figures.some((figure) => figure.met === false) ? 1 : 0;
}

function defaultNames(): string[] {
  return [...BENCHES].filter(([, { onlyByName }]) => !onlyByName)
    .map(([name]) => name);
}

/** A ratio is fair only while a cluster gets the processors that it counts on. */
function warnOfLoad(): void {
  const [load] = Deno.loadavg();
  if (load < MAX_LOAD) return;
  writeLogLine(
    `scripts/bench: the machine is busy (load average ${
      load.toFixed(1)
    }): what runs on several processors will seem slow`,
  );
}

function usage(): string {
  return [
    "Usage: scripts/bench [--json] [NAME...]",
    ...[...BENCHES].map(([name, { doc }]) => `  ${name.padEnd(10)} ${doc}`),
  ].join("\n");
}

function format({ name, value, unit, target, met }: Figure): string {
  const measured = `${value.toLocaleString("en")} ${unit}`.padStart(16);
  const verdict = target === undefined
    ? ""
    : `   target ${target}: ${met ? "met" : "MISSED"}`;
  return `${name.padEnd(52)}${measured}${verdict}`;
}

Deno.exit(await main(Deno.args));
