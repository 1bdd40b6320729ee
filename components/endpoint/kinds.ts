import type * as pulumi from "@pulumi/pulumi";
import type { EndpointSpec } from "../spec/endpoint.js";
import type { Endpoint, EndpointArgs } from "./endpoint.js";
import { FloatingIpEndpoint } from "./floating-ip.js";
import { ExistingEndpoint, PrivateEndpoint } from "./given.js";
import { LoadBalancerEndpoint } from "./load-balancer.js";
import { VirtualIpEndpoint } from "./virtual-ip.js";

type Kinds = {
  readonly [Kind in EndpointSpec["kind"]]: new (
    name: string,
    args: EndpointArgs<Kind>,
    opts?: pulumi.ComponentResourceOptions,
  ) => Endpoint;
};

/** Class of each kind of endpoint. */
const kinds: Kinds = {
  "floating-ip": FloatingIpEndpoint,
  "load-balancer": LoadBalancerEndpoint,
  "virtual-ip": VirtualIpEndpoint,
  existing: ExistingEndpoint,
  private: PrivateEndpoint,
};

/** Returns the class of a kind of endpoint, which takes the arguments of that kind. */
export const endpointClass = (
  kind: EndpointSpec["kind"],
): new (name: string, args: EndpointArgs, opts?: pulumi.ComponentResourceOptions) => Endpoint =>
  kinds[kind] as Kinds["private"] as never;
