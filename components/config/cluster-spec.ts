import { z } from "zod";
import { getPodNetworkTraits } from "../pod-network/pod-network-kinds.js";
import { getEndpointTraits } from "./load-balancing/endpoint-traits.js";
import { sshAccessSchema, findSshAccessConflicts } from "./machines/ssh-access.js";
import type { ConflictCheck } from "./machines/separate-group-definition.js";
import {
  roleTable,
  separateGroupDefinitions,
  listSeparateGroupSpecs,
  listSeparateRoles,
  type MachineRole,
  type SeparateRole,
} from "./roles.js";
import {
  apiNameSchema,
  getEndpointDnsName,
  endpointSchema,
  fillEndpointDefaults,
} from "./load-balancing/endpoint.js";
import {
  findServicesNetworkConflicts,
  cloudControllerSchema,
  serviceLoadBalancerSchema,
  findOvnPlacementConflicts,
  openstackPluginSchema,
  findDisabledLoadBalancerConflicts,
} from "./cloud/cloud.js";
import { credentialSchema } from "./cloud/credential.js";
import { ingressSchema, findIngressConflicts } from "./load-balancing/ingress.js";
import { findNodePositionConflicts, type GroupAtPath } from "./machines/group-options.js";
import { findFixedAddressConflicts } from "./network/fixed-addresses.js";
import { findFloatingIpConflicts } from "./network/existing-floating-ip-checks.js";
import { findIpv6Conflicts } from "./network/ipv6.js";
import { findNodeLeaseConflicts } from "./kubernetes/node-leases.js";
import { findUserAddonConflicts, userAddonsSchema } from "./kubernetes/user-addons.js";
import { kubernetesSchema, metricsServerSchema, samplesSchema } from "./kubernetes/kubernetes.js";
import {
  allowedCidrsSchema,
  serviceCidrsSchema,
  sshCidrsSchema,
  findMissingIpv4Conflicts,
} from "./network/allowed-cidrs.js";
import {
  controlPlaneSchema,
  securityUpdatesSchema,
  sshSchema,
  timeoutFactorSchema,
  workersSchema,
  zonesSchema,
} from "./machines/machines.js";
import {
  externalNetworkSchema,
  findDnsFamilyConflicts,
  networkSchema,
  findMissingExternalNetworkError,
  findExistingNetworkConflicts,
  findUnfilteredSecurityGroupConflicts,
} from "./network/network.js";
import {
  podNetworkSchema,
  findSamplesConflicts,
  findAdvertisedIpConflicts,
  findKubeProxyConflicts,
  findCloudRoutesConflicts,
} from "./network/pod-network.js";
import { findRangeOverlapConflicts } from "../schema/cidr-overlap.js";
import { findAddressCapacityConflicts, getSmallerMaxPods } from "./network/address-capacity.js";
import { sampleServicesSchema } from "./load-balancing/sample-services.js";
import {
  blockStorageSchema,
  storageClassesSchema,
  findStorageClassConflicts,
} from "./cloud/block-storage.js";
import {
  findTopologyConflicts,
  findMissingMachineGroupError,
  getTopologyDefaults,
  topologySchema,
  findTaintConflicts,
  findUnschedulablePodConflicts,
} from "./topology.js";
import { findVolumeZoneConflicts } from "./machines/volumes.js";
import {
  doc,
  dnsLabelField,
  nonEmptyTextField,
  strictObject,
  booleanField,
  inputField,
} from "../schema/fields.js";

type SeparateSchemas = {
  readonly [Of in SeparateRole]: (typeof separateGroupDefinitions)[Of]["schema"];
};

/** Schemas of the groups of machines that are not nodes, by role. */
const separateSchemas = Object.fromEntries(
  listSeparateRoles().map((role) => [role, separateGroupDefinitions[role].schema]),
) as unknown as SeparateSchemas;

/**
 * Schema of all arguments of a cluster, with types, checks, defaults and documentation. No argument
 * is declared outside this schema.
 */
