/**
 * What an application may import, as types:
 *
 * ```ts
 * import type { SparkContext } from "sparkts";
 *
 * export default async function main(sc: SparkContext, args: string[]) {
 *   const lines = sc.textFile(args[0]);
 *   console.log(await lines.count());
 * }
 * ```
 *
 * @module
 */
export type { SparkConf } from "./conf/spark_conf.ts";
export type { SparkContext } from "./driver/spark_context.ts";
export type { Accumulator } from "./rdd/accumulator.ts";
export type { Broadcast } from "./rdd/broadcast.ts";
export type { MaybePromise, RDD } from "./rdd/rdd.ts";
