import { EXECUTOR_MEMORY } from "../lib/conf/settings.ts";
import type { StartLocalExecutor } from "../lib/driver/mod.ts";
import { Executor } from "../lib/executor/executor.ts";
import { createLocalDirectory } from "../lib/process/local_dirs.ts";
import { selfModule } from "../lib/process/self.ts";

/** Gives a driver an executor in its own process, for `--master local[N]`. */
export const startLocalExecutor: StartLocalExecutor = async (
  { threads, conf, host },
  events,
) => {
  const directory = await createLocalDirectory(conf, "blockmgr");
  const executor = new Executor({
    host,
    cores: threads,
    // Each thread gets what an executor would: here no worker divides it.
    memory: conf.get(EXECUTOR_MEMORY) * threads,
    conf,
    module: selfModule(),
    directory,
  }, events);
  executor.warmUp();
  return executor;
};
