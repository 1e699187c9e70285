import { MASTER_ENDPOINT, type ToMaster } from "../../lib/messages/deploy.ts";
import {
  MasterCore,
  type MasterEffect,
  type MasterEvent,
} from "../../lib/master/mod.ts";
import { RetryWatch } from "./invariants.ts";
import { SimHost } from "./sim_host.ts";
import { MASTER_AT, type World } from "./world.ts";

/** The master, which neither crashes nor restarts yet, but may stand still. */
export class SimMaster {
  readonly core: MasterCore;
  readonly #host: SimHost<ToMaster, MasterEvent, MasterEffect>;

  constructor(world: World) {
    const core = new MasterCore({
      address: MASTER_AT,
      webUiUrl: "",
      conf: world.conf,
    });
    const retries = new RetryWatch(core, world.conf);
    this.core = core;
    this.#host = new SimHost({
      world,
      address: MASTER_AT,
      endpoint: MASTER_ENDPOINT,
      label: "master",
      machine: world.sabotage.master?.(core) ?? core,
      carryOut: () => {},
      check: () => {
        core.checkInvariants();
        retries.check();
      },
    });
  }

  get process() {
    return this.#host.process;
  }
}
