import { assertEquals, assertThrows } from "@std/assert";
import { InvalidSettingError } from "../../lib/conf/units.ts";
import { formatIdPattern, idTimestamp } from "../../lib/messages/id_pattern.ts";

const STAMP = "20261130223351";

for (
  const [pattern, id] of [
    ["app-%s-%04d", `app-${STAMP}-0007`],
    ["driver-%s-%d", `driver-${STAMP}-7`],
    ["my-app-%2$05d", "my-app-00007"], // MasterSuite 45753, 45754
    ["%2$s-%1$s", `7-${STAMP}`],
    // An explicit argument does not move the next one on.
    ["%2$d-%s-%d", `7-${STAMP}-7`],
    ["100%%-%2$d", "100%-7"],
    ["plain", "plain"],
  ]
) {
  Deno.test(`id pattern: ${pattern} makes ${id}`, () => {
    assertEquals(formatIdPattern(pattern, STAMP, 7), id);
  });
}

// WorkerSuite 45867
Deno.test("id pattern: a worker's has stamp, host and port", () => {
  const make = (pattern: string) =>
    formatIdPattern(pattern, STAMP, "localhost", 12345);
  assertEquals(make("worker-%s-%s-%d"), `worker-${STAMP}-localhost-12345`);
  assertEquals(make("my-worker-%2$s"), "my-worker-localhost");
});

Deno.test("id pattern: a figure that is wider than its width is not cut", () => {
  assertEquals(formatIdPattern("%2$04d", STAMP, 123456), "123456");
  assertEquals(formatIdPattern("%2$-3d|", STAMP, 1234), "1234|");
});

for (
  const [pattern, reason] of [
    ["my app", "Whitespace is not allowed"],
    ["my\tapp", "Whitespace is not allowed"],
    ["%2$4d", "Whitespace is not allowed"],
    ["app-%d", "is not a number"],
    ["app-%x", "is not a conversion"],
    ["app-%", "is not a conversion"],
    ["app-%s-%d-%s", "argument 3, which doesn't exist"],
    ["app-%0$s", "argument 0, which doesn't exist"],
    ["app-%04s", "don't go together"],
    ["app-%2$0d", "don't go together"],
    ["app-%2$0999999999d", "don't go together"],
  ]
) {
  Deno.test(`id pattern: ${JSON.stringify(pattern)} is refused: ${reason}`, () => {
    assertThrows(
      () => formatIdPattern(pattern, STAMP, 7),
      InvalidSettingError,
      reason,
    );
  });
}

Deno.test("id pattern: the stamp is local time to the second", () => {
  assertEquals(
    idTimestamp(new Date(2026, 0, 2, 3, 4, 5, 678).getTime()),
    "20260102030405",
  );
});
