import { Address4 } from "ip-address";
import { apiPort } from "../../../base/ports.js";
import type { ClusterSpec } from "../cluster-spec.js";
import { existingFloatingIp } from "../endpoint.js";

type Planned = Pick<ClusterSpec, "endpoint" | "allowedCidrs"> & {
  readonly network: Pick<ClusterSpec["network"], "nodes">;
};

type Caller = { readonly group: "control-plane" } | { readonly range: string };

/** Access to the control planes: a row of network/firewall-rules.ts. */
export interface Opening {
  /** Name of the rules in the state; must not change. */
  readonly name: string;
  readonly group: "control-plane";
  readonly from: readonly Caller[];
  readonly protocol: "tcp" | "vrrp";
  /** First and last port. Undefined: every port. */
  readonly ports?: readonly [number, number];
  /** Reason for the access, stored in the cloud as the rules' description. */
  readonly reason: string;
}

/** Needs of an endpoint in the cloud and on the control planes, known before any of them exists. */
export interface EndpointTraits {
  /** Number of floating IPs that the program creates. */
  readonly floatingIps: number;
  readonly loadBalancers: number;
  /** Number of ports in the machines' network, in addition to the machines' own. */
  readonly ports: number;
  /** Access to the control planes that the endpoint needs, in addition to the machines' own. */
  readonly firewall: readonly Opening[];
  /** Packages of the distribution that a control plane needs. */
  readonly packages: readonly string[];
}

/**
 * Returns whether the provider is OVN. Its load balancers keep the client's address and support no
 * HTTPS monitors, timeouts or allowed ranges.
 */
export const isOvn = (provider: string): boolean => provider === "ovn";

/**
 * Returns the ranges in the form in which Octavia stores them for a listener: IPv4 only, because it
 * refuses the other family, and sorted as text.
 */
export const listenerRanges = (ranges: readonly string[]): string[] =>
  [...new Set(ranges)].filter((one) => Address4.isValid(one)).sort();

/**
 * Returns the ranges that the load balancers of Services accept: clients outside, and machines and
 * pods inside.
 */
export const serviceRanges = ({
  serviceCidrs,
  network,
}: Pick<ClusterSpec, "serviceCidrs"> & {
  readonly network: Pick<ClusterSpec["network"], "nodes" | "pods">;
}): string[] => listenerRanges([...serviceCidrs, network.nodes, network.pods]);

const apiFrom = (from: readonly Caller[]): Opening => ({
  name: "api",
  group: "control-plane",
  from,
  protocol: "tcp",
  ports: [apiPort, apiPort],
  reason: "Kubernetes API",
});

/**
 * VRRP between control planes, which decides which one has the virtual IP. It has no password: only
 * the security group keeps others out.
 */
const vrrp: Opening = {
  name: "vrrp",
  group: "control-plane",
  from: [{ group: "control-plane" }],
  protocol: "vrrp",
  reason: "keepalived: which control plane has the virtual IP",
};

const nothing = { floatingIps: 0, loadBalancers: 0, ports: 0, packages: [] } as const;

export function endpointTraits(spec: Planned): EndpointTraits {
  const { endpoint, allowedCidrs, network } = spec;
  const clients = allowedCidrs.map((range) => ({ range }));
  const subnet = { range: network.nodes };
  const outside = !("public" in endpoint) || endpoint.public;
  const floatingIps = outside && existingFloatingIp(endpoint) === undefined ? 1 : 0;
  switch (endpoint.kind) {
    case "floating-ip":
      return { ...nothing, floatingIps, firewall: [apiFrom(clients)] };
    case "load-balancer":
      return {
        ...nothing,
        floatingIps,
        loadBalancers: 1,
        ports: 1,
        // Health monitors connect from an address in the subnet. So do amphorae on behalf of
        // clients, by Octavia's documentation.
        firewall: [apiFrom(isOvn(endpoint.provider) ? [subnet, ...clients] : [subnet])],
      };
    case "virtual-ip":
      return {
        ...nothing,
        floatingIps,
        ports: 1,
        firewall: [apiFrom(clients), vrrp],
        packages: ["keepalived"],
      };
    case "existing":
    case "private":
      return { ...nothing, firewall: [apiFrom(clients)] };
  }
}
