import { formatAddress, type RpcAddress } from "../messages/addresses.ts";
import type { ApplicationId, WorkerId } from "../messages/deploy.ts";
import type { MasterState } from "../messages/states.ts";
import type { ApplicationEntry } from "./application_entry.ts";
import { mustHold } from "./invariant.ts";
import type { WorkerEntry } from "./worker_entry.ts";

/**
 * All that a master knows: its own state, its workers and its applications.
 * It only keeps the tables in step with each other; what is to happen is
 * decided in workers.ts, applications.ts, executors.ts and scheduling.ts.
 */
export class MasterTables {
  readonly #workers = new Set<WorkerEntry>();
  readonly #workerById = new Map<WorkerId, WorkerEntry>();
  readonly #workerByAddress = new Map<string, WorkerEntry>();
  readonly #applications = new Map<ApplicationId, ApplicationEntry>();
  readonly #applicationByAddress = new Map<string, ApplicationEntry>();
  readonly #completed: ApplicationEntry[] = [];
  #registrations = 0;

  constructor(public state: MasterState) {}

  /** Every worker that is shown, the dead ones too. */
  get workers(): ReadonlySet<WorkerEntry> {
    return this.#workers;
  }

  /** Workers that are not dead. */
  get workerById(): ReadonlyMap<WorkerId, WorkerEntry> {
    return this.#workerById;
  }

  /** How many workers can be found by their address. */
  get addressCount(): number {
    return this.#workerByAddress.size;
  }

  /** The worker, not dead, whose endpoint is at this address. */
  workerAt(address: RpcAddress): WorkerEntry | undefined {
    return this.#workerByAddress.get(formatAddress(address));
  }

  addWorker(worker: WorkerEntry): void {
    const address = formatAddress(worker.endpoint.address);
    mustHold(!this.#workerById.has(worker.id), `${worker.id} is there already`);
    mustHold(!this.#workerByAddress.has(address), `${address} is taken`);
    this.#workers.add(worker);
    this.#workerById.set(worker.id, worker);
    this.#workerByAddress.set(address, worker);
  }

  /** Numbers a registration of a worker; no two have the same number. */
  nextRegistration(): number {
    return ++this.#registrations;
  }

  /** The worker is gone: it can no longer be found, but is still shown. */
  markDead(worker: WorkerEntry): void {
    worker.state = "DEAD";
    this.#workerById.delete(worker.id);
    this.#workerByAddress.delete(formatAddress(worker.endpoint.address));
  }

  /** The dead worker is no longer shown. */
  forgetWorker(worker: WorkerEntry): void {
    mustHold(worker.state === "DEAD", `${worker.id} is not dead`);
    this.#workers.delete(worker);
  }

  /**
   * The applications that have not ended, in the order in which they came:
   * the queue that scheduling goes through.
   */
  get applications(): ReadonlyMap<ApplicationId, ApplicationEntry> {
    return this.#applications;
  }

  /** The application, not ended, whose driver is at this address. */
  applicationAt(address: RpcAddress): ApplicationEntry | undefined {
    return this.#applicationByAddress.get(formatAddress(address));
  }

  addApplication(app: ApplicationEntry): void {
    const address = formatAddress(app.driver.address);
    mustHold(!this.#applications.has(app.id), `${app.id} is there already`);
    mustHold(!this.#applicationByAddress.has(address), `${address} is taken`);
    this.#applications.set(app.id, app);
    this.#applicationByAddress.set(address, app);
  }

  /** Applications that ended and are still shown, the latest last. */
  get completed(): readonly ApplicationEntry[] {
    return this.#completed;
  }

  /**
   * The application has ended. Once `retained` ended ones are shown, a tenth
   * of them, the oldest, make room (`spark.deploy.retainedApplications`).
   */
  completeApplication(app: ApplicationEntry, retained: number): void {
    this.#applications.delete(app.id);
    this.#applicationByAddress.delete(formatAddress(app.driver.address));
    if (this.#completed.length >= retained) {
      this.#completed.splice(0, Math.max(Math.floor(retained / 10), 1));
    }
    this.#completed.push(app);
  }
}
