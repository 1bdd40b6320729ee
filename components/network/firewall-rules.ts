import { Address4 } from "ip-address";
import { getPlaceholderPath, isPlaceholder } from "../../base/placeholders.js";
import { apiPort, etcdPorts } from "../../base/ports.js";
import { isOvnProvider } from "../config/load-balancing/endpoint-traits.js";
import type { SecurityGroupKey } from "../plan/cluster-plan.js";
import { listNodeRoles, roleTable, type MachineRole } from "../config/roles.js";
import { getPodNetworkTraits, type PodNetworkSpec } from "../pod-network/pod-network-kinds.js";
import type { PodNetworkTraffic } from "../pod-network/pod-network-traits.js";

/**
 * Source of connections: a CIDR, or a security group. A group includes machines that are added to
 * it after the rule was created.
 */
export type TrafficSource = { readonly group: SecurityGroupKey } | { readonly range: string };

export interface FirewallRule {
  /**
   * Name of the Pulumi resource. A rule must keep its name when other rules are added or deleted,
   * because Pulumi would otherwise replace the rule.
   */
  readonly key: string;
  /** Security group that contains the rule. */
  readonly group: SecurityGroupKey;
  readonly from: TrafficSource;
  /** IP family. Undefined: `from` is a placeholder, whose family is known only during the run. */
  readonly ethertype: "IPv4" | "IPv6" | undefined;
  /** Protocol. @default every protocol */
  readonly protocol?: "tcp" | "udp" | "icmp" | "ipv6-icmp" | "vrrp" | "4";
  /** First and last port. @default every port */
  readonly ports?: readonly [number, number];
  /** Reason for the rule. Neutron stores it as the description. */
  readonly reason: string;
}

export interface FirewallPlan {
  /** CIDRs of SSH clients. */
  readonly sshCidrs: readonly string[];
  readonly nodes: string;
  /** CIDRs of pods, for IPv4 and IPv6. */
  readonly pods: readonly string[];
  readonly podNetwork: PodNetworkSpec;
  /** Role of the machines through which SSH reaches all other machines. */
  readonly entry: MachineRole;
  /** Roles of the machines that accept SSH from clients outside the cluster. */
  readonly reached: readonly MachineRole[];
  /** Roles of the machines that are not nodes. */
  readonly separate: readonly MachineRole[];
  /** Roles of the machines on which etcd runs. */
  readonly etcdOn: readonly MachineRole[];
  /** Whether the cluster can have load balancers, which connect to node ports. */
  readonly balanced: boolean;
  /**
   * Octavia provider. OVN keeps the addresses of clients, so the rules must admit the clients to
   * the node ports.
   */
  readonly loadBalancerProvider: string;
  /** CIDRs of clients of the Services' load balancers. */
  readonly serviceCidrs: readonly string[];
  /** CIDRs of clients that connect to node ports directly. */
  readonly nodePorts: readonly string[];
  /** CIDRs of SSH clients on second interfaces. */
  readonly adminCidrs: readonly string[];
  /** Further rules that the endpoint of the API needs. */
  readonly more: readonly FirewallRow[];
}

/** Rules that differ only in their source. */
export type FirewallRow = Omit<FirewallRule, "key" | "ethertype" | "from"> & {
  /**
   * Part of the names of the rules. The name must not change, because a changed name would replace
   * the rules.
   */
  readonly name: string;
  readonly from: readonly TrafficSource[];
};

const rows = (plan: FirewallPlan): readonly FirewallRow[] => [
  ...plan.more,
  ...controlPlaneRows(plan),
  ...plan.etcdOn.flatMap((group) =>
    roleTable[group].node ? stackedEtcdRows(group) : etcdRows(group),
  ),
  ...plan.separate.flatMap((group) => separateRows(plan, group)),
  ...nodeRows(plan),
  ...balancerRows(plan),
  ...adminRows(plan),
];

const controlPlaneRows = ({ sshCidrs, reached }: FirewallPlan): readonly FirewallRow[] => {
  const clients = sshCidrs.map((range) => ({ range }));
  return [
    {
      name: "api",
      group: "control-plane",
      from: [{ group: "node" }],
      protocol: "tcp",
      ports: [apiPort, apiPort],
      reason: "Kubernetes API",
    },
    ...reached.map((group): FirewallRow => ({
      name: "ssh",
      group,
      from: clients,
      protocol: "tcp",
      ports: [22, 22],
      reason: "SSH of the operator",
    })),
    {
      name: "join-token",
      group: "control-plane",
      from: listNodeRoles()
        .filter((role) => roleTable[role].grant === "token")
        .map((group) => ({ group })),
      protocol: "tcp",
      ports: [22, 22],
      reason: "A joining worker asks for its token",
    },
  ];
};

