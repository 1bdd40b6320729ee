import { z } from "zod";
import { endpointTraits } from "./load-balancing/endpoint-traits.js";
import { access, sshAccessConflicts } from "./machines/ssh-access.js";
import type { Comparison } from "./machines/separate-group.js";
import {
  roleTable,
  separateGroups,
  separateGroupsOf,
  separateRoles,
  type Role,
  type SeparateRole,
} from "./roles.js";
import { apiName, dnsNameOf, endpoint, withDefaults } from "./load-balancing/endpoint.js";
import {
  servicesNetworkConflicts,
  cloudController,
  loadBalancer,
  ovnPlacementConflicts,
  openstackPlugin,
  withoutLoadBalancers,
} from "./cloud/cloud.js";
import { credential } from "./cloud/credential.js";
import { ingress, ingressConflicts } from "./load-balancing/ingress.js";
import { missingNodes, type GroupAtPath } from "./machines/group-options.js";
import { fixedAddressConflicts } from "./network/fixed-addresses.js";
import { floatingIpConflicts } from "./network/floating-ips.js";
import { ipv6Conflicts } from "./network/ipv6.js";
import { kubernetes, metricsServer, samples } from "./kubernetes/kubernetes.js";
import {
  allowedCidrs,
  serviceCidrs,
  sshCidrs,
  rangesWithoutIpv4,
} from "./network/allowed-cidrs.js";
import {
  controlPlane,
  securityUpdates,
  ssh,
  timeoutFactor,
  workers,
  zones,
} from "./machines/machines.js";
import {
  externalNetwork,
  foreignDns,
  network,
  missingExternalNetwork,
  existingNetworkConflicts,
  unfilteredSecurityGroups,
} from "./network/network.js";
import {
  podNetwork,
  samplesWithoutPodNetwork,
  withoutExternalIps,
  withoutKubeProxy,
  cloudRoutesConflicts,
} from "./network/pod-network.js";
import { overlappingRanges } from "../schema/cidr-overlap.js";
import { insufficientRanges } from "./network/address-capacity.js";
import { sampleServices } from "./load-balancing/sample-services.js";
import { blockStorage, storageClasses, storageClassConflicts } from "./cloud/block-storage.js";
import {
  topologyConflicts,
  missingMachineGroup,
  topologyDefaults,
  topology,
  podsWithoutNodes,
} from "./topology.js";
import { volumesWithoutZone } from "./machines/volumes.js";
import { doc, label, nonEmptyText, record, booleanField } from "../schema/fields.js";

type SeparateSchemas = {
  readonly [Of in SeparateRole]: (typeof separateGroups)[Of]["schema"];
};

/** Schemas of the groups of machines that are not nodes, by role. */
const separateSchemas = Object.fromEntries(
  separateRoles().map((role) => [role, separateGroups[role].schema]),
) as unknown as SeparateSchemas;

/**
 * Schema of all arguments of a cluster, with types, checks, defaults and documentation. No argument
 * is declared outside this schema.
 */
export const clusterShape = record({
  image: nonEmptyText("an image").meta(
    doc(
      "replaces nodes",
      "Image of the machines, by name or ID: a Debian or Ubuntu with cloud-init.",
    ),
  ),
  externalNetwork,
  allowedCidrs,
  sshCidrs,
  topology,
  controlPlane,
  workers,
  ...separateSchemas,
  name: label("the name of a cluster").meta(
    doc("refused", "Prefix of the name of every object in the cloud.", "the name of the stack"),
  ),
  protect: booleanField()
    .default(false)
    .meta(
      doc(
        "in place",
        "Whether the cluster is protected: `destroy` refuses to delete it, also with `--yes`, and plain `pulumi destroy` refuses in its preview. To destroy it, write `false` and run `up` first.",
      ),
    ),
  zones,
  network,
  serviceCidrs,
  endpoint,
  apiName,
  ssh,
  securityUpdates,
  timeoutFactor,
  access,
  kubernetes,
  podNetwork,
  openstackPlugin,
  loadBalancer,
  cloudController,
  credential,
  blockStorage,
  storageClasses,
  metricsServer,
  ingress,
  samples,
  sampleServices,
});

