import { findByReference } from "../client/name-or-id.js";
import type { CloudObject, CloudObjectKind } from "../inventory/inventory.js";
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

/** Returns the quota in Nova for the servers of the machines. */
function getServerQuota(
  machines: readonly MachineRequirement[],
  flavors: readonly Flavor[],
): Partial<Record<QuotaName, number>> {
  const sizes = machines.flatMap(({ flavor }) => findByReference(flavor, flavors).slice(0, 1));
  return {
    instances: machines.length,
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
  const { missing } = findMachineChanges(needs.machines, existing);
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
    ...getServerQuota(missing, flavors),
    ...Object.fromEntries(
      countedResources.map((name) => [name, needs.counts[name] - (already[name] ?? 0)]),
    ),
    ...getVolumeQuota(needs, existing),
    ports: getPortQuota(needs, existing),
  };
}
