import type { ClusterSpec } from "../config/cluster-spec.js";
import type { MachineGroupSpec, MachineOverride } from "../config/machines/group-options.js";
import type { UserScripts } from "../config/machines/user-scripts.js";
import {
  roleTable,
  listPossibleRoles,
  listSeparateGroupSpecs,
  type MachineRole,
  type SeparateRole,
  type SeparateGroupSpecs,
} from "../config/roles.js";
import { planMachineVolumes, type PlannedVolume } from "./volumes.js";

/** Taint of a node. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** Returns the taint as kubectl and kubelet write it: `key=value:effect`. */
export const formatTaint = ({ key, value, effect }: Taint): string => `${key}=${value}:${effect}`;

/** Machine in the plan of a cluster. */
export interface PlannedMachine {
  /** Name of the server, of its port and of the node. */
  readonly name: string;
  readonly role: MachineRole;
  /** Name of the machine's group: the name of a worker pool, or the role. */
  readonly pool: string;
  /**
   * Position in the group, from 0. If `count` is reduced, the machines with the highest positions
   * are deleted.
   */
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
  /** Tags that the user sets for the server. */
  readonly tags: readonly string[];
  readonly metadata: Texts;
  /** Hints that the user sets for Nova's scheduler, in addition to the server group. */
  readonly schedulerHints: Texts;
  readonly volumes: readonly PlannedVolume[];
  /** Parts that the user adds to the user data for cloud-init. */
  readonly cloudInit: readonly string[];
}

type Texts = Readonly<Record<string, string>>;

/**
 * Group of machines with the same settings. With `policy`, Nova places the machines on different
 * hosts.
 */
export interface PlannedGroup {
  readonly pool: string;
  readonly role: MachineRole;
  /** Path of the group in the specification, such as `workers.general`. */
  readonly path: string;
  /** Name of the component that creates the group, without the prefix `<cluster>-`. */
  readonly component: string;
  /** Prefix of the machines' names: each name is this prefix and `-<position>`. */
  readonly name: string;
  /** Policy of the server group. Absent: the machines have no server group. */
  readonly policy?: "soft-anti-affinity" | "anti-affinity";
  /** Labels of the nodes. */
  readonly labels: Texts;
  readonly taints: readonly Taint[];
  readonly steps: UserScripts;
  /** Existing security groups that the user adds to the machines' ports, by name or ID. */
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
  /** Name of the OpenStack objects of the API's endpoint. */
  readonly endpointName: string;
  /** Name of the load balancer in front of the ingress controller. */
  readonly ingressName: string;
  readonly securityGroups: readonly PlannedSecurityGroup[];
  /**
   * Fixed addresses in the machines' network that the user sets for machines and for the API's
   * virtual IP.
   */
  readonly addresses: readonly string[];
}

export interface PlannedSecurityGroup {
  /** Key of the security group, which says to which ports it applies. */
  readonly group: SecurityGroupKey;
  readonly name: string;
  /** Description of the security group in Neutron. */
  readonly what: string;
}

/**
 * Key of a security group: `node` for all nodes, `admin` for second interfaces, a role for the
 * machines with that role.
 */
export type SecurityGroupKey = "node" | "admin" | MachineRole;

/** Returns the security groups of the machines with a role. */
export const listSecurityGroupKeys = (role: MachineRole): readonly SecurityGroupKey[] =>
  roleTable[role].node ? ["node", role] : [role];

type Place<Of extends MachineRole = MachineRole> = Pick<
  PlannedGroup,
  "pool" | "path" | "component"
> & {
  readonly role: Of;
};

/** Name of the component of the control planes, without the prefix `<cluster>-`. */
export const controlPlaneComponentName = "control-plane";

/**
 * Returns the names of a group that exists at most once in a cluster, such as the control planes.
 */
