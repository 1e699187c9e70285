/**
 * What sparkts knows of Java and of Spark's own processes: their messages, and
 * the command lines that start them. `javaFormat` is for an `RpcEnv`.
 *
 * @module
 */
export { javaFormat } from "./spark/java_format.ts";