type Checked = z.output<typeof clusterShape>;

/**
 * Refuses a worker pool with the name of a role. Machines are named `<cluster>-<pool>-<position>`,
 * so the pool's machines would have the same names as the machines with this role.
 */
const reservedPools = (value: Checked): z.core.$ZodRawIssue[] => {
  const reserved: readonly Role[] = [
    "control-plane",
    ...separateGroupsOf(value).map(({ role }) => role),
  ];
  return reserved
    .filter((role) => role in value.workers)
    .map((role) => ({
      code: "custom",
      path: ["workers", role],
      input: role,
      message: `is the name of the ${roleTable[role].title} machines; give the pool another name`,
    }));
};

/**
 * Refuses an `apiName` that differs from the DNS name of an `existing` endpoint. With such an
 * endpoint, machines resolve the API's name only by DNS, which does not know another `apiName`.
 */
const unknownName = ({ endpoint: written, apiName: name }: Checked): z.core.$ZodRawIssue[] => {
  const host = dnsNameOf(written);
  return host === undefined || name === undefined || name === host
    ? []
    : [
        {
          code: "custom",
          path: ["apiName"],
          input: name,
          message: `${name} is not endpoint.host (${host}), whose address only the DNS knows; leave it out`,
        },
      ];
};

/** Returns the groups of machines that become nodes, each with its path in the arguments. */
const nodeGroupsOf = ({
  topology: chosen,
  controlPlane: first,
  workers: pools,
}: Checked): readonly GroupAtPath[] => [
  {
    path: ["controlPlane"],
    group: { ...first, count: first.count ?? topologyDefaults(chosen).count },
  },
  ...Object.entries(pools).map(([pool, group]) => ({ path: ["workers", pool], group })),
];

/** Returns all groups of machines, each with its path in the arguments. */
const groupsOf = (value: Checked): readonly GroupAtPath[] => [
  ...nodeGroupsOf(value),
  ...separateGroupsOf(value),
];

/** Returns the number of machines in all groups together. */
const machinesIn = (groups: readonly GroupAtPath[]): number =>
  groups.reduce((sum, { group }) => sum + group.count, 0);

/**
 * Returns the number of nodes, of machines, and of other addresses that the cluster needs at least.
 * Other addresses are those of the API's endpoint and of the ingress load balancer.
 */
const countedIn = (value: Checked) => ({
  nodes: machinesIn(nodeGroupsOf(value)),
  machines: machinesIn(groupsOf(value)),
  others:
    endpointTraits({ ...value, ...withDefaults(value) }).ports +
    (value.ingress?.kind === "workers" ? 1 : 0),
});

const controlPlaneOf = ({ topology: chosen, controlPlane: written }: Checked) => {
  const { count, schedulable } = topologyDefaults(chosen);
  return {
    controlPlane: {
      ...written,
      count: written.count ?? count,
      schedulable: written.schedulable ?? schedulable,
    },
  };
};

const outside = ["network", "endpoint", "externalNetwork", "allowedCidrs", "loadBalancer"] as const;
const balanced = ["loadBalancer", "cloudController", "endpoint", "topology", "samples"] as const;

const made = ["endpoint", "topology", "loadBalancer", "ingress"] as const;
const reached = [...outside, "topology", "access", "ssh", "ingress"] as const;
const around = ["loadBalancer", "cloudController", "externalNetwork"] as const;
const routed = ["podNetwork", "cloudController", "network", "endpoint"] as const;
const nodes = ["topology", "controlPlane", "workers"] as const;
const several = [...nodes, ...separateRoles()] as const;
const placed = ["network", "endpoint", ...several] as const;
const dual = [...routed, "kubernetes"] as const;
const housed = [...outside, ...several, "podNetwork", "kubernetes", "ingress"] as const;

