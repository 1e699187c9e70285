/**
 * RPC over TCP in Spark's frames. `RpcEnv` is the way in; `runMachine` puts a
 * state machine on it.
 *
 * @module
 */
export type { AskOptions } from "./ask.ts";
export type { RpcCallContext, RpcEndpoint } from "./endpoint.ts";
export * from "./errors.ts";
export type { IncomingStream } from "./incoming_stream.ts";
export * from "./machine.ts";
export { type MachineHost, runMachine } from "./machine_host.ts";
export type { PayloadCodec, PayloadFormat } from "./payload.ts";
export { RpcEnv, type RpcEnvOptions } from "./rpc_env.ts";
export { bytesStream, fileStream, type StreamSource } from "./stream_source.ts";
