import { assertEquals, assertThrows } from "@std/assert";
import {
  booleanSetting,
  bytesSetting,
  doubleSetting,
  intSetting,
  listSetting,
  mebibytesAsBytesSetting,
  megabytesSetting,
  millisecondsSetting,
  plainSecondsSetting,
  secondsSetting,
  type Setting,
  stringSetting,
  wordSetting,
} from "../../lib/conf/setting.ts";
import * as settings from "../../lib/conf/settings.ts";
import {
  isExecutorStartupSetting,
  SparkConf,
} from "../../lib/conf/spark_conf.ts";
import { InvalidSettingError } from "../../lib/conf/units.ts";

const ABOUT = { doc: "For this test.", since: "sparkts" };

function read<T>(setting: Setting<T>, text: string): T {
  return new SparkConf({ [setting.key]: text }).get(setting);
}

function isSetting(value: unknown): value is Setting<unknown> {
  return typeof value === "object" && value !== null && "key" in value;
}

const table = Object.values<unknown>(settings).filter(isSetting);

Deno.test("settings: every default is of its setting's type", () => {
  const conf = new SparkConf();
  for (const setting of table) {
    const value = conf.get(setting);
    assertEquals(
      value === undefined,
      setting.defaultText === undefined,
      setting.key,
    );
  }
});

Deno.test("settings: no key stands twice, earlier names included", () => {
  const keys = table.flatMap(({ key, alternatives }) => [key, ...alternatives]);
  const twice = keys.filter((key, at) => keys.indexOf(key) !== at);
  assertEquals(twice, []);
});

Deno.test("settings: each has a key of Spark's form, a meaning and a release", () => {
  for (const { key, doc, since } of table) {
    assertEquals(/^spark\.[a-zA-Z0-9.]+$/.test(key), true, key);
    assertEquals(/^\S.*\.$/.test(doc), true, `${key}: ${doc}`);
    assertEquals(/^(\d+\.\d+\.\d+|sparkts)$/.test(since), true, key);
  }
});

// Section 18 of master-worker.md: figures read from Spark 4.3.0 itself.
Deno.test("settings: the master's and worker's defaults are Spark's", () => {
  const conf = new SparkConf();
  for (
    const [setting, expected] of [
      [settings.RETAINED_APPLICATIONS, 200],
      [settings.MAX_EXECUTOR_RETRIES, 10],
      [settings.SPREAD_OUT_APPS, true],
      [settings.WORKER_SELECTION_POLICY, "CORES_FREE_DESC"],
      [settings.DEFAULT_CORES, 2_147_483_647],
      [settings.APP_NUMBER_MODULO, undefined],
      [settings.APP_ID_PATTERN, "app-%s-%04d"],
      [settings.USE_APP_NAME_AS_APP_ID, false],
      [settings.DEAD_WORKER_PERSISTENCE, 15],
      [settings.WORKER_TIMEOUT, 60_000],
      [settings.WORKER_ID_PATTERN, "worker-%s-%s-%d"],
      [settings.WORKER_INITIAL_REGISTRATION_RETRIES, 6],
      [settings.WORKER_MAX_REGISTRATION_RETRIES, 16],
      [settings.WORKER_PREFER_CONFIGURED_MASTER_ADDRESS, false],
      [settings.WORKER_RETAINED_EXECUTORS, 1_000],
      [settings.WORKER_STATE_SYNC_MAX_ATTEMPTS, 5],
      [settings.WORKER_CLEANUP_ENABLED, true],
      [settings.WORKER_CLEANUP_INTERVAL, 1_800_000],
      [settings.WORKER_CLEANUP_APP_DATA_TTL, 604_800_000],
      [settings.EXECUTOR_REMOVE_DELAY_ON_DISCONNECTION, 5_000],
    ] as [Setting<unknown>, unknown][]
  ) {
    assertEquals(conf.get(setting), expected, setting.key);
  }
});

Deno.test("conf: what was set wins over the default, and the last value over the first", () => {
  const conf = new SparkConf({ "spark.executor.memory": "2g" });
  assertEquals(conf.get(settings.EXECUTOR_MEMORY), 2_048);
  conf.set("spark.executor.memory", "512");
  assertEquals(conf.get(settings.EXECUTOR_MEMORY), 512);
  conf.setIfMissing("spark.executor.memory", "1g");
  assertEquals(conf.get(settings.EXECUTOR_MEMORY), 512);
  conf.setIfMissing("spark.executor.cores", "3");
  assertEquals(conf.get(settings.EXECUTOR_CORES), 3);
});

