import { findByReference } from "../client/name-or-id.js";
import type { CloudObject, CloudObjectKind, ServerCapacity } from "../inventory/inventory.js";
import type { Flavor } from "./cloud-offer.js";
import {
  countedResources,
  type BalancerPart,
  type ClusterRequirements,
  type MachineRequirement,
  type VolumeRequirement,
} from "./cluster-requirements.js";
import { findMachineChanges } from "./machine-changes.js";
import type { QuotaName } from "./quotas.js";

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);

/**
 * Returns by how much a machine needs more CPUs and memory than its server has. All values are 0 if
 * the sizes are unknown.
 */
function getGrowth(
  { name, flavor }: MachineRequirement,
  flavors: readonly Flavor[],
  servers: ReadonlyMap<string, CloudObject>,
): ServerCapacity {
  const [size] = findByReference(flavor, flavors);
  const now = servers.get(name)?.capacity;
  return size && now
    ? { vcpus: size.vcpus - now.vcpus, ram: size.ram - now.ram }
    : { vcpus: 0, ram: 0 };
}

/**
 * Returns the quota in Nova for the servers of missing machines, and for larger servers of replaced
 * machines. A replaced server is deleted before its successor is created, so a quota that is too
 * small would cost the machine.
 */
function getServerQuota(
  machines: readonly MachineRequirement[],
  flavors: readonly Flavor[],
  existing: readonly CloudObject[],
): Partial<Record<QuotaName, number>> {
  const { missing, replaced } = findMachineChanges(machines, existing);
  const servers = new Map(
    existing.filter(({ kind }) => kind === "server").map((server) => [server.name, server]),
  );
  const sizes: readonly ServerCapacity[] = [
    ...missing.flatMap(({ flavor }) => findByReference(flavor, flavors).slice(0, 1)),
    ...replaced.map((machine) => getGrowth(machine, flavors, servers)),
  ];
  return {
    instances: missing.length,
    cores: sum(sizes.map(({ vcpus }) => vcpus)),
    "MiB of RAM": sum(sizes.map(({ ram }) => ram)),
  };
}

/**
 * Returns the volumes of machines that the run creates. Leaves out an existing volume with another
 * size, because the program does not resize it. Includes the volumes of replaced machines, because
 * the engine deletes the old volumes only at the end of the run.
 *
 * @param existing existing objects of the cluster
 */
export function listVolumesToCreate(
  { machines }: Pick<ClusterRequirements, "machines">,
  existing: readonly CloudObject[],
): VolumeRequirement[] {
  const names = new Set(existing.filter(({ kind }) => kind === "volume").map(({ name }) => name));
  const { replaced } = findMachineChanges(machines, existing);
  return machines.flatMap((machine) =>
    machine.volumes.filter(({ name }) => !names.has(name) || replaced.includes(machine)),
  );
}

/**
 * Returns the quota in Cinder for the volumes of the machines, and for the volumes that Cinder CSI
 * creates.
 */
function getVolumeQuota(
  needs: ClusterRequirements,
  existing: readonly CloudObject[],
): Partial<Record<QuotaName, number>> {
  const { counts } = needs;
  const planned = needs.machines.flatMap(({ volumes }) => volumes);
  const names = new Set(planned.map(({ name }) => name));
  const created = listVolumesToCreate(needs, existing);
  const ofClaims = existing.filter(({ kind, name }) => kind === "volume" && !names.has(name));
  const others = Math.max(0, counts.volumes - planned.length - ofClaims.length);
  const otherGigabytes = counts["volume gigabytes"] - sum(planned.map(({ size }) => size));
  return {
    volumes: created.length + others,
    "volume gigabytes":
      sum(created.map(({ size }) => size)) + (others > 0 ? Math.max(0, otherGigabytes) : 0),
  };
}

/**
 * Returns the number of ports to create: the ports of machines without such a port, and the other
 * ports of the cluster that do not exist.
 */
function getPortQuota(
  { machines, counts }: ClusterRequirements,
  existing: readonly CloudObject[],
): number {
  const names = new Set(existing.filter(({ kind }) => kind === "port").map(({ name }) => name));
  const planned = machines.flatMap(({ ports }) => ports);
  const created = planned.filter((name) => !names.has(name));
  const others = existing.filter(({ kind, name }) => kind === "port" && !planned.includes(name));
  return created.length + Math.max(0, counts.ports - planned.length - others.length);
}

/**
 * Returns the additional quota that the cluster needs.
 *
 * @param existing existing objects of the cluster
 * @param parts numbers of existing parts of the cluster's load balancers. Default: none
 */
export function getNeededQuota(
  needs: ClusterRequirements,
  flavors: readonly Flavor[],
  existing: readonly CloudObject[],
  parts: Partial<Record<BalancerPart, number>> = {},
): Partial<Record<QuotaName, number>> {
  const count = (kind: CloudObjectKind): number =>
    existing.filter((object) => object.kind === kind).length;
  const already: Partial<Record<QuotaName, number>> = {
    networks: count("network"),
    subnets: count("subnet"),
    routers: count("router"),
    "floating IPs": count("floating IP"),
    "security groups": count("security group"),
    "security group rules": sum(existing.map(({ rules }) => rules)),
    "load balancers": count("load balancer"),
    "server groups": count("server group"),
    ...parts,
  };
  return {
    ...getServerQuota(needs.machines, flavors, existing),
    ...Object.fromEntries(
      countedResources.map((name) => [name, needs.counts[name] - (already[name] ?? 0)]),
    ),
    ...getVolumeQuota(needs, existing),
    ports: getPortQuota(needs, existing),
  };
}
