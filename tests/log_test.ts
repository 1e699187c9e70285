import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  describeError,
  escapeControls,
  getLogger,
  isLogLevel,
  LOG_LEVELS,
  type LogLevel,
  setLogLevel,
  setLogSink,
} from "../lib/log.ts";

/** What a function logs at a level, without the time that each line begins with. */
function logged(level: LogLevel, log: () => void): string[] {
  const lines: string[] = [];
  const restore = setLogSink((line) => lines.push(line.slice(24)));
  setLogLevel(level);
  try {
    log();
  } finally {
    setLogLevel("INFO");
    restore();
  }
  return lines;
}

Deno.test("log: a line is local time, level, component and message", () => {
  const lines: string[] = [];
  const restore = setLogSink((line) => lines.push(line));
  const before = Date.now();
  getLogger("Master").info("Registering worker 10.0.0.7:40123");
  const after = Date.now();
  restore();

  assertEquals(lines.length, 1);
  const match =
    /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) (INFO Master: Registering worker 10\.0\.0\.7:40123)$/
      .exec(lines[0]);
  // Without a zone, Date reads a time as local.
  const time = new Date(match?.[1].replace(" ", "T") ?? NaN).getTime();
  assert(before <= time && time <= after, lines[0]);
});

Deno.test("log: each level lets through itself and what is graver", () => {
  const log = getLogger("C");
  const seen = (level: LogLevel) =>
    logged(level, () => {
      log.debug("d");
      log.info("i");
      log.warn("w");
      log.error("e");
    }).map((line) => line.split(" ")[0]).join(" ");

  assertEquals(
    Object.fromEntries(LOG_LEVELS.map((level) => [level, seen(level)])),
    {
      ALL: "DEBUG INFO WARN ERROR",
      TRACE: "DEBUG INFO WARN ERROR",
      DEBUG: "DEBUG INFO WARN ERROR",
      INFO: "INFO WARN ERROR",
      WARN: "WARN ERROR",
      ERROR: "ERROR",
      FATAL: "",
      OFF: "",
    },
  );
});

Deno.test("log: only Spark's names are log levels", () => {
  assert(LOG_LEVELS.every(isLogLevel));
  assert(!["info", "", "WARNING", "toString"].some(isLogLevel));
});

Deno.test("log: an error's causes follow its message in the same line", () => {
  const error = new Error("cannot fetch blocks", {
    cause: new Error("connection lost", { cause: new TypeError("") }),
  });
  assertEquals(
    logged("INFO", () => getLogger("C").warn("Lost task 1", error)),
    [
      "WARN C: Lost task 1: cannot fetch blocks (caused by connection lost (caused by TypeError))",
    ],
  );
});

Deno.test("log: a cause that the message already spells out is not said again", () => {
  const error = new Error("Cannot read conf: no such file", {
    cause: new Error("no such file"),
  });
  assertEquals(describeError(error), "Cannot read conf: no such file");
});

Deno.test("log: a chain of causes that bites its tail ends", () => {
  const first = new Error("a");
  first.cause = new Error("b", { cause: first });
  assertEquals(describeError(first), "a (caused by b)");

  let long = new Error("e0");
  for (let i = 1; i < 100; i++) long = new Error(`e${i}`, { cause: long });
  assert(describeError(long).length < 200);
});

Deno.test("log: what was thrown need not be an error", () => {
  assertEquals(describeError("gone"), "gone");
  assertEquals(describeError(null), "null");
  assertEquals(describeError(Object.create(null)), "[object Object]");
  assertEquals(
    describeError(new AggregateError([new Error("a"), "b"], "all failed")),
    "all failed [a; b]",
  );
});

Deno.test("log: the stack is written at DEBUG only, a frame a line", () => {
  const error = new Error("outer\n    at forged.ts:1", {
    cause: new Error("inner"),
  });
  const write = () => getLogger("C").error("Failed", error);

  const [short] = logged("INFO", write);
  assert(!short.includes("\n"), short);

  const [long] = logged("DEBUG", write);
  const lines = long.split("\n");
  assertEquals(
    lines[0],
    "ERROR C: Failed: outer\\n    at forged.ts:1 (caused by inner)",
  );
  assert(lines.length > 3, long);
  assert(lines.slice(1).every((line) => /^\t(at|caused by) /.test(line)), long);
  assertEquals(lines.filter((line) => line === "\tcaused by inner").length, 1);
});

Deno.test("log: text from elsewhere cannot break a line or steer a terminal", () => {
  const evil = "a\nb\r\tc\x1b[2J\x9b\u2028\u202e end é 漢 😀";
  const safe = "a\\nb\\r\\tc\\x1b[2J\\x9b\\u2028\\u202e end é 漢 😀";
  assertEquals(escapeControls(evil), safe);
  assertEquals(
    logged("INFO", () => getLogger("C").info(evil, new Error(evil))),
    [`INFO C: ${safe}: ${safe}`],
  );
});

Deno.test("log: a message of any length makes a line of limited length", () => {
  const [line] = logged("INFO", () => getLogger("C").info("x".repeat(100_000)));
  assert(line.length < 33_000);
  assertMatch(line, /x\.\.\. \(67232 more characters\)$/);
});

Deno.test("log: sinks nest, and each restore puts the previous one back", () => {
  const outer: string[] = [];
  const inner: string[] = [];
  const restoreOuter = setLogSink((line) => outer.push(line));
  const restoreInner = setLogSink((line) => inner.push(line));
  getLogger("C").info("one");
  restoreInner();
  getLogger("C").info("two");
  restoreOuter();
  assertEquals([outer.length, inner.length], [1, 1]);
});

/** Runs a program that has `log` in scope in a process of its own. */
function runLogging(program: string): Deno.ChildProcess {
  const module = new URL("../lib/log.ts", import.meta.url).href;
  const source = `import { getLogger } from ${JSON.stringify(module)};
    const log = getLogger("C");
    ${program}`;
  const flags = (Deno.env.get("SPARKTS_RUN_FLAGS") ?? "").split("\n")
    .filter((flag) => flag !== "");
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "-A",
      ...flags,
      `data:application/typescript,${encodeURIComponent(source)}`,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

Deno.test("log: lines go to stderr, whole even when the reader is slow, and never to stdout", async () => {
  // 4 MB are many times what a pipe holds.
  const child = runLogging(
    `for (let i = 0; i < 2000; i++) log.info(i + " " + "x".repeat(2000));`,
  );
  const { stdout, stderr, success } = await child.output();
  assert(success);
  assertEquals(stdout.length, 0);
  const lines = new TextDecoder().decode(stderr).split("\n");
  assertEquals(lines.length, 2001);
  assert(
    lines.slice(0, -1).every((line, i) =>
      line.endsWith(` INFO C: ${i} ${"x".repeat(2000)}`)
    ),
  );
});

Deno.test("log: a process whose stderr was closed goes on", async () => {
  const child = runLogging(
    `await Deno.stdin.read(new Uint8Array(1));
     for (let i = 0; i < 200; i++) log.info("x".repeat(2000));
     console.log("alive");`,
  );
  await child.stderr.cancel();
  const { success } = await child.status;
  const stdout = await new Response(child.stdout).text();
  assertEquals([success, stdout], [true, "alive\n"]);
});
