import { assertEquals, assertThrows } from "@std/assert";
import {
  formatMegabytes,
  InvalidSettingError,
  parseBytes,
  parseTime,
  toMegabytes,
} from "../../lib/conf/units.ts";

for (
  const [text, milliseconds] of [
    ["10s", 10_000],
    ["500ms", 500],
    ["2m", 120_000],
    ["2min", 120_000],
    ["1h", 3_600_000],
    ["7d", 604_800_000],
    ["1000us", 1],
    [" 5S ", 5_000],
    ["-1s", -1_000],
    ["0", 0],
  ] as const
) {
  Deno.test(`units: the time "${text}" is ${milliseconds} ms`, () => {
    assertEquals(parseTime(text, "ms"), milliseconds);
  });
}

Deno.test("units: a bare time is in the unit of its setting", () => {
  assertEquals(parseTime("30", "ms"), 30);
  assertEquals(parseTime("30", "s"), 30_000);
});

for (
  const [text, bytes] of [
    ["1b", 1],
    ["2k", 2_048],
    ["2kb", 2_048],
    ["3m", 3 * 1024 ** 2],
    ["3MB", 3 * 1024 ** 2],
    ["4g", 4 * 1024 ** 3],
    ["5t", 5 * 1024 ** 4],
    ["6p", 6 * 1024 ** 5],
  ] as const
) {
  Deno.test(`units: the size "${text}" is ${bytes} bytes`, () => {
    assertEquals(parseBytes(text, "b"), bytes);
  });
}

Deno.test("units: a bare size is in the unit of its setting", () => {
  assertEquals(parseBytes("64", "b"), 64);
  assertEquals(parseBytes("64", "k"), 65_536);
  assertEquals(parseBytes("64", "m"), 64 * 1024 ** 2);
});

for (
  const text of ["", "s", "1.5s", "10 s", "10x", "1s2", "5constructor", "0x1"]
) {
  Deno.test(`units: "${text}" is neither a time nor a size`, () => {
    assertThrows(() => parseTime(text, "ms"), InvalidSettingError, `"${text}"`);
    assertThrows(() => parseBytes(text, "b"), InvalidSettingError, `"${text}"`);
  });
}

Deno.test("units: a time has no size's unit and a size no time's", () => {
  assertThrows(() => parseTime("1g", "ms"), InvalidSettingError);
  assertThrows(() => parseBytes("1s", "b"), InvalidSettingError);
});

Deno.test("units: bytes make whole MiB, and what is left over is dropped", () => {
  assertEquals(toMegabytes(50_000), 0);
  assertEquals(toMegabytes(2 ** 20 - 1), 0);
  assertEquals(toMegabytes(5 * 2 ** 30), 5_120);
});

Deno.test("units: memory is shown in MiB or GiB", () => {
  assertEquals(formatMegabytes(512), "512 MiB");
  assertEquals(formatMegabytes(1_536), "1.5 GiB");
});
