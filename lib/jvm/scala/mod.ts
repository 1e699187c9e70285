/**
 * The values of Scala that Spark's messages are made of, as both Scala lines
 * write them.
 *
 * @module
 */
export * from "./boxed.ts";
export * from "./enumerations.ts";
export * from "./maps.ts";
export * from "./modules.ts";
export * from "./options.ts";
export { readSequence } from "./sequences.ts";
export * from "./unexpected.ts";
