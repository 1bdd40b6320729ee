import type {
  ClusterRequirements,
  CountedResource,
} from "../openstack/checks/cluster-requirements.js";
import { defaultOpenstackPlugin } from "../base/versions/pulumi-openstack-versions.js";
import type { RequiredLookups } from "../openstack/checks/required-lookups.js";
import type { ClusterSpec } from "./config/cluster-spec.js";
import { findBarbicanCertificatePath } from "./config/load-balancing/barbican-certificate-path.js";
import { isCredentialSupplied } from "./config/cloud/credential.js";
import {
  countSshFloatingIps,
  getFloatingIpsByPath,
} from "./config/network/existing-floating-ip-checks.js";
import { getEndpointTraits } from "./config/load-balancing/endpoint-traits.js";
import { getIngressTraits } from "./config/load-balancing/ingress-traits.js";
import { getEarlyImages } from "./machine/early-images.js";
import { getFirewallRules } from "./network/firewall-plan.js";
import { suggestedPodNetworks, getAddressPairRanges } from "./pod-network/pod-network-kinds.js";
import {
  listPlannedGroups,
  listPlannedMachines,
  planCluster,
  getServicesNetworkName,
  type ClusterPlan,
} from "./plan/cluster-plan.js";
import { roleTable } from "./config/roles.js";
import { listMachineRequirements } from "./plan/machine-requirements.js";
import { listNeutronExtensions } from "./plan/neutron-extensions.js";
import { countBalancerParts, getOctaviaRequirements } from "./plan/octavia-requirements.js";

/** Returns the defined names without duplicates. */
const namesIn = (names: readonly (string | undefined)[]): string[] => [
  ...new Set(names.flatMap((name) => name ?? [])),
];

/** Returns everything that must be looked up in the cloud before a cluster is created. */
export const requiredLookups = (spec: ClusterSpec): RequiredLookups => {
  const plan = planCluster(spec);
  const machines = listPlannedMachines(plan);
  const floatingIps = Object.entries(getFloatingIpsByPath(spec)).map(([path, address]) => ({
    address,
    path,
  }));
  return {
    cluster: spec.name,
    machines: machines.map(({ name, image, flavor, generation }) => ({
      name,
      image,
      flavor,
      generation,
    })),
    ...(spec.openstackPlugin !== undefined && { openstackPlugin: spec.openstackPlugin }),
    securityGroups: namesIn(
      listPlannedGroups(plan).flatMap(({ securityGroups }) => securityGroups),
    ),
    images: namesIn(machines.map(({ image }) => image)),
    ...(spec.externalNetwork !== undefined && { externalNetwork: spec.externalNetwork }),
    ...(spec.network.existing && {
      network: {
        ...spec.network.existing,
        nodes: spec.network.nodes,
        addresses: plan.addresses,
      },
    }),
    ...(spec.network.admin && {
      admin: {
        ...spec.network.admin,
        apart: {
          nodes: spec.network.nodes,
          pods: spec.network.pods,
          services: spec.network.services,
        },
      },
    }),
    ...(floatingIps.length > 0 && { floatingIps }),
    flavors: namesIn(machines.map(({ flavor }) => flavor)),
    ...(spec.loadBalancer.network && {
      servicesExternalNetwork: spec.loadBalancer.network.externalNetwork,
    }),
  };
};

type Counts = Readonly<Record<CountedResource, number>>;

/** Returns the number of floating IPs that the program creates for SSH: 0 or 1. */
const entryAddressesMade = (spec: ClusterSpec): number =>
  spec.ssh.floatingIp === undefined ? countSshFloatingIps(spec) : 0;

/**
 * Returns the names of the networks that the program creates. Each network has a subnet and a
 * router with the same name.
 */
const networksOf = (spec: ClusterSpec): readonly string[] => [
  ...(spec.network.existing ? [] : [planCluster(spec).networkName]),
  ...(spec.loadBalancer.network ? [getServicesNetworkName(spec.name)] : []),
];

/**
 * Number of rules that Neutron adds to each new security group. The rules allow outgoing traffic,
 * one rule for each IP family.
 */
const ownRules = 2;
/**
 * Returns whether a security group keeps the rules that Neutron adds. The program deletes these
 * rules from the group of second interfaces (network/firewall.ts).
 */
const keepsOwnRules = ({ group }: ClusterPlan["securityGroups"][number]): boolean =>
  group !== "admin";

/**
 * Returns the number of the cluster's objects of each kind. The program creates most objects.
 * Controllers in the cluster create the others.
 */
function countsOf(spec: ClusterSpec, plan: ClusterPlan): Counts {
  const endpoint = getEndpointTraits(spec);
  const ingress = getIngressTraits(spec);
  const volumes = listPlannedMachines(plan).flatMap((machine) => machine.volumes);
  // The samples have one or two load balancers, each with a port and a security group, and one
  // volume of 1 GiB. The cloud controller may create a floating IP for one load balancer.
  const { external = true, address } = spec.sampleServices;
  const [services, one] = spec.samples ? [external ? 2 : 1, 1] : [0, 0];
  const pool = spec.loadBalancer.network?.externalNetwork ?? spec.externalNetwork;
  const outside = pool !== undefined && address === undefined;
  const floatingIps = services === 2 && outside ? 1 : 0;
  const networkCount = networksOf(spec).length;
  const groups = ingress.securityGroups + services;
  const dual = spec.network.ipv6 ? 1 : 0;
  return {
    networks: networkCount,
    subnets: networkCount + dual,
    routers: networkCount,
    // In addition to the machines' ports: the ports of the API's endpoint and of load balancers,
    // and two ports for each network, for its router and for DHCP.
    ports:
      listPlannedMachines(plan).length * (spec.network.admin ? 2 : 1) +
      (endpoint.ports + ingress.ports + 2 * networkCount + dual + services),
    "floating IPs":
      endpoint.floatingIps + ingress.floatingIps + entryAddressesMade(spec) + floatingIps,
    "security groups": plan.securityGroups.length + groups,
    "security group rules":
      getFirewallRules(spec).length +
      ownRules * (groups + plan.securityGroups.filter(keepsOwnRules).length),
    volumes: one + volumes.length,
    "volume gigabytes": volumes.reduce((sum, { size }) => sum + size, one),
    "load balancers": endpoint.loadBalancers + ingress.loadBalancers + services,
    ...countBalancerParts(spec, plan),
    "server groups": listPlannedGroups(plan).filter(({ policy }) => policy !== undefined).length,
  };
}