const comparisons: readonly Comparison<Checked>[] = [
  { of: ["network"], find: ({ network: ranges }) => overlappingRanges("network", ranges) },
  { of: ["network"], find: foreignDns },
  { of: ["storageClasses"], find: ({ storageClasses: classes }) => storageClassConflicts(classes) },
  { of: ["workers", ...separateRoles()], find: reservedPools },
  { of: ["access", "network"], find: sshAccessConflicts },
  { of: ["topology", "controlPlane", "workers"], find: topologyConflicts },
  { of: [...nodes, "samples", "ingress"], find: podsWithoutNodes },
  { of: ["allowedCidrs", "sshCidrs", "network", "controlPlane"], find: rangesWithoutIpv4 },
  ...Object.values(separateGroups).flatMap(
    (group): readonly Comparison<Checked>[] => group.conflicts,
  ),
  { of: several, find: (value) => missingNodes(groupsOf(value)) },
  {
    of: [...several, "zones"],
    find: (value) => volumesWithoutZone(groupsOf(value), value.zones),
  },
  { of: placed, find: (value) => fixedAddressConflicts({ ...value, groups: groupsOf(value) }) },
  {
    of: ["network", ...several],
    find: (value) => unfilteredSecurityGroups({ ...value, groups: groupsOf(value) }),
  },
  { of: ["samples", "podNetwork"], find: samplesWithoutPodNetwork },
  { of: outside, find: (value) => existingNetworkConflicts({ ...value, ...withDefaults(value) }) },
  { of: made, find: (value) => ovnPlacementConflicts({ ...value, ...withDefaults(value) }) },
  {
    of: [...reached, "sampleServices"],
    find: (value) => floatingIpConflicts({ ...value, ...withDefaults(value) }),
  },
  { of: ["endpoint", "apiName"], find: unknownName },
  { of: ["ingress", "workers", ...around], find: ingressConflicts },
  { of: balanced, find: withoutLoadBalancers },
  { of: ["loadBalancer", "cloudController", "network"], find: servicesNetworkConflicts },
  { of: routed, find: cloudRoutesConflicts },
  { of: dual, find: ipv6Conflicts },
  { of: ["podNetwork", "kubernetes"], find: withoutKubeProxy },
  { of: ["podNetwork", "kubernetes"], find: withoutExternalIps },
  { of: housed, find: (value) => insufficientRanges({ ...value, ...countedIn(value) }) },
];

export const clusterSchema = clusterShape
  .check(({ value, issues }) => {
    // Runs only the checks whose arguments are all valid. An invalid argument does not stop the
    // checks of other arguments.
    const wrong = new Set(issues.map(({ path = [] }) => path[0]));
    const sound = comparisons.filter(({ of }) => !of.some((key) => wrong.has(key)));
    issues.push(...sound.flatMap(({ find }) => find(value)));
  })
  .transform((value) => ({
    ...value,
    ...controlPlaneOf(value),
    ...withDefaults(value),
    serviceCidrs: value.serviceCidrs ?? value.allowedCidrs,
    sshCidrs: value.sshCidrs ?? value.allowedCidrs,
    ssh: { ...value.ssh, bootMinutes: value.ssh.bootMinutes ?? 10 * value.timeoutFactor },
  }));

type Written = z.input<typeof clusterSchema>;
/** Arguments before defaults are filled in. The default of `name` is the name of the component. */
export type ClusterArgs = Omit<Written, "name"> & Partial<Pick<Written, "name">>;
/** Arguments with every default filled in. */
export type ClusterSpec = z.output<typeof clusterSchema>;

export type SpecResult =
  | { readonly spec: ClusterSpec }
  | { readonly problems: readonly { readonly path: string; readonly message: string }[] };

/**
 * Checks all arguments and reports all problems at once. The problems' paths begin with `root`,
 * such as "cluster.network.pods".
 */
export function parseClusterSpec(args: unknown, root = "cluster"): SpecResult {
  const result = clusterSchema.safeParse(args);
  const lacking = Object.entries({
    externalNetwork: missingExternalNetwork(args),
    workers: missingMachineGroup(args),
  });
  const missing = lacking.flatMap(([key, message]) =>
    message === undefined ? [] : [{ path: [key], message }],
  );
  if (result.success && missing.length === 0) return { spec: result.data };
  const issues = [...(result.error?.issues ?? []), ...missing];
  return {
    problems: issues.map(({ path, message }) => ({
      path: [root, ...path].map(String).join("."),
      message,
    })),
  };
}
