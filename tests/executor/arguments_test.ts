import { assertEquals, assertThrows } from "@std/assert";
import {
  EXECUTOR_USAGE,
  ExecutorUsageError,
  parseExecutorArguments,
} from "../../lib/executor/arguments.ts";

// CoarseGrainedExecutorBackendSuite

const REQUIRED = [
  "--driver-url",
  "spark://CoarseGrainedScheduler@driver:1",
  "--executor-id",
  "0",
  "--cores",
  "2",
  "--app-id",
  "app-1",
];

function parse(...more: string[]) {
  return parseExecutorArguments([...REQUIRED, ...more], () => "local-host");
}

function without(option: string): string[] {
  const at = REQUIRED.indexOf(option);
  return REQUIRED.toSpliced(at, 2);
}

Deno.test("executor arguments: every option of Spark's backends is taken", () => {
  const args = parse(
    ...["--bind-address", "10.0.0.1", "--hostname", "host"],
    ...["--resourcesFile", "/r.json", "--worker-url", "spark://Worker@w:1"],
    ...["--resourceProfileId", "3", "--podName", "pod"],
  );
  assertEquals(args, {
    driverUrl: "spark://CoarseGrainedScheduler@driver:1",
    executorId: "0",
    bindAddress: "10.0.0.1",
    hostname: "host",
    cores: 2,
    resourcesFile: "/r.json",
    appId: "app-1",
    workerUrl: "spark://Worker@w:1",
    resourceProfileId: 3,
    podName: "pod",
  });
});

Deno.test("executor arguments: without a host name it is the local one, and the bind address follows it", () => {
  assertEquals(parse().hostname, "local-host");
  assertEquals(parse().bindAddress, "local-host");
  assertEquals(parse("--hostname", "h").bindAddress, "h");
  assertEquals(parse("--hostname", "::1").hostname, "[::1]");
});

Deno.test("executor arguments: an empty executor id or EXECID is one that the driver gives", () => {
  for (const id of ["", "EXECID"]) {
    const args = [...without("--executor-id"), "--executor-id", id];
    assertEquals(parseExecutorArguments(args, () => "h").executorId, null);
  }
});

Deno.test("executor arguments: what is missing or no number is named", () => {
  const refused = (args: string[]) =>
    assertThrows(
      () => parseExecutorArguments(args, () => "h"),
      ExecutorUsageError,
    ).message;
  for (const option of ["--driver-url", "--executor-id", "--app-id"]) {
    assertEquals(refused(without(option)), `${option} is missing`);
  }
  assertEquals(
    refused(without("--cores")),
    "--cores must be at least 1, and is missing",
  );
  for (const cores of ["0", "-1"]) {
    assertEquals(
      refused([...without("--cores"), "--cores", cores]),
      `--cores must be at least 1, and is ${cores}`,
    );
  }
  assertEquals(
    refused([...without("--cores"), "--cores", "two"]),
    "--cores is no whole number: two",
  );
});

Deno.test("executor arguments: unknown options are refused, and one without its value", () => {
  for (
    const more of [["--user", "me"], ["--hostname"], ["toString", "x"], ["x"]]
  ) {
    assertThrows(
      () => parse(...more),
      ExecutorUsageError,
      `Unrecognized options: ${more.join(" ")}`,
    );
  }
});

Deno.test("executor arguments: the usage names every option", () => {
  for (const option of REQUIRED.filter((text) => text.startsWith("--"))) {
    assertEquals(EXECUTOR_USAGE.includes(`  ${option} <`), true, option);
  }
});
