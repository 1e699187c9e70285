import { assertEquals } from "@std/assert";
import {
  splitOptions,
  usesNodeLocalSsl,
} from "../../../lib/jvm/command/java_options.ts";

Deno.test("java options: a line is split as a shell does", () => {
  const lines: readonly [string, string[]][] = [
    ["", []],
    ["  \t ", []],
    ["a b\tc", ["a", "b", "c"]],
    ["-Dx='a b'c -Dy", ["-Dx=a bc", "-Dy"]],
    [`-Dx="a 'b'" 'c "d"'`, ["-Dx=a 'b'", 'c "d"']],
    [`"" '' a`, ["", "", "a"]],
    [String.raw`a\ b \"c "d\"e"`, ["a b", '"c', 'd"e']],
    [String.raw`'a\b'`, [String.raw`a\b`]],
  ];
  for (const [line, options] of lines) {
    assertEquals(splitOptions(line), options, line);
  }
});

// WorkerSuite
Deno.test("java options: only a flag that says true asks for the worker's own TLS", () => {
  const flag = "-Dspark.ssl.useNodeLocalConf";
  assertEquals(usesNodeLocalSsl([]), false);
  assertEquals(usesNodeLocalSsl(["-Da=1", `${flag}=true`]), true);
  for (const other of [`${flag}=false`, `${flag}=`, flag]) {
    assertEquals(usesNodeLocalSsl([other]), false, other);
  }
});
