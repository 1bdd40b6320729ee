import type { ClusterSpec } from "../spec/cluster-spec.js";
import type { Spread } from "../spec/group-options.js";
import type { WrittenVolumes } from "../spec/volumes.js";
import { volumesOf, type PlannedVolume } from "./volumes.js";
import { roleTable, rolesWith, type Role } from "./roles.js";

/** A taint of a node. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** As kubectl and kubelet read it. */
export const taintText = ({ key, value, effect }: Taint): string => `${key}=${value}:${effect}`;

/** A machine before it exists. */
export interface PlannedMachine {
  /** Name of the server, of its port and of the node. */
  readonly name: string;
  readonly role: Role;
  /** Name of its group in the specification. */
  readonly pool: string;
  /** From 0; the last ones go first. */
  readonly position: number;
  /** Absent: Nova chooses. */
  readonly zone?: string;
  /** In the machines' network. Absent: Neutron chooses. */
  readonly address?: string;
  /** Name or ID. */
  readonly flavor: string;
  /** Name or ID. */
  readonly image: string;
  readonly generation: number;
  /** Of the server, besides the cluster's marks. */
  readonly tags: readonly string[];
  readonly metadata: Texts;
  /** For Nova's scheduler, besides the server group. */
  readonly schedulerHints: Texts;
  readonly volumes: readonly PlannedVolume[];
  /** More parts for cloud-init. */
  readonly cloudInit: readonly string[];
}

/** Scripts of the user's own, for bash; empty: none. */
export interface OwnSteps {
  readonly beforeKubeadm: string;
  readonly afterKubeadm: string;
}

type Texts = Readonly<Record<string, string>>;

/** Machines that are made alike and kept apart from each other. */
export interface PlannedGroup {
  readonly pool: string;
  readonly role: Role;
  /** Where it is written in the specification. */
  readonly path: string;
  /** With the cluster's and a dash before it, the name of the component that makes it. */
  readonly component: string;
  /** With a dash and the position, the name of each machine. */
  readonly name: string;
  /** Policy of the server group; absent: there is none. */
  readonly policy?: "soft-anti-affinity" | "anti-affinity";
  /** Of the nodes. */
  readonly labels: Texts;
  readonly taints: readonly Taint[];
  readonly steps: OwnSteps;
  /** Of the machines' ports besides the program's own; names or IDs of what exists. */
  readonly securityGroups: readonly string[];
  readonly machines: readonly PlannedMachine[];
}

/** Every machine and every name of a cluster, decided before anything is made. */
export interface ClusterPlan {
  readonly cluster: string;
  /** The control planes first. */
  readonly groups: readonly [PlannedGroup, ...PlannedGroup[]];
  /** The machine through which all others are reached, where it is none of them. */
  readonly bastion?: PlannedGroup;
  /** Machines that run etcd and nothing else, where it does not run on the control planes. */
  readonly etcd?: PlannedGroup;
  /** Network, subnet and router are all called so. */
  readonly networkName: string;
  /** Names of what makes the API's endpoint. */
  readonly endpointName: string;
  /** Name of what leads to the ingress controller. */
  readonly ingressName: string;
  readonly securityGroups: readonly PlannedSecurityGroup[];
  /** Those that were written for single machines and for the API, in the machines' network. */
  readonly addresses: readonly string[];
}

export interface PlannedSecurityGroup {
  /** `node` is the group of all nodes, `admin` that of all second interfaces; the others are those of one role. */
  readonly group: SecurityGroup;
  readonly name: string;
  /** Whose it is, for people. */
  readonly what: string;
}

/** One group per role, one that all nodes are in, so that no rule is written once per role, and one of second interfaces. */
export type SecurityGroup = "node" | "admin" | Role;

/** The security groups of a machine. */
export const securityGroupsOf = (role: Role): readonly SecurityGroup[] =>
  roleTable[role].node ? ["node", role] : [role];

type Place = Pick<PlannedGroup, "pool" | "role" | "path" | "component">;

/** The component of the control planes. */
export const controlPlaneComponent = "control-plane";

/** A group of which a cluster has one: the names of its machines are `<cluster>-control-plane-<position>`, and so on. */
const single = (role: Role, path: string = role): Place => ({
  ...{ role, pool: role, path, component: role },
});

const placeOf = (pool: string): Place => ({
  ...{ role: "worker", pool },
  ...{ path: `workers.${pool}`, component: `workers-${pool}` },
});

/** What single machines have otherwise than their group. */
interface Override extends WrittenVolumes {
  readonly flavor?: string | undefined;
  readonly image?: string | undefined;
  readonly zone?: string | undefined;
  readonly address?: string | undefined;
  readonly generation?: number | undefined;
}

/** A group as it is written. */
export interface WrittenGroup
  extends
    Pick<PlannedMachine, "tags" | "metadata" | "schedulerHints" | "cloudInit">,
    WrittenVolumes {
  readonly flavor: string;
  readonly count: number;
  readonly generation?: number;
  readonly image?: string | undefined;
  readonly zones?: readonly string[] | undefined;
  readonly labels: Texts;
  readonly taints: readonly Taint[];
  readonly spread: Spread;
  readonly steps: OwnSteps;
  readonly securityGroups: readonly string[];
  readonly nodes: Readonly<Record<string, Override>>;
}

const policies = { soft: "soft-anti-affinity", hard: "anti-affinity", none: undefined } as const;

type Planned = Pick<ClusterSpec, "name" | "image" | "zones"> & {
  readonly controlPlane: WrittenGroup;
  readonly workers: Readonly<Record<string, WrittenGroup>>;
  readonly bastion?: ClusterSpec["bastion"];
  readonly etcd?: Omit<WrittenGroup, keyof typeof noNode> | undefined;
  readonly endpoint?: ClusterSpec["endpoint"];
  readonly network?: Partial<
    Pick<ClusterSpec["network"], "portSecurity" | "securityGroups" | "admin">
  >;
};
type Common = Pick<Planned, "name" | "image" | "zones" | "network">;

