/**
 * Which descriptors the classes of Spark's releases have.
 *
 * @module
 */
export * from "./peer_descriptors.ts";
export {
  knownClassNames,
  knownForms,
  type ScalaLine,
  SPARK_LINES,
  type SparkLine,
} from "./table.ts";
