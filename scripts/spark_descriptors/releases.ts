/**
 * Which releases the table of class descriptors is made from, and which
 * classes it holds.
 *
 * @module
 */

export interface Release {
  readonly version: string;
  readonly scalaLibrary: string;
}

/** Releases that are expected to have the same descriptors. */
export interface Line {
  readonly name: string;
  readonly scala: "2.12" | "2.13";
  readonly releases: readonly Release[];
  /** Of these some types stand in the signatures of Spark's classes. */
  readonly libraries: readonly string[];
}

const COMMON_LIBRARIES = [
  "org.apache.logging.log4j:log4j-api:2.24.3",
  "org.apache.logging.log4j:log4j-core:2.24.3",
  "org.slf4j:slf4j-api:2.0.16",
];
const JSON4S_2_13 = "org.json4s:json4s-ast_2.13:4.0.7";

export const LINES: readonly Line[] = [
  {
    name: "3.4/3.5",
    scala: "2.12",
    libraries: ["org.json4s:json4s-ast_2.12:3.7.0-M11", ...COMMON_LIBRARIES],
    releases: [
      { version: "3.4.4", scalaLibrary: "2.12.17" },
      { version: "3.5.0", scalaLibrary: "2.12.18" },
      { version: "3.5.9", scalaLibrary: "2.12.18" },
    ],
  },
  {
    name: "4.0",
    scala: "2.13",
    libraries: [JSON4S_2_13, ...COMMON_LIBRARIES],
    releases: [
      { version: "4.0.0", scalaLibrary: "2.13.16" },
      { version: "4.0.4", scalaLibrary: "2.13.16" },
    ],
  },
  {
    name: "4.1/4.2",
    scala: "2.13",
    libraries: [JSON4S_2_13, ...COMMON_LIBRARIES],
    releases: [
      { version: "4.1.0", scalaLibrary: "2.13.17" },
      { version: "4.2.0", scalaLibrary: "2.13.18" },
    ],
  },
  {
    name: "4.3",
    scala: "2.13",
    libraries: [JSON4S_2_13, ...COMMON_LIBRARIES],
    releases: [{ version: "4.3.0", scalaLibrary: "2.13.18" }],
  },
];

/**
 * What a cluster manager's messages are made of. "$*" stands for the classes
 * nested in one; a class that a release doesn't have is left out there.
 */
export const CLASS_NAMES: readonly string[] = [
  "org.apache.spark.deploy.DeployMessages$*",
  "org.apache.spark.deploy.ApplicationDescription",
  "org.apache.spark.deploy.Command",
  "org.apache.spark.deploy.DriverDescription",
  "org.apache.spark.deploy.ExecutorDescription",
  "org.apache.spark.deploy.ExecutorState$",
  "org.apache.spark.deploy.master.ApplicationInfo",
  "org.apache.spark.deploy.master.ApplicationState$",
  "org.apache.spark.deploy.master.DriverInfo",
  "org.apache.spark.deploy.master.DriverState$",
  "org.apache.spark.deploy.master.RecoveryState$",
  "org.apache.spark.deploy.master.WorkerInfo",
  "org.apache.spark.deploy.master.WorkerResourceInfo",
  "org.apache.spark.deploy.master.WorkerState$",
  "org.apache.spark.resource.ExecutorResourceRequest",
  "org.apache.spark.resource.ResourceInformation",
  "org.apache.spark.resource.ResourceProfile",
  "org.apache.spark.resource.ResourceRequirement",
  "org.apache.spark.resource.TaskResourceProfile",
  "org.apache.spark.resource.TaskResourceRequest",
  "org.apache.spark.rpc.RpcAddress",
  "org.apache.spark.rpc.RpcEndpointAddress",
  "org.apache.spark.rpc.RpcEndpointRef",
  "org.apache.spark.rpc.RpcTimeout",
  "org.apache.spark.rpc.netty.NettyRpcEndpointRef",
  "org.apache.spark.rpc.netty.RpcEndpointVerifier$CheckExistence",
  "org.apache.spark.rpc.netty.RpcFailure",
  "scala.Enumeration$Val",
  "scala.None$",
  "scala.Some",
  "scala.Tuple2",
  "scala.collection.IterableFactory$ToFactory",
  "scala.collection.MapFactory$ToFactory",
  "scala.collection.generic.DefaultSerializationProxy",
  "scala.collection.generic.SerializeEnd$",
  "scala.collection.immutable.ArraySeq$ofRef",
  "scala.collection.immutable.HashMap$",
  "scala.collection.immutable.HashMap$SerializationProxy",
  "scala.collection.immutable.List$",
  "scala.collection.immutable.List$SerializationProxy",
  "scala.collection.immutable.ListSerializeEnd$",
  "scala.collection.immutable.Map$",
  "scala.collection.immutable.Map$EmptyMap$",
  "scala.collection.immutable.Map$Map1",
  "scala.collection.immutable.Map$Map2",
  "scala.collection.immutable.Map$Map3",
  "scala.collection.immutable.Map$Map4",
  "scala.collection.immutable.Map$WithDefault",
  "scala.collection.immutable.Nil$",
  "scala.collection.mutable.ArraySeq",
  "scala.collection.mutable.HashMap",
  "scala.concurrent.duration.FiniteDuration",
  "scala.runtime.ModuleSerializationProxy",
  "[Ljava.lang.Object;",
  "[Ljava.lang.String;",
  "java.lang.Boolean",
  "java.lang.Integer",
  "java.lang.Long",
  "java.util.Date",
  "java.util.concurrent.TimeUnit",
];
