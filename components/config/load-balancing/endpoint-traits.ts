import { Address4 } from "ip-address";
import { apiPort } from "../../../base/ports.js";
import type { ClusterSpec } from "../cluster-spec.js";
import { getEndpointFloatingIp } from "./endpoint.js";

type Planned = Pick<ClusterSpec, "endpoint" | "allowedCidrs"> & {
  readonly network: Pick<ClusterSpec["network"], "nodes">;
};

type Caller = { readonly group: "control-plane" } | { readonly range: string };

/**
 * Firewall rules that allow connections to control planes, in the form of FirewallRow
 * (network/firewall-rules.ts).
 */
export interface EndpointFirewallRules {
  /** Part of the rules' names in the state. A changed name would replace the rules. */
  readonly name: string;
  readonly group: "control-plane";
  readonly from: readonly Caller[];
  readonly protocol: "tcp" | "vrrp";
  /** First and last port. Undefined: every port. */
  readonly ports?: readonly [number, number];
  /** Reason for the access. Neutron stores it as the rules' description. */
  readonly reason: string;
}

/**
 * Quota, firewall rules and packages that an endpoint needs. All values depend only on the
 * specification.
 */
export interface EndpointTraits {
  /** Number of floating IPs that the program creates. */
  readonly floatingIps: number;
  readonly loadBalancers: number;
  /** Number of ports in the machines' network, without the ports of machines. */
  readonly ports: number;
  /** Firewall rules for control planes that the endpoint needs in addition to the common rules. */
  readonly firewall: readonly EndpointFirewallRules[];
  /** Packages of the distribution that the endpoint needs on control planes. */
  readonly packages: readonly string[];
}

/**
 * Returns whether the Octavia provider is OVN. OVN load balancers keep the client's address and
 * support no HTTPS monitors, timeouts or allowed ranges.
 */
export const isOvnProvider = (provider: string): boolean => provider === "ovn";

/**
 * Returns the allowed ranges of a listener as Octavia stores them, sorted as text. Leaves out IPv6
 * ranges, because Octavia refuses them for a listener with an IPv4 address.
 */
export const normalizeListenerRanges = (ranges: readonly string[]): string[] =>
  [...new Set(ranges)].filter((one) => Address4.isValid(one)).sort();

/**
 * Returns the client ranges that load balancers of Services accept: ranges of clients outside the
 * cluster, and ranges of machines and pods.
 */
export const listServiceClientRanges = ({
  serviceCidrs,
  network,
}: Pick<ClusterSpec, "serviceCidrs"> & {
  readonly network: Pick<ClusterSpec["network"], "nodes" | "pods">;
}): string[] => normalizeListenerRanges([...serviceCidrs, network.nodes, network.pods]);

const apiFrom = (from: readonly Caller[]): EndpointFirewallRules => ({
  name: "api",
  group: "control-plane",
  from,
  protocol: "tcp",
  ports: [apiPort, apiPort],
  reason: "Kubernetes API",
});

/**
 * Firewall rule for VRRP, with which the control planes decide which control plane has the virtual
 * IP. VRRP has no password here, so only the security group blocks messages from other machines.
 */
const vrrp: EndpointFirewallRules = {
  name: "vrrp",
  group: "control-plane",
  from: [{ group: "control-plane" }],
  protocol: "vrrp",
  reason: "keepalived: which control plane has the virtual IP",
};

const nothing = { floatingIps: 0, loadBalancers: 0, ports: 0, packages: [] } as const;

export function getEndpointTraits(spec: Planned): EndpointTraits {
  const { endpoint, allowedCidrs, network } = spec;
  const clients = allowedCidrs.map((range) => ({ range }));
  const subnet = { range: network.nodes };
  const outside = !("public" in endpoint) || endpoint.public;
  const floatingIps = outside && getEndpointFloatingIp(endpoint) === undefined ? 1 : 0;
  switch (endpoint.kind) {
    case "floating-ip":
      return { ...nothing, floatingIps, firewall: [apiFrom(clients)] };
    case "load-balancer":
      return {
        ...nothing,
        floatingIps,
        loadBalancers: 1,
        ports: 1,
        // Health monitors connect from addresses in the subnet. By Octavia's documentation,
        // amphorae also use such addresses when they forward the connections of clients. OVN keeps
        // the addresses of the clients.
        firewall: [apiFrom(isOvnProvider(endpoint.provider) ? [subnet, ...clients] : [subnet])],
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
