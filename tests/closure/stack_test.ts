import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { check, Checker, outer } from "./fixtures/failing.ts";
import { roundTrip } from "./round_trip.ts";
import { mapStack } from "../../lib/closure/mod.ts";
import { markedFilename } from "../../lib/closure/stack.ts";

const url = new URL("./fixtures/failing.ts", import.meta.url).href;
const lines = (await Deno.readTextFile(new URL(url))).split("\n");

/** `line:column` of the first place where the fixture has a text. */
function place(text: string, within = text): string {
  const line = lines.findIndex((each) => each.includes(within));
  return `${line + 1}:${lines[line]!.indexOf(text) + 1}`;
}

function stackOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return (error as Error).stack!;
  }
  throw new Error("Nothing was thrown.");
}

Deno.test("closure: frames of restored functions show the application's own lines after mapStack", async () => {
  const restored = await roundTrip(outer);
  const stack = mapStack(stackOf(() => restored({ key: "a", value: 11 })));
  assertStringIncludes(stack, "RangeError: too large: 11");
  assertStringIncludes(stack, `at check (${url}:${place("new RangeError")})`);
  assertStringIncludes(stack, `at outer (${url}:${place("check(row) + 1")})`);
  assert(!stack.includes("sparkts-closure:"));
});

Deno.test("closure: the frames equal those of the original", async () => {
  const original = stackOf(() => check({ key: "a", value: 12 })).split("\n")
    .slice(0, 2);
  const restored = await roundTrip(check);
  assertEquals(
    mapStack(stackOf(() => restored({ key: "a", value: 12 }))).split("\n")
      .slice(0, 2),
    original,
  );
});

Deno.test("closure: a class whose text was changed for the travel keeps its lines and columns", async () => {
  const checker = new Checker("first");
  const restored = await roundTrip({ checker, Checker });
  const row = { key: "a", value: 20 };
  const expected = `(${url}:${place("new Error(`")})`;
  assertStringIncludes(
    mapStack(stackOf(() => restored.checker.check(row))),
    `at Checker.check ${expected}`,
  );
  const fresh = new restored.Checker("second");
  assertStringIncludes(
    mapStack(stackOf(() => fresh.check(row))),
    `at Checker.check ${expected}`,
  );
  const constructed = mapStack(
    stackOf(() => new restored.Checker("third", null as never)),
  );
  assertStringIncludes(
    constructed,
    `at new Checker (${url}:${place("start }", "{ start }: {")})`,
  );
});

Deno.test("closure: mapStack leaves other frames and unknown modules readable", () => {
  const other = "Error: x\n    at f (file:///other.js:3:4)";
  assertEquals(mapStack(other), other);
  const marked = markedFilename("file:///not/loaded.ts", [
    { out: 1, line: 10, column: 4 },
    { out: 3, line: 20, column: 0 },
  ]);
  assertEquals(
    mapStack(`at f (${marked}:2:3)`),
    "at f (file:///not/loaded.ts:11:7)",
  );
  assertEquals(
    mapStack(`at f (${marked}:3:3)`),
    "at f (file:///not/loaded.ts:12:3)",
  );
  assertEquals(
    mapStack(`at f (${marked}:5:1)`),
    "at f (file:///not/loaded.ts:22:1)",
  );
});
