/**
 * Java object streams, both ways, without Java: by the Java Object
 * Serialization Specification, chapter 6.
 *
 * @module
 */
export * from "./access.ts";
export * from "./graph.ts";
export * from "./limits.ts";
export {
  type JavaStreamOptions,
  readJavaObject,
  readJavaStream,
} from "./reader.ts";
export { shown } from "./shown.ts";
export { javaObjectBytes, writeJavaObject, writeJavaStream } from "./writer.ts";
