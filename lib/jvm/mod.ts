/**
 * What sparkts knows of Java and of Spark's own processes: their messages, and
 * the command lines that start them. `javaFormat` is for an `RpcEnv`.
 *
 * @module
 */
export { findJava, findSparkHome } from "./command/homes.ts";
export { type JavaHost, JavaSetupError } from "./command/host.ts";
export { buildJavaCommand } from "./command/java_command.ts";
export { javaFormat } from "./spark/java_format.ts";