export const clusterFieldsSchema = strictObject({
  image: inputField(nonEmptyTextField("an image")).meta(
    doc(
      "replaces nodes",
      "Image of the machines, by name or ID: a Debian or Ubuntu with cloud-init.",
    ),
  ),
  externalNetwork: externalNetworkSchema,
  allowedCidrs: allowedCidrsSchema,
  sshCidrs: sshCidrsSchema,
  topology: topologySchema,
  controlPlane: controlPlaneSchema,
  workers: workersSchema,
  ...separateSchemas,
  name: dnsLabelField("the name of a cluster").meta(
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
  zones: zonesSchema,
  network: networkSchema,
  serviceCidrs: serviceCidrsSchema,
  endpoint: endpointSchema,
  apiName: apiNameSchema,
  ssh: sshSchema,
  securityUpdates: securityUpdatesSchema,
  timeoutFactor: timeoutFactorSchema,
  access: sshAccessSchema,
  kubernetes: kubernetesSchema,
  podNetwork: podNetworkSchema,
  openstackPlugin: openstackPluginSchema,
  loadBalancer: serviceLoadBalancerSchema,
  cloudController: cloudControllerSchema,
  credential: credentialSchema,
  blockStorage: blockStorageSchema,
  storageClasses: storageClassesSchema,
  metricsServer: metricsServerSchema,
  ingress: ingressSchema,
  samples: samplesSchema,
  sampleServices: sampleServicesSchema,
  addons: userAddonsSchema,
});

type Checked = z.output<typeof clusterFieldsSchema>;

/**
 * Refuses a worker pool with the name of a role. Machines are named `<cluster>-<pool>-<position>`,
 * so the pool's machines would have the same names as the machines with this role.
 */
const reservedPools = (value: Checked): z.core.$ZodRawIssue[] => {
  const reserved: readonly MachineRole[] = [
    "control-plane",
    ...listSeparateGroupSpecs(value).map(({ role }) => role),
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
 * endpoint, machines resolve the API's name only by DNS. The DNS server knows only the endpoint's
 * name.
 */
const unknownName = ({ endpoint: written, apiName: name }: Checked): z.core.$ZodRawIssue[] => {
  const host = getEndpointDnsName(written);
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
    group: { ...first, count: first.count ?? getTopologyDefaults(chosen).count },
  },
  ...Object.entries(pools).map(([pool, group]) => ({ path: ["workers", pool], group })),
];

/** Returns all groups of machines, each with its path in the arguments. */
const groupsOf = (value: Checked): readonly GroupAtPath[] => [
  ...nodeGroupsOf(value),
  ...listSeparateGroupSpecs(value),
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
    getEndpointTraits({ ...value, ...fillEndpointDefaults(value) }).ports +
    (value.ingress?.kind === "workers" ? 1 : 0),
});

const controlPlaneOf = ({ topology: chosen, controlPlane: written }: Checked) => {
  const { count, schedulable } = getTopologyDefaults(chosen);
  return {
    controlPlane: {
      ...written,
      count: written.count ?? count,
      schedulable: written.schedulable ?? schedulable,
    },
  };
};

/**
 * Fills the mode of kube-proxy, unless the pod network replaces kube-proxy. kubeadm's default is
 * iptables, which a pod network that restores whole tables would overwrite
 * (cloudnativelabs/kube-router issue 1372).
 */
const kubeProxyOf = ({ kubernetes: { kubeProxy }, podNetwork }: Checked) => {
  const { restoresTables, replacesKubeProxy } = getPodNetworkTraits(podNetwork);
  return !restoresTables || replacesKubeProxy ? kubeProxy : { mode: "nftables", ...kubeProxy };
};

/** Fills kubelet's `maxPods` if a node has fewer addresses for pods than kubelet's default. */
const kubeletOf = (value: Checked) => {
  const { kubelet } = value.kubernetes;
  const maxPods = getSmallerMaxPods(value);
  return maxPods === undefined ? kubelet : { maxPods, ...kubelet };
};

const kubernetesOf = (value: Checked) => ({
  kubernetes: {
    ...value.kubernetes,
    kubelet: kubeletOf(value),
    kubeProxy: kubeProxyOf(value),
  },
});

const existingNetworkKeys = [
  "network",
  "endpoint",
  "externalNetwork",
  "allowedCidrs",
  "loadBalancer",
] as const;
const loadBalancerKeys = [
  "loadBalancer",
  "cloudController",
  "endpoint",
  "topology",
  "samples",
] as const;

const createdNetworkKeys = ["endpoint", "topology", "loadBalancer", "ingress"] as const;
const reached = [...existingNetworkKeys, "topology", "access", "ssh", "ingress"] as const;
const around = ["loadBalancer", "cloudController", "externalNetwork"] as const;
const routed = ["podNetwork", "cloudController", "network", "endpoint"] as const;
const nodes = ["topology", "controlPlane", "workers"] as const;
const several = [...nodes, ...listSeparateRoles()] as const;
const placed = ["network", "endpoint", ...several] as const;
const dual = [...routed, "kubernetes"] as const;
const housed = [...existingNetworkKeys, ...several, "podNetwork", "kubernetes", "ingress"] as const;

const deployed = ["podNetwork", "cloudController", "kubernetes", "metricsServer"] as const;

const conflictChecks: readonly ConflictCheck<Checked>[] = [
  { of: ["network"], find: ({ network: ranges }) => findRangeOverlapConflicts("network", ranges) },
  { of: ["network"], find: findDnsFamilyConflicts },
  {
    of: ["storageClasses"],
    find: ({ storageClasses: classes }) => findStorageClassConflicts(classes),
  },
  { of: ["workers", ...listSeparateRoles()], find: reservedPools },
  { of: ["access", "network"], find: findSshAccessConflicts },
  { of: ["topology", "controlPlane", "workers"], find: findTopologyConflicts },
  { of: nodes, find: findTaintConflicts },
  { of: [...nodes, "samples", "ingress"], find: findUnschedulablePodConflicts },
  { of: ["allowedCidrs", "sshCidrs", "network", "controlPlane"], find: findMissingIpv4Conflicts },
  ...Object.values(separateGroupDefinitions).flatMap(
    (group): readonly ConflictCheck<Checked>[] => group.conflicts,
  ),
  { of: several, find: (value) => findNodePositionConflicts(groupsOf(value)) },
  {
    of: [...several, "zones"],
    find: (value) => findVolumeZoneConflicts(groupsOf(value), value.zones),
  },
  { of: placed, find: (value) => findFixedAddressConflicts({ ...value, groups: groupsOf(value) }) },
  {
    of: ["network", ...several],
    find: (value) => findUnfilteredSecurityGroupConflicts({ ...value, groups: groupsOf(value) }),
  },
  { of: ["samples", "podNetwork"], find: findSamplesConflicts },
  { of: [...deployed, "ingress", "samples", "addons"], find: findUserAddonConflicts },
  {
    of: existingNetworkKeys,
    find: (value) => findExistingNetworkConflicts({ ...value, ...fillEndpointDefaults(value) }),
  },
  {
    of: createdNetworkKeys,
    find: (value) => findOvnPlacementConflicts({ ...value, ...fillEndpointDefaults(value) }),
  },
  {
    of: [...reached, "sampleServices"],
    find: (value) => findFloatingIpConflicts({ ...value, ...fillEndpointDefaults(value) }),
  },
  { of: ["endpoint", "apiName"], find: unknownName },
  { of: ["ingress", "workers", ...around], find: findIngressConflicts },
  { of: loadBalancerKeys, find: findDisabledLoadBalancerConflicts },
  { of: ["loadBalancer", "cloudController", "network"], find: findServicesNetworkConflicts },
  { of: routed, find: findCloudRoutesConflicts },
  { of: dual, find: findIpv6Conflicts },
  { of: ["podNetwork", "kubernetes"], find: findKubeProxyConflicts },
  { of: ["kubernetes", "timeoutFactor"], find: findNodeLeaseConflicts },
  { of: ["podNetwork", "kubernetes"], find: findAdvertisedIpConflicts },
  { of: housed, find: (value) => findAddressCapacityConflicts({ ...value, ...countedIn(value) }) },
];

export const clusterSchema = clusterFieldsSchema
  .check(({ value, issues }) => {
    // Runs only the checks whose arguments are all valid. An invalid argument does not stop the
    // checks of other arguments.
    const wrong = new Set(issues.map(({ path = [] }) => path[0]));
    const sound = conflictChecks.filter(({ of }) => !of.some((key) => wrong.has(key)));
    issues.push(...sound.flatMap(({ find }) => find(value)));
  })
  .transform((value) => ({
    ...value,
    ...controlPlaneOf(value),
    ...kubernetesOf(value),
    ...fillEndpointDefaults(value),
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
    externalNetwork: findMissingExternalNetworkError(args),
    workers: findMissingMachineGroupError(args),
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