Deno.test("conf: a setting without a default is undefined until it is set", () => {
  const conf = new SparkConf();
  assertEquals(conf.get(settings.CORES_MAX), undefined);
  assertEquals(conf.contains(settings.CORES_MAX), false);
  conf.set("spark.cores.max", "8");
  assertEquals(conf.get(settings.CORES_MAX), 8);
  assertEquals(conf.contains(settings.CORES_MAX), true);
});

Deno.test("conf: an earlier name is read when the newer one is not set", () => {
  const setting = intSetting("spark.new", {
    ...ABOUT,
    default: "0",
    alternatives: ["spark.older", "spark.oldest"],
  });
  const conf = new SparkConf({ "spark.oldest": "1" });
  assertEquals(conf.get(setting), 1);
  assertEquals(conf.contains(setting), true);
  conf.set("spark.older", "2");
  assertEquals(conf.get(setting), 2);
  conf.set("spark.new", "3");
  assertEquals(conf.get(setting), 3);
});

Deno.test("conf: a value that doesn't fit is an error that names key, value and reason", () => {
  const error = assertThrows(
    () => new SparkConf({ "spark.cores.max": "many" }).get(settings.CORES_MAX),
    InvalidSettingError,
  );
  assertEquals(
    error.message,
    'Cannot read spark.cores.max: "many" is not a whole number.',
  );
});

Deno.test("conf: a copy goes its own way, and entries come in order", () => {
  const conf = new SparkConf([["spark.b", "1"], ["spark.a", "2"]]);
  const copy = conf.clone().set("spark.b", "3");
  assertEquals(conf.entries(), [["spark.a", "2"], ["spark.b", "1"]]);
  assertEquals(copy.entries(), [["spark.a", "2"], ["spark.b", "3"]]);
});

Deno.test("setting types: each reads its own form", () => {
  assertEquals(read(stringSetting("spark.x", ABOUT), " a "), " a ");
  assertEquals(read(intSetting("spark.x", ABOUT), " -5 "), -5);
  assertEquals(read(doubleSetting("spark.x", ABOUT), "0.25"), 0.25);
  assertEquals(read(booleanSetting("spark.x", ABOUT), "TRUE"), true);
  assertEquals(read(booleanSetting("spark.x", ABOUT), "false"), false);
  assertEquals(read(listSetting("spark.x", ABOUT), " a, b,,c "), [
    "a",
    "b",
    "c",
  ]);
  assertEquals(read(millisecondsSetting("spark.x", ABOUT), "5"), 5);
  assertEquals(read(secondsSetting("spark.x", ABOUT), "5"), 5_000);
  assertEquals(read(plainSecondsSetting("spark.x", ABOUT), "5"), 5_000);
  assertEquals(read(bytesSetting("spark.x", ABOUT), "1k"), 1_024);
  assertEquals(read(mebibytesAsBytesSetting("spark.x", ABOUT), "2"), 2 ** 21);
  assertEquals(read(megabytesSetting("spark.x", ABOUT), "2g"), 2_048);
});

Deno.test("setting types: each refuses what is not of its form", () => {
  for (
    const [setting, text] of [
      [intSetting("spark.x", ABOUT), "1.5"],
      [intSetting("spark.x", ABOUT), ""],
      [intSetting("spark.x", ABOUT), "12345678901234567890"],
      [doubleSetting("spark.x", ABOUT), " "],
      [doubleSetting("spark.x", ABOUT), "half"],
      [booleanSetting("spark.x", ABOUT), "yes"],
      [plainSecondsSetting("spark.x", ABOUT), "60s"],
      [megabytesSetting("spark.x", ABOUT), "1.5g"],
    ] as [Setting<unknown>, string][]
  ) {
    assertThrows(
      () => read(setting, text),
      InvalidSettingError,
      "spark.x",
      `${setting.type}: ${text}`,
    );
  }
});

Deno.test("setting types: one of a few words, whatever the case", () => {
  const setting = wordSetting("spark.x", ["LEFT", "RIGHT"], {
    ...ABOUT,
    default: "LEFT",
  });
  assertEquals(new SparkConf().get(setting), "LEFT");
  assertEquals(read(setting, "right"), "RIGHT");
  assertThrows(
    () => read(setting, "up"),
    InvalidSettingError,
    "is not one of LEFT, RIGHT",
  );
});

Deno.test("conf: what an executor needs before it can reach the driver", () => {
  const keys = [
    "spark.authenticate",
    "spark.ssl.rpc.enabled",
    "spark.rpc.askTimeout",
    "spark.network.timeout",
    "spark.driver.port",
    "spark.port.maxRetries",
    "spark.authenticate.secret",
    "spark.executor.memory",
    "spark.app.name",
    "my.port",
    "spark.portable",
  ];
  assertEquals(keys.filter(isExecutorStartupSetting), keys.slice(0, 6));
});
