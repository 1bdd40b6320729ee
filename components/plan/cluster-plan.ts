import type { ClusterSpec } from "../config/cluster-spec.js";
import type { MachineGroupSpec, MachineOverride } from "../config/machines/group-options.js";
import type { UserScripts } from "../config/machines/user-scripts.js";
import {
  roleTable,
  rolesWith,
  separateGroupsOf,
  type Role,
  type SeparateRole,
  type SeparateSpecs,
} from "../config/roles.js";
import { volumesOf, type PlannedVolume } from "./volumes.js";

/** Taint of a node. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** Returns the taint as kubectl and kubelet write it: `key=value:effect`. */
export const taintText = ({ key, value, effect }: Taint): string => `${key}=${value}:${effect}`;

/** Machine of the plan, before it exists. */
export interface PlannedMachine {
  /** Name of the server, of its port and of the node. */
  readonly name: string;
  readonly role: Role;
  /** Name of the machine's group: the name of a worker pool, or the role. */
  readonly pool: string;
  /** Position from 0. If the group shrinks, the highest positions are deleted. */
  readonly position: number;
  /** Availability zone. Absent: Nova chooses. */
  readonly zone?: string;
  /** Address in the machines' network. Absent: Neutron chooses. */
  readonly address?: string;
  /** Name or ID of the flavor. */
  readonly flavor: string;
  /** Name or ID of the image. */
  readonly image: string;
  readonly generation: number;
  /** Tags of the server that the user wrote. */
  readonly tags: readonly string[];
  readonly metadata: Texts;
  /** Hints for Nova's scheduler that the user wrote, in addition to the server group. */
  readonly schedulerHints: Texts;
  readonly volumes: readonly PlannedVolume[];
  /** Parts for cloud-init that the user wrote. */
  readonly cloudInit: readonly string[];
}

type Texts = Readonly<Record<string, string>>;

/** Machines with the same settings. With `policy`, Nova places the machines on different hosts. */
export interface PlannedGroup {
  readonly pool: string;
  readonly role: Role;
  /** Path of the group in the specification. */
  readonly path: string;
  /** Name of the component that creates the group, without the prefix `<cluster>-`. */
  readonly component: string;
  /** Beginning of the machines' names, which end in `-<position>`. */
  readonly name: string;
  /** Policy of the server group. Absent: no server group. */
  readonly policy?: "soft-anti-affinity" | "anti-affinity";
  /** Labels of the nodes. */
  readonly labels: Texts;
  readonly taints: readonly Taint[];
  readonly steps: UserScripts;
  /** Existing security groups that the machines' ports also get, by name or ID. */
  readonly securityGroups: readonly string[];
  readonly machines: readonly PlannedMachine[];
}

/** Group of machines that are not nodes. */
export interface SeparatePlannedGroup extends PlannedGroup {
  readonly role: SeparateRole;
}

/** Plan of a cluster: all its machines and names, decided before anything is created. */
export interface ClusterPlan {
  readonly cluster: string;
  /** Groups of nodes, the control planes first. */
  readonly groups: readonly [PlannedGroup, ...PlannedGroup[]];
  /** Groups of machines that are not nodes, in the order of the role table. */
  readonly separate: readonly SeparatePlannedGroup[];
  /** Name of the network, the subnet and the router. */
  readonly networkName: string;
  /** Name of the resources of the API's endpoint. */
  readonly endpointName: string;
  /** Name of the load balancer of the ingress controller. */
  readonly ingressName: string;
  readonly securityGroups: readonly PlannedSecurityGroup[];
  /** Fixed addresses in the machines' network: of single machines and of the API. */
  readonly addresses: readonly string[];
}

export interface PlannedSecurityGroup {
  /**
   * Members of the security group: `node` for all nodes, `admin` for all second interfaces,
   * otherwise the machines with this role.
   */
  readonly group: SecurityGroup;
  readonly name: string;
  /** Description of the security group in Neutron. */
  readonly what: string;
}

/** Security group of a role, of all nodes (`node`), or of second interfaces (`admin`). */
export type SecurityGroup = "node" | "admin" | Role;

/** Returns the security groups of the machines with a role. */
export const securityGroupsOf = (role: Role): readonly SecurityGroup[] =>
  roleTable[role].node ? ["node", role] : [role];

type Place<Of extends Role = Role> = Pick<PlannedGroup, "pool" | "path" | "component"> & {
  readonly role: Of;
};

/** Name of the component of the control planes, without the prefix `<cluster>-`. */
export const controlPlaneComponent = "control-plane";

/** Returns the names of a group that a cluster has at most once. */
const single = <Of extends Role>(role: Of, path: string = role): Place<Of> => ({
  role,
  pool: role,
  path,
  component: role,
});

const placeOf = (pool: string): Place => ({
  role: "worker",
  pool,
  path: `workers.${pool}`,
  component: `workers-${pool}`,
});

/** Group of nodes as written in the specification. */
export interface NodeGroupSpec extends MachineGroupSpec {
  readonly labels: Texts;
  readonly taints: readonly Taint[];
}

const policies = { soft: "soft-anti-affinity", hard: "anti-affinity", none: undefined } as const;

