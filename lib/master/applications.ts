import { formatAddress, type RpcAddress } from "../messages/addresses.ts";
import type {
  ApplicationDescription,
  ApplicationId,
  KillExecutors,
  MasterChangeAcknowledged,
  RegisterApplication,
  RequestedResourceProfile,
  RequestExecutors,
  UnregisterApplication,
} from "../messages/deploy.ts";
import { ApplicationEntry } from "./application_entry.ts";
import { killExecutor, removeApplication } from "./application_removal.ts";
import type { ExecutorEntry } from "./executor_entry.ts";
import { announceExecutor } from "./executors.ts";
import type { Turn } from "./turn.ts";

/** Resource profiles that one application may have. */
export const MAX_RESOURCE_PROFILES = 1_000;

/**
 * A driver brings its application.
 *
 * A driver that registers again, because no answer reached it in time, is
 * answered with the id that its application has. Spark's master answers with a
 * fresh id, of which it knows nothing itself: a driver that got both answers
 * would go by the wrong one.
 *
 * One that brings something else has taken the address (`spark.driver.port`)
 * of a driver that ended, before that was seen here.
 */
export function registerApplication(
  turn: Turn,
  { appDescription, driver }: RegisterApplication,
): void {
  const { tables, facts, settings, now } = turn;
  if (tables.state === "STANDBY") {
    turn.log(
      "debug",
      `Not registering application ${appDescription.name}: this master ` +
        `stands by.`,
    );
    return;
  }
  const refuse = (reason: string): void => {
    turn.log("warn", `Refusing application ${appDescription.name}: ${reason}.`);
    turn.toDriver({ driver }, { type: "ApplicationRemoved", message: reason });
  };
  const confirm = (appId: ApplicationId): void =>
    turn.toDriver({ driver }, {
      type: "RegisteredApplication",
      appId,
      master: facts.self,
    });
  const problem = problemOfDescription(appDescription);
  if (problem !== null) return refuse(problem);
  const existing = tables.applicationAt(driver.address);
  if (existing !== undefined && !isSame(existing.description, appDescription)) {
    turn.log(
      "warn",
      `Another driver is at ${formatAddress(driver.address)} now: that of ` +
        `${existing.id} is gone.`,
    );
    removeApplication(turn, existing, "FINISHED");
  } else if (existing !== undefined) {
    turn.log(
      "warn",
      `The driver at ${formatAddress(driver.address)} registered again: it ` +
        `has application ${existing.id}.`,
    );
    confirm(existing.id);
    // With the answer it may have missed what came after it.
    for (const executor of existing.executors.values()) {
      announceExecutor(turn, executor);
    }
    return;
  }
  const id = facts.applicationIds.next(
    appDescription.name,
    now,
    tables.applications,
  );
  if (id === undefined) {
    return refuse(
      `FAILED: an application with the id of "${appDescription.name}" runs`,
    );
  }
  tables.addApplication(
    new ApplicationEntry(
      id,
      appDescription,
      driver,
      now,
      settings.defaultCores,
    ),
  );
  turn.log("info", `Registered application ${appDescription.name}: ${id}.`);
  turn.scheduleAtEnd();
  confirm(id);
}

/** The driver says that its application is done. */
export function unregisterApplication(
  turn: Turn,
  { appId }: UnregisterApplication,
): void {
  const app = turn.tables.applications.get(appId);
  if (app !== undefined) removeApplication(turn, app, "FINISHED");
}

/**
 * How many executors an application wants in all, by resource profile.
 *
 * @returns whether that was taken.
 */
export function requestExecutors(
  turn: Turn,
  { appId, resourceProfileToTotalExecs: wanted }: RequestExecutors,
): boolean {
  const app = turn.tables.applications.get(appId);
  if (app === undefined) {
    turn.log("warn", `Unknown application ${appId} asked for executors.`);
    return false;
  }
  const problem = problemOfRequest(app, wanted);
  if (problem !== null) {
    turn.log("warn", `Refusing what ${appId} asked for: ${problem}.`);
    return false;
  }
  for (const { profile, total } of wanted) {
    // Drivers repeat all of their targets when one changes, or none does.
    if (!app.hasProfile(profile.id) || app.targetOf(profile.id) !== total) {
      turn.log(
        "info",
        `Application ${appId} wants ${total} executors in all of resource ` +
          `profile ${profile.id}.`,
      );
    }
    app.setTarget(profile, total);
  }
  turn.scheduleAtEnd();
  return true;
}

