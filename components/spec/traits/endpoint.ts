import { Address4 } from "ip-address";
import { apiPort } from "../../../base/ports.js";
import type { ClusterSpec } from "../cluster-spec.js";
import { existingFloatingIp } from "../endpoint.js";

type Planned = Pick<ClusterSpec, "endpoint" | "allowedCidrs"> & {
  readonly network: Pick<ClusterSpec["network"], "nodes">;
};

type Caller = { readonly group: "control-plane" } | { readonly range: string };

/** What has to reach the control planes: a row of network/firewall-rules.ts. */
export interface Opening {
  /** Names the rules; stable. */
  readonly name: string;
  readonly group: "control-plane";
  readonly from: readonly Caller[];
  readonly protocol: "tcp" | "vrrp";
  /** First and last port; absent: every port. */
  readonly ports?: readonly [number, number];
  /** Why; kept in the cloud as the rules' description. */
  readonly reason: string;
}

/** What an endpoint takes of the cloud and of the control planes, before any of them exists. */
export interface EndpointTraits {
  /** Those that are made. */
  readonly floatingIps: number;
  readonly loadBalancers: number;
  /** Ports in the machines' network, besides the machines' own. */
  readonly ports: number;
  /** Who reaches the API on the control planes, besides the machines, and what these tell each other for it. */
  readonly firewall: readonly Opening[];
  /** Packages of the distribution that a control plane needs for it. */
  readonly packages: readonly string[];
}

/** OVN's load balancers keep the client's address and know neither HTTPS monitors, timeouts nor ranges. */
export const isOvn = (provider: string): boolean => provider === "ovn";

/**
 * Ranges as a load balancer takes them that lets in nobody else. Octavia refuses those of the other IP version and gives
 * them back in the order of their text.
 */
export const listenerRanges = (ranges: readonly string[]): string[] =>
  [...new Set(ranges)].filter((one) => Address4.isValid(one)).sort();

/** Whom the load balancers of Services let in: their clients, and those inside, who come with the addresses of machines or pods. */
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

/** The control planes agree without a password on who answers: the group alone keeps others out. */
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
        // Monitors ask from an address in the subnet, and so, by Octavia's documentation, do amphorae for their clients.
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