/**
 * Returns the settings that need special ports, such as ports without port security. By default,
 * Neutron allows such ports only to the project that owns the network.
 */
function ownersOnly({ network, podNetwork, endpoint }: ClusterSpec, plan: ClusterPlan): string[] {
  if (!network.existing) return [];
  const { kind } = podNetwork;
  const routed = getAddressPairRanges({ podNetwork, network }).length > 0;
  const found = {
    "network.portSecurity false": !network.portSecurity,
    [`podNetwork ${"backend" in podNetwork ? `${kind}, ${podNetwork.backend}` : kind}`]:
      network.portSecurity && routed,
    "endpoint virtual-ip": endpoint.kind === "virtual-ip",
    "addresses of machines": plan.addresses.length > 0 && endpoint.kind !== "virtual-ip",
  };
  return Object.entries(found).flatMap(([what, needed]) => (needed ? [what] : []));
}

/**
 * Returns kubeadm's preflight checks of CPUs and memory that the specification does not ignore.
 * Like kubeadm, ignores the case of the checks' names.
 */
function sizeChecks({ kubernetes }: ClusterSpec): ClusterRequirements["sizeChecks"] {
  const ignored = kubernetes.ignorePreflightErrors.map((check) => check.toLowerCase());
  return (["NumCPU", "Mem"] as const).filter(
    (check) => !ignored.includes("all") && !ignored.includes(check.toLowerCase()),
  );
}

/**
 * Returns the number of nodes, and the images that each node pulls from Docker Hub. Leaves out the
 * images if the specification has a mirror or a login for Docker Hub.
 */
function dockerHub(
  spec: ClusterSpec,
  plan: ClusterPlan,
): NonNullable<ClusterRequirements["dockerHub"]> {
  const nodes = plan.groups.reduce(
    (sum, { role, machines }) => sum + (roleTable[role].node ? machines.length : 0),
    0,
  );
  const { mirrors = [], user } = spec.kubernetes.registries["docker.io"] ?? {};
  const images =
    mirrors.length > 0 || user !== undefined
      ? []
      : getEarlyImages(spec, "worker").filter((image) => image.startsWith("docker.io/"));
  return { nodes, images };
}

/** Returns the existing networks that the specification names. */
const givenNetworks = ({
  externalNetwork,
  loadBalancer: { network: ofServices },
  network: { existing, nodes },
}: ClusterSpec): Pick<ClusterRequirements, "externalNetworks" | "network" | "subnet"> => ({
  externalNetworks: {
    ...(externalNetwork !== undefined && { externalNetwork }),
    ...(ofServices && { "loadBalancer.network.externalNetwork": ofServices.externalNetwork }),
  },
  ...(existing && {
    network: existing.network,
    subnet: { reference: existing.subnet, range: nodes },
  }),
});

/** Returns everything that the cluster needs from the cloud. */
export function getClusterRequirements(spec: ClusterSpec): ClusterRequirements {
  const plan = planCluster(spec);
  const machines = listMachineRequirements(spec, plan);
  const octavia = getOctaviaRequirements(spec);
  return {
    cluster: spec.name,
    openstackPlugin: spec.openstackPlugin ?? defaultOpenstackPlugin,
    machines,
    ...givenNetworks(spec),
    dockerHub: dockerHub(spec, plan),
    ownersOnly: ownersOnly(spec, plan),
    sizeChecks: sizeChecks(spec),
    volumeTypes: namesIn(spec.storageClasses.map(({ type }) => type)),
    spareZones: spec.zones.filter((zone) => !machines.some((machine) => machine.zone === zone)),
    podZones: namesIn(spec.storageClasses.flatMap(({ zones = [] }) => zones)),
    volumeZones: namesIn(spec.storageClasses.map(({ availability }) => availability)),
    volumesFollowZones:
      spec.blockStorage.topology !== false &&
      spec.storageClasses.some(({ availability: zone }) => zone === undefined),
    ...(octavia && { octavia }),
    filtersPorts: spec.network.portSecurity,
    extensions: listNeutronExtensions(spec),
    suggestedPodNetworks,
    makesCredential: !isCredentialSupplied(spec.credential),
    credentialRoles: spec.credential?.roles,
    certificate: findBarbicanCertificatePath(spec),
    credentialEnd: spec.credential?.expiresAt,
    asksKeystone:
      spec.kubernetes.keystone !== undefined && spec.kubernetes.keystone.url === undefined,
    controllersVerify: spec.cloudController.global?.tlsInsecure !== true,
    names: [
      ...machines.map(({ name }) => ({ kind: "server" as const, name })),
      ...networksOf(spec).flatMap((name) =>
        (["network", "router"] as const).map((kind) => ({ kind, name })),
      ),
    ],
    counts: countsOf(spec, plan),
  };
}
