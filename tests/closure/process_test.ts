import { assertEquals, assertStringIncludes } from "@std/assert";
import { once } from "node:events";
import { basename } from "node:path";
import { Worker } from "node:worker_threads";
import Formatter, { describe } from "./fixtures/helpers.ts";
import { Checker, outer } from "./fixtures/failing.ts";
import { captureOnce } from "./round_trip.ts";
import { mapStack } from "../../lib/closure/mod.ts";

/** Calls a function in another process, which shares nothing but the captured bytes. */
async function inProcess(
  value: () => unknown,
): Promise<{ value?: unknown; stack?: string }> {
  const bytes = await captureOnce(value);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--no-config",
      "--no-lock",
      new URL("./fixtures/restore_process.ts", import.meta.url).pathname,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(bytes);
  await writer.close();
  const { stdout } = await child.output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

let total = 0;

Deno.test("closure: in another process, helpers, classes, instances and imports", async () => {
  class Shape {
    #sides = 4;
    scale = 2;
    area() {
      return this.#sides * this.scale;
    }
  }
  const shape = new Shape();
  const formatter = new Formatter();
  const table = new Map([["key", { list: [1n, -0, NaN] }]]);
  const { value } = await inProcess(async () => {
    total += 2;
    const list = table.get("key")!.list;
    return [
      describe("/a/b.txt"),
      formatter.format(1.5),
      shape.area(),
      shape instanceof Shape,
      basename("/x/y"),
      String(list[0]),
      Object.is(list[1], -0),
      total,
      await Promise.resolve(import.meta.url),
    ];
  });
  assertEquals(value, [
    "> b.txt in units",
    "1.50 units",
    8,
    true,
    "y",
    "1",
    true,
    2,
    import.meta.url,
  ]);
  assertEquals(total, 0);
});

Deno.test("closure: an error in another process shows the application's own line here", async () => {
  const { stack } = await inProcess(() => outer({ key: "k", value: 99 }));
  const mapped = mapStack(stack!);
  assertStringIncludes(mapped, "fixtures/failing.ts:18:30)");
  assertStringIncludes(mapped, "fixtures/failing.ts:23:10)");
});

Deno.test("closure: in a worker thread", async () => {
  const checker = new Checker("thread");
  const bytes = await captureOnce(
    () => [checker.check({ key: "k", value: 3 }), checker.label, checker.kind],
  );
  const worker = new Worker(
    new URL("./fixtures/restore_thread.ts", import.meta.url),
  );
  worker.postMessage(bytes);
  const [answer] = await once(worker, "message");
  assertEquals(answer, [3, "thread", "base"]);
  await worker.terminate();
});