/**
 * An application gives executors back. It has lowered its executor limit
 * before, by RequestExecutors: else new ones would take their place at once.
 *
 * @returns whether the application is known.
 */
export function killExecutors(
  turn: Turn,
  { appId, executorIds }: KillExecutors,
): boolean {
  const app = turn.tables.applications.get(appId);
  if (app === undefined) {
    turn.log("warn", `Unknown application ${appId} asked to kill executors.`);
    return false;
  }
  const known = new Set<ExecutorEntry>();
  const unknown: string[] = [];
  for (const id of executorIds) {
    const executor = /^\d{1,10}$/.test(id)
      ? app.executors.get(Number(id))
      : undefined;
    if (executor === undefined) unknown.push(id);
    else known.add(executor);
  }
  if (unknown.length > 0) {
    turn.log(
      "warn",
      `Application ${appId} asked to kill executors that it does not have: ` +
        `${unknown.join(", ")}.`,
    );
  }
  for (const executor of known) {
    turn.log("info", `Killing executor ${executor.fullId}, as asked.`);
    app.removeExecutor(executor);
    killExecutor(turn, executor);
  }
  turn.scheduleAtEnd();
  return true;
}

/** Only a recovering master waits for this one. */
export function masterChangeAcknowledged(
  turn: Turn,
  { appId }: MasterChangeAcknowledged,
): void {
  turn.log("warn", `Application ${appId} acknowledged a change unasked.`);
}

/** The driver's process is gone, and its application with it. */
export function applicationDisconnected(
  turn: Turn,
  address: RpcAddress,
): void {
  const app = turn.tables.applicationAt(address);
  if (app === undefined) return;
  turn.log("info", `The driver of ${app.id} got disassociated.`);
  removeApplication(turn, app, "FINISHED");
}

function problemOfDescription(app: ApplicationDescription): string | null {
  if (app.maxCores !== null && !isCount(app.maxCores, 1)) {
    return `FAILED: spark.cores.max is ${app.maxCores}, not at least 1`;
  }
  const limit = app.initialExecutorLimit;
  if (limit !== null && !isCount(limit, 0)) {
    return `FAILED: the initial executor limit ${limit} is negative`;
  }
  const problem = problemOfProfile(app.defaultProfile);
  return problem === null ? null : `FAILED: ${problem}`;
}

function problemOfRequest(
  app: ApplicationEntry,
  wanted: RequestExecutors["resourceProfileToTotalExecs"],
): string | null {
  let profiles = app.profileCount;
  for (const { profile, total } of wanted) {
    const problem = problemOfProfile(profile);
    if (problem !== null) return problem;
    if (!isCount(total, 0)) return `${total} executors cannot be had`;
    if (!app.hasProfile(profile.id)) profiles++;
  }
  return profiles > MAX_RESOURCE_PROFILES
    ? `it has more than ${MAX_RESOURCE_PROFILES} resource profiles`
    : null;
}

/** An executor of no cores could be placed without end. */
function problemOfProfile(profile: RequestedResourceProfile): string | null {
  const { id, coresPerExecutor: cores, memoryPerExecutor: memory } = profile;
  if (!isCount(id, 0)) return `${id} is no id of a resource profile`;
  if (cores !== null && !isCount(cores, 1)) {
    return `an executor cannot have ${cores} cores`;
  }
  if (memory !== null && !isCount(memory, 1)) {
    return `an executor cannot have ${memory} MiB of memory`;
  }
  return null;
}

/** Both were read from the wire, or neither. */
function isSame(
  one: ApplicationDescription,
  other: ApplicationDescription,
): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isCount(value: number, least: number): boolean {
  return Number.isSafeInteger(value) && value >= least;
}
