import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { InvalidSettingError } from "../../lib/conf/units.ts";
import { startMaster } from "../../lib/master/mod.ts";
import {
  type EndpointRef,
  parseSparkUrl,
} from "../../lib/messages/addresses.ts";
import type {
  MasterStateResponse,
  ToWorker,
} from "../../lib/messages/deploy.ts";
import { RpcEnv } from "../../lib/rpc/mod.ts";
import { appDescription, workerRegistration } from "./harness.ts";

const HOST = "127.0.0.1";

/** Collects what an endpoint is sent, for those who wait for it in turn. */
class Mailbox<M> {
  readonly #arrived: M[] = [];
  #wake: () => void = () => {};

  readonly receive = (message: unknown): void => {
    this.#arrived.push(message as M);
    this.#wake();
  };

  async next(): Promise<M> {
    while (this.#arrived.length === 0) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#arrived.shift()!;
  }
}

async function askState(
  env: RpcEnv,
  master: EndpointRef,
): Promise<MasterStateResponse> {
  return await env.ask(master, { type: "RequestMasterState" });
}

Deno.test("master: over real sockets it takes a worker and an application in and sees them go", async () => {
  const conf = new SparkConf();
  const master = await startMaster({ host: HOST, port: 0, conf });
  assertMatch(master.url, /^spark:\/\/127\.0\.0\.1:[1-9]\d*$/);
  const ref = { address: parseSparkUrl(master.url), name: "Master" };

  const workerEnv = await RpcEnv.create({ host: HOST, port: 0, conf });
  const workerBox = new Mailbox<ToWorker>();
  const worker = workerEnv.register("Worker", workerBox);
  workerEnv.send(ref, {
    ...workerRegistration({ ...worker.address, worker, id: "w" }),
  });
  assertEquals((await workerBox.next()).type, "RegisteredWorker");

  const driverEnv = await RpcEnv.create({ host: HOST, port: 0, conf });
  const driverBox = new Mailbox<{ type: string }>();
  const driver = driverEnv.register("AppClient", driverBox);
  driverEnv.send(ref, {
    type: "RegisterApplication",
    appDescription: appDescription({ maxCores: 2 }),
    driver,
  });
  assertEquals((await driverBox.next()).type, "RegisteredApplication");
  assertEquals((await driverBox.next()).type, "ExecutorAdded");
  const launch = await workerBox.next();
  if (launch.type !== "LaunchExecutor") throw new Error(launch.type);
  assertEquals([launch.masterUrl, launch.cores], [master.url, 2]);
  const answer = await workerEnv.ask(ref, {
    type: "ExecutorStateChanged",
    appId: launch.appId,
    execId: launch.execId,
    state: "RUNNING",
    message: null,
    exitStatus: null,
  });
  assertEquals(answer, true);
  assertEquals((await driverBox.next()).type, "ExecutorUpdated");
  assertEquals((await askState(driverEnv, ref)).activeApps.length, 1);

  await driverEnv.close();
  assertEquals((await workerBox.next()).type, "KillExecutor");
  assertEquals((await workerBox.next()).type, "ApplicationFinished");
  const { completedApps, workers } = await askState(workerEnv, ref);
  assertEquals(completedApps.map(({ state }) => state), ["FINISHED"]);
  assertEquals(workers.map(({ state, coresUsed }) => [state, coresUsed]), [
    ["ALIVE", 0],
  ]);

  await workerEnv.close();
  await master.close();
  assertEquals(await master.closed, 0);
});

Deno.test("master: closing it twice is closing it once", async () => {
  const master = await startMaster({
    host: HOST,
    port: 0,
    conf: new SparkConf(),
  });
  await Promise.all([master.close(), master.close()]);
  assertEquals(await master.closed, 0);
});

Deno.test("master: a setting that is no good leaves no port behind", async () => {
  await assertRejects(
    () =>
      startMaster({
        host: HOST,
        port: 0,
        conf: new SparkConf({ "spark.worker.timeout": "0" }),
      }),
    InvalidSettingError,
    "spark.worker.timeout",
  );
});