/** The zone of the machine at `position`: zones in turn, or none when Nova may choose. */
export function zoneAt(zones: readonly string[], position: number): string | undefined {
  return zones.length === 0 ? undefined : zones[position % zones.length];
}

function group(
  { name, image, zones, network }: Common,
  place: Place,
  written: WrittenGroup,
): PlannedGroup {
  const { pool, role } = place;
  const { labels, taints, steps, tags, metadata, schedulerHints, cloudInit } = written;
  const machines = Array.from({ length: written.count }, (_, position): PlannedMachine => {
    const own: Override = written.nodes[String(position)] ?? {};
    const machine = `${name}-${pool}-${String(position)}`;
    const zone = own.zone ?? zoneAt(written.zones ?? zones, position);
    return {
      ...{ name: machine, role, pool, position },
      flavor: own.flavor ?? written.flavor,
      image: own.image ?? written.image ?? image,
      generation: own.generation ?? written.generation ?? 0,
      ...{ tags, metadata, schedulerHints, cloudInit },
      volumes: volumesOf({ name: machine, zone }, own, written),
      ...(zone !== undefined && { zone }),
      ...(own.address !== undefined && { address: own.address }),
    };
  });
  const policy = policies[written.spread];
  const securityGroups = [
    ...new Set([...(network?.securityGroups ?? []), ...written.securityGroups]),
  ];
  return {
    ...{ ...place, name: `${name}-${pool}`, labels, taints, steps, securityGroups, machines },
    ...(policy !== undefined && { policy }),
  };
}

/** What machines do not have that are no nodes. */
const noNode = { labels: {}, taints: [] } as const;

/** What one machine does not have: others of its group, and a part in the cluster. */
const alone = {
  ...{ ...noNode, nodes: {}, count: 1 },
  spread: "soft",
  steps: { beforeKubeadm: "", afterKubeadm: "" },
} as const;

const bastionOf = (
  spec: Common,
  { zone, ...written }: NonNullable<Planned["bastion"]>,
): PlannedGroup =>
  group({ ...spec, zones: zone === undefined ? spec.zones : [zone] }, single("bastion"), {
    ...alone,
    ...written,
  });

/** Those that were written, of machines and of the API. */
const addressesIn = (groups: readonly PlannedGroup[], endpoint: Planned["endpoint"]): string[] => [
  ...groups.flatMap(({ machines }) => machines.flatMap(({ address }) => address ?? [])),
  ...(endpoint?.kind === "virtual-ip" ? [endpoint.address ?? []].flat() : []),
];

/** The plan of a cluster. Pure: the same specification has the same plan. */
export function planCluster(spec: Planned): ClusterPlan {
  const { name, controlPlane, workers } = spec;
  const bastion = spec.bastion && bastionOf(spec, spec.bastion);
  const etcd = spec.etcd && group(spec, single("etcd"), { ...noNode, ...spec.etcd });
  const apart = [bastion, etcd].flatMap((one) => one ?? []);
  const groups = [
    group(spec, single(controlPlaneComponent, "controlPlane"), controlPlane),
    ...Object.entries(workers).map(([pool, size]) => group(spec, placeOf(pool), size)),
  ] as const;
  return {
    cluster: name,
    groups,
    ...(bastion && { bastion }),
    ...(etcd && { etcd }),
    networkName: name,
    endpointName: `${name}-api`,
    ingressName: `${name}-ingress`,
    securityGroups: [
      ...(spec.network?.portSecurity === false ? [] : groupsFor(name, apart)),
      ...(spec.network?.admin ? [adminGroup(name)] : []),
    ],
    addresses: addressesIn([...groups, ...apart], spec.endpoint),
  };
}

/** Name of network, subnet and router of the services' addresses, where they have a network of their own. */
export const servicesNetworkName = (cluster: string): string => `${cluster}-services`;

const adminGroup = (cluster: string): PlannedSecurityGroup => ({
  ...{ group: "admin", name: `${cluster}-admin` },
  what: "Second interfaces of the machines",
});

/** One per role that a cluster can have, and that of all nodes. */
const groupsFor = (
  cluster: string,
  apart: readonly PlannedGroup[],
): readonly PlannedSecurityGroup[] => [
  { group: "node", name: `${cluster}-node`, what: "All machines" },
  ...rolesWith(apart.map(({ role }) => role)).map((role) => ({
    group: role,
    name: `${cluster}-${role}`,
    what: `Machines with the role ${roleTable[role].title}`,
  })),
];

/** All groups: the nodes' ones, the control planes first, and those of machines that are no nodes. */
export const groupsOf = ({ groups, bastion, etcd }: ClusterPlan): readonly PlannedGroup[] => [
  ...groups,
  ...[bastion, etcd].flatMap((one) => one ?? []),
];

/** All machines, the control planes first. */
export const machinesOf = (plan: ClusterPlan): readonly PlannedMachine[] =>
  groupsOf(plan).flatMap(({ machines }) => machines);

/** The roles that its machines can have, in the table's order. */
export const rolesIn = (plan: ClusterPlan): readonly Role[] =>
  rolesWith(groupsOf(plan).map(({ role }) => role));

/** The role of the machines that SSH from outside reaches. */
export const entryRole = ({ groups, bastion }: ClusterPlan): Role => (bastion ?? groups[0]).role;

/** The machines that run the Kubernetes API, the one that the cluster began on first. */
export const controlPlanesOf = ({ groups }: ClusterPlan): readonly PlannedMachine[] =>
  groups[0].machines;
