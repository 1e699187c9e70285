import { assert, assertEquals, assertThrows } from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import {
  resolveWorkerArguments,
  WorkerArgumentsError,
  type WorkerFlags,
} from "../../lib/worker/arguments.ts";
import { readMachineFacts } from "../../lib/worker/machine_facts.ts";

const MIB = 2 ** 20;

function resolve(
  { flags = {}, env = {}, conf = {}, memory = 8_192 * MIB }: {
    flags?: WorkerFlags;
    env?: Record<string, string>;
    conf?: Record<string, string>;
    memory?: number;
  } = {},
) {
  return resolveWorkerArguments({
    flags,
    env: (name) => env[name],
    conf: new SparkConf(conf),
    machine: { cores: 4, memory, hostname: "box" },
  });
}

Deno.test("worker arguments: the defaults are what the machine has", () => {
  assertEquals(resolve(), {
    host: "box",
    port: 0,
    webUiPort: 8081,
    cores: 4,
    memory: 7_168,
    workDir: "work",
  });
  assertEquals(resolve({ memory: 1_500 * MIB }).memory, 1_024);
});

// WorkerArgumentsTest
Deno.test("worker arguments: memory without a unit is bytes, and so too little", () => {
  const error = assertThrows(
    () => resolve({ flags: { memory: "10000" } }),
    WorkerArgumentsError,
    '--memory "10000"',
  );
  assert(error.message.includes("missing"));
  assertThrows(
    () => resolve({ env: { SPARK_WORKER_MEMORY: "50000" } }),
    WorkerArgumentsError,
    "SPARK_WORKER_MEMORY",
  );
  assertEquals(resolve({ env: { SPARK_WORKER_MEMORY: "5G" } }).memory, 5_120);
  assertEquals(resolve({ flags: { memory: "10000M" } }).memory, 10_000);
});

Deno.test("worker arguments: flags come before the environment", () => {
  const env = {
    SPARK_WORKER_PORT: "1000",
    SPARK_WORKER_CORES: "7",
    SPARK_WORKER_MEMORY: "2g",
    SPARK_WORKER_WEBUI_PORT: "1001",
    SPARK_WORKER_DIR: "/w",
    SPARK_HOME: "/opt/spark",
    SPARK_LOCAL_HOSTNAME: "me",
  };
  assertEquals(resolve({ env }), {
    host: "me",
    port: 1000,
    webUiPort: 1001,
    cores: 7,
    memory: 2_048,
    workDir: "/w",
  });
  const flags = {
    host: "fe80::1",
    port: "2000",
    cores: "1",
    memory: "3g",
    webUiPort: "2001",
    workDir: "/flag",
  };
  assertEquals(resolve({ env, flags }), {
    host: "[fe80::1]",
    port: 2000,
    webUiPort: 2001,
    cores: 1,
    memory: 3_072,
    workDir: "/flag",
  });
  assertEquals(
    resolve({ flags, conf: { "spark.worker.ui.port": "3001" } }).webUiPort,
    3001,
  );
  assertEquals(
    resolve({ env: { SPARK_HOME: "/opt/spark" } }).workDir,
    "/opt/spark/work",
  );
});

Deno.test("worker arguments: nonsense is refused by name", () => {
  for (
    const [flags, name] of [
      [{ cores: "0" }, "--cores"],
      [{ cores: "two" }, "--cores"],
      [{ port: "65536" }, "--port"],
      [{ port: "-1" }, "--port"],
      [{ memory: "much" }, "--memory"],
      [{ memory: "-5g" }, "--memory"],
      [{ webUiPort: "" }, "--webui-port"],
      [{ host: "not:a:host:at:all" }, "host"],
    ] as const
  ) {
    assertThrows(() => resolve({ flags }), WorkerArgumentsError, name);
  }
});

Deno.test("worker arguments: this machine has cores, memory and a name", () => {
  const { cores, memory, hostname } = readMachineFacts();
  assert(Number.isInteger(cores) && cores >= 1);
  assert(memory >= 2 ** 27 && memory <= Deno.systemMemoryInfo().total);
  assert(hostname !== "");
});