/** Returns the rules of second interfaces. */
const adminRows = ({ adminCidrs }: FirewallPlan): readonly FirewallRow[] => {
  const opened = { group: "admin", from: adminCidrs.map((range) => ({ range })) } as const;
  if (adminCidrs.length === 0) return [];
  return [
    { ...opened, name: "ssh", protocol: "tcp", ports: [22, 22], reason: "SSH of the operator" },
    { ...opened, name: "ping", protocol: "icmp", reason: "Path MTU discovery, ping" },
  ];
};

const stackedEtcdRows = (group: MachineRole): readonly FirewallRow[] => [
  {
    name: "etcd",
    group,
    from: [{ group }],
    protocol: "tcp",
    ports: [etcdPorts.clients, etcdPorts.peers],
    reason: "etcd clients and peers",
  },
];

/** Returns the rules for etcd on separate machines. */
const etcdRows = (group: MachineRole): readonly FirewallRow[] => {
  const { clients, peers } = etcdPorts;
  const opened = { group, protocol: "tcp" } as const;
  return [
    {
      ...opened,
      name: "etcd-clients",
      from: [{ group: "control-plane" }, { group }],
      ports: [clients, clients],
      reason: "etcd clients",
    },
    {
      ...opened,
      name: "etcd-peers",
      from: [{ group }],
      ports: [peers, peers],
      reason: "etcd peers",
    },
  ];
};

/**
 * Returns the rules with which other machines connect to machines that are not nodes. The rules of
 * nodes do not apply to these machines.
 */
const separateRows = ({ entry }: FirewallPlan, group: MachineRole): readonly FirewallRow[] => {
  if (group === entry) return [];
  const { peers, grant } = roleTable[group];
  return [
    {
      name: "ssh-onward",
      group,
      from: [...new Set([entry, ...peers])].map((one) => ({ group: one })),
      protocol: "tcp",
      ports: [22, 22],
      reason:
        grant === "nothing"
          ? `SSH through the ${titleOf(entry)}`
          : "SSH of the operator, and of who asks a member for certificates",
    },
    {
      name: "ping",
      group,
      from: peers.map((one) => ({ group: one })),
      protocol: "icmp",
      reason: "Path MTU discovery, ping",
    },
  ];
};

const titleOf = (role: MachineRole): string => role.replace("-", " ");

/**
 * Target and source of the rules with which nodes accept each other on every port except the ports
 * of SSH and etcd. A packet from a node to a pod on another node (kube-proxy's masquerade, host
 * network, API server to webhooks) has the node's address and the pod's port, which can be any
 * port. Neutron does not know addresses of pods. The rules also cover kubelet and the exchange of
 * routes.
 */
const nodeToNode = { group: "node", from: [{ group: "node" }] } as const;

const ssh = { name: "ssh-onward", protocol: "tcp", ports: [22, 22] } as const;

/**
 * Rule that lets control planes connect to each other by SSH in a cluster with a bastion. Without a
 * bastion, control planes are the entry machines, so the rule for SSH from entry machines is equal
 * to this rule. Neutron refuses a second equal rule. Both rules therefore have the same resource
 * name. Pulumi then deletes the old rule before it creates the new rule.
 */
const betweenControlPlanes: FirewallRow = {
  ...ssh,
  group: "control-plane",
  from: [{ group: "control-plane" }],
  reason: "A joining control plane asks for its certificates",
};

/** Returns the sources of a pod network's packets. */
const passing = (
  from: PodNetworkTraffic["from"],
  pods: readonly string[],
): readonly TrafficSource[] => {
  if (typeof from === "object") return [from];
  return from === "pods" ? pods.map((range) => ({ range })) : [{ group: "node" }];
};

