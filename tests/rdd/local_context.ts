import { startLocalExecutor } from "../../cmd/local_executor.ts";
import { LOG_LEVEL } from "../../lib/conf/settings.ts";
import { SparkConf } from "../../lib/conf/spark_conf.ts";
import { SparkContext } from "../../lib/driver/spark_context.ts";
import { setLogLevel } from "../../lib/log.ts";
import { setSelfModule } from "../../lib/process/self.ts";

const THREAD_MAIN = new URL("./thread_main.ts", import.meta.url);

/** A context on threads of this process, and what it takes to end it. */
export interface LocalContext extends AsyncDisposable {
  readonly sc: SparkContext;
  /** A directory of the test's own, removed at the end. */
  readonly directory: string;
}

/** `--master local[N]` in the test's own process. */
export async function localContext(
  settings: Readonly<Record<string, string>> = {},
  threads = 2,
): Promise<LocalContext> {
  setSelfModule(THREAD_MAIN);
  setLogLevel("OFF");
  const directory = await Deno.makeTempDir();
  const conf = new SparkConf();
  conf.set(LOG_LEVEL.key, "OFF");
  conf.set("spark.local.dir", directory);
  for (const [key, value] of Object.entries(settings)) conf.set(key, value);
  const sc = await SparkContext.start(conf, {
    type: "local",
    threads,
    startExecutor: startLocalExecutor,
  });
  return {
    sc,
    directory,
    async [Symbol.asyncDispose]() {
      await sc.stop();
      setSelfModule(undefined);
      setLogLevel("INFO");
      await Deno.remove(directory, { recursive: true });
    },
  };
}
