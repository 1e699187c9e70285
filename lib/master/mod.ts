/**
 * The master: who takes in workers and applications, and decides which worker
 * runs which executors.
 *
 * @module
 */
export { MasterCore } from "./core.ts";
export type { MasterCoreOptions, MasterEffect, MasterEvent } from "./core.ts";
export { type Master, type MasterOptions, startMaster } from "./master.ts";