const single = <Of extends MachineRole>(role: Of, path: string = role): Place<Of> => ({
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

/** Group of nodes in the specification. */
export interface NodeGroupSpec extends MachineGroupSpec {
  readonly labels: Texts;
  readonly taints: readonly Taint[];
}

const policies = { soft: "soft-anti-affinity", hard: "anti-affinity", none: undefined } as const;

type Planned = Pick<ClusterSpec, "name" | "image" | "zones"> &
  SeparateGroupSpecs & {
    readonly controlPlane: NodeGroupSpec;
    readonly workers: Readonly<Record<string, NodeGroupSpec>>;
    readonly endpoint?: ClusterSpec["endpoint"];
    readonly network?: Partial<
      Pick<ClusterSpec["network"], "portSecurity" | "securityGroups" | "admin">
    >;
  };
type Common = Pick<Planned, "name" | "image" | "zones" | "network">;

/**
 * Returns the zone of the machine at `position`. The machines use the zones in turn. Returns
 * undefined if there are no zones, because Nova then chooses.
 */
export function getZoneAtPosition(zones: readonly string[], position: number): string | undefined {
  return zones.length === 0 ? undefined : zones[position % zones.length];
}

function group<Of extends MachineRole>(
  { name, image, zones, network }: Common,
  place: Place<Of>,
  written: NodeGroupSpec,
): PlannedGroup & { readonly role: Of } {
  const { pool, role } = place;
  const { labels, taints, steps, tags, metadata, schedulerHints, cloudInit } = written;
  const machines = Array.from({ length: written.count }, (_, position): PlannedMachine => {
    const own: MachineOverride = written.nodes[String(position)] ?? {};
    const machine = `${name}-${pool}-${String(position)}`;
    const zone = own.zone ?? getZoneAtPosition(written.zones ?? zones, position);
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
      volumes: planMachineVolumes({ name: machine, zone }, own, written),
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

/** Empty labels and taints, for machines that are not nodes. */
const noNode = { labels: {}, taints: [] } as const;

/** Returns the fixed addresses of machines and of the API. */
const addressesIn = (groups: readonly PlannedGroup[], endpoint: Planned["endpoint"]): string[] => [
  ...groups.flatMap(({ machines }) => machines.flatMap(({ address }) => address ?? [])),
  ...(endpoint?.kind === "virtual-ip" ? [endpoint.address ?? []].flat() : []),
];

/** Returns the plan of a cluster. The plan depends only on the specification. */
export function planCluster(spec: Planned): ClusterPlan {
  const { name, controlPlane, workers } = spec;
  const separate = listSeparateGroupSpecs(spec).map(({ role, group: written }) =>
    group(spec, single(role), { ...written, ...noNode }),
  );
  const groups = [
    group(spec, single(controlPlaneComponentName, "controlPlane"), controlPlane),
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

/** Returns the name of the separate network for load balancers, and of its subnet and router. */
export const getServicesNetworkName = (cluster: string): string => `${cluster}-services`;

const adminGroup = (cluster: string): PlannedSecurityGroup => ({
  group: "admin",
  name: `${cluster}-admin`,
  what: "Second interfaces of the machines",
});

/**
 * Returns the security groups of a cluster: one for all nodes, and one for each role that its
 * machines can have.
 */
const groupsFor = (
  cluster: string,
  separate: readonly PlannedGroup[],
): readonly PlannedSecurityGroup[] => [
  { group: "node", name: `${cluster}-node`, what: "All machines" },
  ...listPossibleRoles(separate.map(({ role }) => role)).map((role) => ({
    group: role,
    name: `${cluster}-${role}`,
    what: `Machines with the role ${roleTable[role].title}`,
  })),
];

/** Returns all groups: control planes, worker pools, and the groups that are not nodes. */
export const listPlannedGroups = ({ groups, separate }: ClusterPlan): readonly PlannedGroup[] => [
  ...groups,
  ...separate,
];

/** Returns all machines, the control planes first. */
export const listPlannedMachines = (plan: ClusterPlan): readonly PlannedMachine[] =>
  listPlannedGroups(plan).flatMap(({ machines }) => machines);

/** Returns the roles that the cluster's machines can have, in the order of the role table. */
export const listPossiblePlanRoles = (plan: ClusterPlan): readonly MachineRole[] =>
  listPossibleRoles(listPlannedGroups(plan).map(({ role }) => role));

/** Returns the role of the machine through which SSH reaches all other machines. */
export const getSshEntryRole = ({ groups, separate }: ClusterPlan): MachineRole =>
  (separate.find(({ role }) => roleTable[role].sshEntry) ?? groups[0]).role;

/** Returns the control planes. `kubeadm init` runs on the first. */
export const listPlannedControlPlanes = ({ groups }: ClusterPlan): readonly PlannedMachine[] =>
  groups[0].machines;
