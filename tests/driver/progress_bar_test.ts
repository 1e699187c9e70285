import { assert, assertEquals } from "@std/assert";
import { progressLine } from "../../lib/driver/progress_bar.ts";

Deno.test("progress bar: a stage shows what is done, runs and is to be done", () => {
  const stage = { stageId: 7, tasks: 10, finished: 3, running: 2 };
  assertEquals(
    progressLine([stage], 40),
    "[Stage 7:=====>           (3 + 2) / 10]",
  );
});

Deno.test("progress bar: the bar is empty at first and full at the end", () => {
  const bar = (finished: number) =>
    progressLine([{ stageId: 0, tasks: 4, finished, running: 0 }], 31);
  assertEquals(bar(0), "[Stage 0:>        (0 + 0) / 4]");
  assertEquals(bar(4), "[Stage 0:=========(4 + 0) / 4]");
});

Deno.test("progress bar: however narrow the terminal is, figures stay; else a line fits", () => {
  const stage = { stageId: 12, tasks: 1000, finished: 999, running: 1 };
  assertEquals(progressLine([stage], 3), "[Stage 12:(999 + 1) / 1000]");
  for (let width = 100; width < 140; width++) {
    const line = progressLine([stage, stage, stage], width);
    assert(line.length < width, `${line.length} in ${width}`);
  }
});
