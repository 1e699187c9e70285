import { assert, assertEquals } from "@std/assert";
import { setLogSink } from "../../lib/log.ts";
import {
  parseRollingInterval,
  parseRollingSize,
  SizeBasedRollingPolicy,
  TimeBasedRollingPolicy,
} from "../../lib/process/rolling_policy.ts";

const NOON = new Date(2026, 10, 30, 12, 5, 7, 89).getTime();

// FileAppenderSuite
Deno.test("rolling: intervals are daily, hourly, minutely, or seconds", () => {
  assertEquals(parseRollingInterval("daily"), {
    interval: 86_400_000,
    precision: "day",
  });
  assertEquals(parseRollingInterval("Hourly")?.interval, 3_600_000);
  assertEquals(parseRollingInterval("minutely")?.interval, 60_000);
  assertEquals(parseRollingInterval("123456789"), {
    interval: 123_456_789_000,
    precision: "second",
  });
  for (const text of ["xyz", "", "0", "-5", "1.5", "60s"]) {
    assertEquals(parseRollingInterval(text), undefined, text);
  }
});

// FileAppenderSuite
Deno.test("rolling: a size is a number of bytes without a unit", () => {
  assertEquals(parseRollingSize("123456789"), 123_456_789);
  for (const text of ["xyz", "1m", "", "0", "-1"]) {
    assertEquals(parseRollingSize(text), undefined, text);
  }
});

Deno.test("rolling: names carry the local time as exactly as the interval needs", () => {
  const suffix = (precision: "day" | "hour" | "minute" | "second") =>
    new TimeBasedRollingPolicy(60_000, precision, NOON).suffix(NOON);
  assertEquals(suffix("day"), "--2026-11-30");
  assertEquals(suffix("hour"), "--2026-11-30--12");
  assertEquals(suffix("minute"), "--2026-11-30--12-05");
  assertEquals(suffix("second"), "--2026-11-30--12-05-07");
  assertEquals(
    new SizeBasedRollingPolicy(100_000).suffix(NOON),
    "--2026-11-30--12-05-07--0089",
  );
});

Deno.test("rolling: minimums are kept with a warning", () => {
  const lines: string[] = [];
  const restore = setLogSink((line) => lines.push(line));
  try {
    const time = new TimeBasedRollingPolicy(1_000, "second", 0);
    assertEquals(time.interval, 60_000);
    assertEquals(new SizeBasedRollingPolicy(1_000).maxSize, 81_920);
    assertEquals(lines.length, 2);
    assert(lines.every((line) => line.includes("WARN")));
    new TimeBasedRollingPolicy(60_000, "second", 0);
    new SizeBasedRollingPolicy(81_920);
    assertEquals(lines.length, 2);
  } finally {
    restore();
  }
});

Deno.test("rolling: time rolls past each multiple of the interval since the epoch", () => {
  const policy = new TimeBasedRollingPolicy(60_000, "minute", 90_000);
  assertEquals(policy.shouldRoll(1, 120_000), false);
  assertEquals(policy.shouldRoll(1, 120_001), true);
  policy.rolled(310_000);
  assertEquals(policy.shouldRoll(1, 360_000), false);
  assertEquals(policy.shouldRoll(1, 360_001), true);
});

Deno.test("rolling: size counts what the file held before, and never rolls an empty file", () => {
  const policy = new SizeBasedRollingPolicy(100_000, 99_000);
  assertEquals(policy.shouldRoll(1_000, 0), false);
  assertEquals(policy.shouldRoll(1_001, 0), true);
  policy.rolled(0);
  assertEquals(policy.shouldRoll(200_000, 0), false);
  policy.written(200_000);
  assertEquals(policy.shouldRoll(1, 0), true);
});
