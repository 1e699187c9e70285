import {
  type EndpointRef,
  formatEndpointUri,
} from "../../messages/addresses.ts";
import type { PeerDescriptors } from "../descriptors/mod.ts";
import {
  type JavaObject,
  javaString,
  type JavaValue,
  newObject,
} from "../stream/mod.ts";
import {
  NETTY_ENDPOINT_REF,
  RPC_ADDRESS,
  RPC_ENDPOINT_ADDRESS,
  RPC_TIMEOUT,
} from "./class_names.ts";
import { Fields } from "./fields.ts";

/** What Spark's own references carry, and nobody who gets one asks for. */
const ASK_TIMEOUT_SECONDS = 120n;

/** A reference that a Spark process gives out to its endpoint. */
export function readEndpointRef(value: JavaValue): EndpointRef {
  const endpoint = Fields.of(value, NETTY_ENDPOINT_REF)
    .object("endpointAddress", RPC_ENDPOINT_ADDRESS);
  const address = endpoint.object("rpcAddress", RPC_ADDRESS);
  return {
    name: endpoint.text("name"),
    address: { host: address.text("host"), port: address.int("port") },
  };
}

export function writeEndpointRef(
  ref: EndpointRef,
  descriptors: PeerDescriptors,
): JavaObject {
  const { host, port } = ref.address;
  return newObject(descriptors.get(NETTY_ENDPOINT_REF), {
    defaultAskTimeout: newObject(descriptors.get(RPC_TIMEOUT), {
      duration: newObject(
        descriptors.get("scala.concurrent.duration.FiniteDuration"),
        {
          length: ASK_TIMEOUT_SECONDS,
          unit: {
            kind: "enum",
            descriptor: descriptors.get("java.util.concurrent.TimeUnit"),
            constant: javaString("SECONDS"),
          },
        },
      ),
      timeoutProp: javaString("spark.rpc.askTimeout"),
    }),
    endpointAddress: newObject(descriptors.get(RPC_ENDPOINT_ADDRESS), {
      name: javaString(ref.name),
      rpcAddress: newObject(descriptors.get(RPC_ADDRESS), {
        host: javaString(host),
        port,
      }),
      toString: javaString(formatEndpointUri(ref)),
    }),
  });
}
