/**
 * The classes of Spark that messages are made of.
 *
 * @module
 */

const SPARK = "org.apache.spark";

/** The class of one of Spark's `DeployMessages`. */
export function deployMessage(name: string): string {
  return `${DEPLOY_MESSAGES}${name}`;
}

export const DEPLOY_MESSAGES = `${SPARK}.deploy.DeployMessages$`;
export const APPLICATION_DESCRIPTION = `${SPARK}.deploy.ApplicationDescription`;
export const COMMAND = `${SPARK}.deploy.Command`;
export const EXECUTOR_STATE = `${SPARK}.deploy.ExecutorState$`;
export const EXECUTOR_RESOURCE_REQUEST =
  `${SPARK}.resource.ExecutorResourceRequest`;
export const RESOURCE_PROFILE = `${SPARK}.resource.ResourceProfile`;
export const RPC_ADDRESS = `${SPARK}.rpc.RpcAddress`;
export const RPC_ENDPOINT_ADDRESS = `${SPARK}.rpc.RpcEndpointAddress`;
export const RPC_TIMEOUT = `${SPARK}.rpc.RpcTimeout`;
export const NETTY_ENDPOINT_REF = `${SPARK}.rpc.netty.NettyRpcEndpointRef`;
export const CHECK_EXISTENCE =
  `${SPARK}.rpc.netty.RpcEndpointVerifier$CheckExistence`;