type Planned = Pick<ClusterSpec, "name" | "image" | "zones"> &
  SeparateSpecs & {
    readonly controlPlane: NodeGroupSpec;
    readonly workers: Readonly<Record<string, NodeGroupSpec>>;
    readonly endpoint?: ClusterSpec["endpoint"];
    readonly network?: Partial<
      Pick<ClusterSpec["network"], "portSecurity" | "securityGroups" | "admin">
    >;
  };
type Common = Pick<Planned, "name" | "image" | "zones" | "network">;

/** Returns the zone at `position`: zones are used in turn. Undefined: Nova chooses. */
export function zoneAtPosition(zones: readonly string[], position: number): string | undefined {
  return zones.length === 0 ? undefined : zones[position % zones.length];
}

function group<Of extends Role>(
  { name, image, zones, network }: Common,
  place: Place<Of>,
  written: NodeGroupSpec,
): PlannedGroup & { readonly role: Of } {
  const { pool, role } = place;
  const { labels, taints, steps, tags, metadata, schedulerHints, cloudInit } = written;
  const machines = Array.from({ length: written.count }, (_, position): PlannedMachine => {
    const own: MachineOverride = written.nodes[String(position)] ?? {};
    const machine = `${name}-${pool}-${String(position)}`;
    const zone = own.zone ?? zoneAtPosition(written.zones ?? zones, position);
    return {
      name: machine,
      role,
      pool,
      position,
      flavor: own.flavor ?? written.flavor,
      image: own.image ?? written.image ?? image,
      generation: own.generation ?? written.generation ?? 0,
      tags,
      metadata,
      schedulerHints,
      cloudInit,
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
    ...place,
    name: `${name}-${pool}`,
    labels,
    taints,
    steps,
    securityGroups,
    machines,
    ...(policy !== undefined && { policy }),
  };
}

/** Labels and taints of machines that are not nodes. */
const noNode = { labels: {}, taints: [] } as const;

/** Returns the fixed addresses of machines and of the API. */
const addressesIn = (groups: readonly PlannedGroup[], endpoint: Planned["endpoint"]): string[] => [
  ...groups.flatMap(({ machines }) => machines.flatMap(({ address }) => address ?? [])),
  ...(endpoint?.kind === "virtual-ip" ? [endpoint.address ?? []].flat() : []),
];

/** Returns the plan of a cluster. Pure: the same specification gives the same plan. */
export function planCluster(spec: Planned): ClusterPlan {
  const { name, controlPlane, workers } = spec;
  const separate = separateGroupsOf(spec).map(({ role, group: written }) =>
    group(spec, single(role), { ...written, ...noNode }),
  );
  const groups = [
    group(spec, single(controlPlaneComponent, "controlPlane"), controlPlane),
    ...Object.entries(workers).map(([pool, size]) => group(spec, placeOf(pool), size)),
  ] as const;
  return {
    cluster: name,
    groups,
    separate,
    networkName: name,
    endpointName: `${name}-api`,
    ingressName: `${name}-ingress`,
    securityGroups: [
      ...(spec.network?.portSecurity === false ? [] : groupsFor(name, separate)),
      ...(spec.network?.admin ? [adminGroup(name)] : []),
    ],
    addresses: addressesIn([...groups, ...separate], spec.endpoint),
  };
}

/** Returns the name of network, subnet and router of the separate network for load balancers. */
export const servicesNetworkName = (cluster: string): string => `${cluster}-services`;

const adminGroup = (cluster: string): PlannedSecurityGroup => ({
  group: "admin",
  name: `${cluster}-admin`,
  what: "Second interfaces of the machines",
});

/** Returns the security group of all nodes, and one for each role that the cluster can have. */
const groupsFor = (
  cluster: string,
  separate: readonly PlannedGroup[],
): readonly PlannedSecurityGroup[] => [
  { group: "node", name: `${cluster}-node`, what: "All machines" },
  ...rolesWith(separate.map(({ role }) => role)).map((role) => ({
    group: role,
    name: `${cluster}-${role}`,
    what: `Machines with the role ${roleTable[role].title}`,
  })),
];

/** Returns all groups: control planes, worker pools, and the groups that are not nodes. */
export const groupsOf = ({ groups, separate }: ClusterPlan): readonly PlannedGroup[] => [
  ...groups,
  ...separate,
];

/** Returns all machines, the control planes first. */
export const machinesOf = (plan: ClusterPlan): readonly PlannedMachine[] =>
  groupsOf(plan).flatMap(({ machines }) => machines);

/** Returns the roles that the cluster's machines can have, in the order of the table. */
export const rolesIn = (plan: ClusterPlan): readonly Role[] =>
  rolesWith(groupsOf(plan).map(({ role }) => role));

/** Returns the role of the machine through which SSH reaches all other machines. */
export const entryRole = ({ groups, separate }: ClusterPlan): Role =>
  (separate.find(({ role }) => roleTable[role].sshEntry) ?? groups[0]).role;

/** Returns the control planes. `kubeadm init` runs on the first. */
export const controlPlanesOf = ({ groups }: ClusterPlan): readonly PlannedMachine[] =>
  groups[0].machines;