const nodeRows = ({ pods, podNetwork, entry }: FirewallPlan): readonly FirewallRow[] => [
  {
    ...nodeToNode,
    name: "nodes-tcp-low",
    protocol: "tcp",
    ports: [53, etcdPorts.clients - 1],
    reason: "Nodes to pods and nodes, below etcd's ports",
  },
  {
    ...nodeToNode,
    name: "nodes-tcp-high",
    protocol: "tcp",
    ports: [etcdPorts.peers + 1, 65535],
    reason: "Nodes to pods and nodes, above etcd's ports",
  },
  { ...nodeToNode, name: "nodes-udp", protocol: "udp", reason: "Nodes to pods and nodes" },
  ...listNodeRoles().map((group) => ({
    ...ssh,
    group,
    from: [{ group: entry }],
    reason: `SSH through the ${titleOf(entry)}`,
  })),
  ...(roleTable[entry].node ? [] : [betweenControlPlanes]),
  ...getPodNetworkTraits(podNetwork).passages.map(({ from, ...passage }): FirewallRow => ({
    ...passage,
    group: "node",
    from: passing(from, pods),
  })),
  {
    name: "ping",
    group: "node",
    from: [{ group: "node" }],
    protocol: "icmp",
    reason: "Path MTU discovery, ping",
  },
];

const balancerRows = (plan: FirewallPlan): readonly FirewallRow[] => {
  // Load balancers connect from addresses in the machines' network. A cluster without load
  // balancers does not admit this network to node ports.
  const inside = plan.balanced ? [{ range: plan.nodes }] : [];
  const clients = plan.serviceCidrs.map((range) => ({ range }));
  const direct = plan.nodePorts.map((range) => ({ range }));
  const from =
    plan.balanced && isOvnProvider(plan.loadBalancerProvider) ? [...inside, ...clients] : inside;
  const ports = { group: "node", from, ports: [30000, 32767] } as const;
  const reason = "Load balancers to node ports";
  const open = { ...ports, from: direct, reason: "Clients to node ports" };
  // A CIDR may be in `from` and in `direct`. The two rules for this CIDR then have the same name,
  // and the last rule is used: the rule for load balancers.
  return [
    { ...open, name: "node-ports-tcp", protocol: "tcp" },
    { ...open, name: "node-ports-udp", protocol: "udp" },
    { ...ports, name: "node-ports-tcp", protocol: "tcp", reason },
    { ...ports, name: "node-ports-udp", protocol: "udp", reason },
    {
      name: "service-health",
      group: "node",
      // kube-proxy serves health checks at port 10256. If the cluster's own load balancers are
      // disabled, the user may run another load balancer. Such a load balancer may check this port
      // from the ranges in `network.nodePorts`.
      from: plan.balanced ? inside : direct,
      protocol: "tcp",
      ports: [10256, 10256],
      reason: "Load balancers' health monitors",
    },
  ];
};

/**
 * Returns the part of a rule's name that names the source. For a placeholder, this is its path in
 * the arguments, because the name must not depend on a value that is known only during the run.
 */
const nameOf = (source: TrafficSource): string => {
  if ("group" in source) return source.group;
  const { range } = source;
  return isPlaceholder(range)
    ? `output-${getPlaceholderPath(range).replaceAll(".", "-")}`
    : range.replaceAll(/[/:]/g, "-");
};

const familySuffixes = { IPv4: "-v4", IPv6: "-v6" } as const;

/** Returns the IP families of a source: one for a CIDR, both for a security group. */
const ethertypes = (source: TrafficSource): readonly FirewallRule["ethertype"][] => {
  if ("group" in source) return ["IPv4", "IPv6"];
  if (isPlaceholder(source.range)) return [undefined];
  return [Address4.isValid(source.range) ? "IPv4" : "IPv6"];
};

const expand = ({ name, from, ...row }: FirewallRow): FirewallRule[] =>
  from.flatMap((source) =>
    ethertypes(source).map((ethertype) => ({
      ...row,
      ...(row.protocol === "icmp" && ethertype === "IPv6" && { protocol: "ipv6-icmp" as const }),
      from: source,
      ethertype,
      key: `${row.group}-${name}-from-${nameOf(source)}${ethertype ? familySuffixes[ethertype] : ""}`,
    })),
  );

/**
 * Returns all rules for incoming traffic. Other incoming traffic is blocked, and outgoing traffic
 * is not filtered.
 */
export function buildFirewallRules(plan: FirewallPlan): readonly FirewallRule[] {
  const all = rows(plan).flatMap(expand);
  // A CIDR may be listed twice, but Neutron refuses a second equal rule.
  return [...new Map(all.map((rule) => [rule.key, rule])).values()];
}
