import type * as pulumi from "@pulumi/pulumi";
import type { EndpointSpec } from "../config/load-balancing/endpoint.js";
import type { Endpoint, EndpointArgs } from "./endpoint.js";
import { FloatingIpEndpoint } from "./floating-ip.js";
import { ExistingEndpoint, PrivateEndpoint } from "./unmanaged-endpoints.js";
import { LoadBalancerEndpoint } from "./load-balancer.js";
import { VirtualIpEndpoint } from "./virtual-ip.js";

type Kinds = {
  readonly [Kind in EndpointSpec["kind"]]: new (
    name: string,
    args: EndpointArgs<Kind>,
    opts?: pulumi.ComponentResourceOptions,
  ) => Endpoint;
};

/** Class for each `endpoint.kind`. */
const kinds: Kinds = {
  "floating-ip": FloatingIpEndpoint,
  "load-balancer": LoadBalancerEndpoint,
  "virtual-ip": VirtualIpEndpoint,
  existing: ExistingEndpoint,
  private: PrivateEndpoint,
};

/** Returns the class for an `endpoint.kind`. The arguments of the class must have the same kind. */
export const getEndpointClass = (
  kind: EndpointSpec["kind"],
): new (name: string, args: EndpointArgs, opts?: pulumi.ComponentResourceOptions) => Endpoint =>
  kinds[kind] as Kinds["private"] as never;
