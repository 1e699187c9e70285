import { assertEquals } from "@std/assert";
import {
  onShutdownSignal,
  type ShutdownSignal,
} from "../../lib/process/signals.ts";
import { until } from "./harness.ts";

Deno.test("signals: the first one shuts down, and a second Ctrl-C ends at once", async () => {
  const seen: ShutdownSignal[] = [];
  let impatient = 0;
  const remove = onShutdownSignal((signal) => seen.push(signal), {
    onImpatience: () => impatient++,
  });
  try {
    Deno.kill(Deno.pid, "SIGINT");
    await until("SIGINT arrives", () => seen.length === 1);
    Deno.kill(Deno.pid, "SIGTERM");
    Deno.kill(Deno.pid, "SIGINT");
    await until("the second SIGINT arrives", () => impatient === 1);
    assertEquals(seen, ["SIGINT"]);
  } finally {
    remove();
  }
});

Deno.test("signals: Ctrl-C while a SIGTERM is obeyed is the first Ctrl-C", async () => {
  const seen: ShutdownSignal[] = [];
  let impatient = 0;
  const remove = onShutdownSignal((signal) => seen.push(signal), {
    onImpatience: () => impatient++,
  });
  try {
    Deno.kill(Deno.pid, "SIGTERM");
    await until("SIGTERM arrives", () => seen.length === 1);
    Deno.kill(Deno.pid, "SIGINT");
    Deno.kill(Deno.pid, "SIGINT");
    await until("the second SIGINT arrives", () => impatient === 1);
    assertEquals(seen, ["SIGTERM"]);
  } finally {
    remove();
  }
});
