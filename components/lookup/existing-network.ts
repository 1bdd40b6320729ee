import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { orderLookups, findByReference } from "../../openstack/client/name-or-id.js";
import type { WantedAdminNetwork, WantedNetwork } from "../../openstack/checks/required-lookups.js";
import { rangesOverlap } from "../../base/ip-addresses.js";
import {
  findFirstMatch,
  createSettingProblem,
  noMatchPattern,
  getCloudErrorReason,
  severalMatchesPattern,
  type LookupResult,
  type Lookup,
  type LookupProblem,
  type FoundObject,
} from "./lookup-result.js";

/** Address of a router in its external network. */
export interface RouterAddress {
  readonly ipAddress?: string;
}

export interface FoundNetwork {
  readonly networkId: string;
  readonly subnetId: string;
  readonly routerId?: string;
  readonly routerAddresses?: readonly RouterAddress[];
  /** MTU of the network in bytes. */
  readonly mtu: number;
}

export interface FoundAdminNetwork {
  readonly networkId: string;
  readonly subnetId: string;
  readonly range: string;
  /** Address of the gateway. Undefined: the subnet has no gateway. */
  readonly gateway?: string;
  /** MTU of the network in bytes. */
  readonly mtu: number;
}

interface Looking {
  /** External network to which the router must be connected. */
  readonly outside?: Promise<LookupResult> | undefined;
  readonly opts: pulumi.InvokeOptions;
}

interface Network extends FoundObject {
  readonly mtu: number;
  readonly subnets: readonly string[];
}
interface Subnet {
  readonly id: string;
  readonly name: string;
  readonly range: string;
  /** Address of the gateway. Empty: the subnet has no gateway. */
  readonly gateway: string;
}
interface Router extends FoundObject {
  readonly outside: string;
  readonly addresses: readonly RouterAddress[];
}

/** MTU for a network without a reported MTU: Neutron's default. */
const usualMtu = 1500;

/**
 * Finds the network, its subnet and its router. Returns the first problem if the network, the
 * subnet or the router is missing or unsuitable.
 */
export async function findNetwork(
  wanted: WantedNetwork,
  looking: Looking,
): Promise<LookupResult<FoundNetwork>> {
  const network = await findFirstMatch(
    "network",
    wanted.network,
    networkLookups(wanted.network, looking),
  );
  if ("problem" in network) return network;
  const subnet = await findSubnet(wanted, network, looking);
  if ("problem" in subnet) return subnet;
  if (wanted.addresses?.includes(subnet.gateway) === true)
    return createSettingProblem(
      `${subnet.gateway} is the gateway of the subnet "${subnet.name || subnet.id}", and no machine's address; write another one`,
    );
  const found = { networkId: network.id, subnetId: subnet.id, mtu: network.mtu };
  if (wanted.router === undefined) return found;
  const router = await findRouter(wanted.router, { networkId: network.id, subnet }, looking);
  if ("problem" in router) return router;
  return { ...found, routerId: router.id, routerAddresses: router.addresses };
}

function networkLookups(reference: string, { opts }: Looking): readonly Lookup<Network>[] {
  const findNetworks = async (
    by: openstack.networking.GetNetworkArgs,
  ): Promise<readonly Network[]> => {
    const { id, mtu, subnets } = await openstack.networking.getNetwork(by, opts);
    return [{ id, mtu: mtu ?? usualMtu, subnets }];
  };
  return orderLookups(reference, {
    byId: () => findNetworks({ networkId: reference }),
    byName: () => findNetworks({ name: reference }),
  });
}

/** Returns the IPv4 subnets of a network. */
async function subnetsOf(
  { subnets: ids }: Network,
  { opts }: Looking,
): Promise<{ readonly all: readonly Subnet[] } | LookupProblem> {
  try {
    const asked = ids.map((subnetId) => openstack.networking.getSubnet({ subnetId }, opts));
    const all = (await Promise.all(asked))
      .filter(({ ipVersion }) => ipVersion === 4)
      .map(({ id, name, cidr: range, gatewayIp: gateway }) => ({ id, name, range, gateway }));
    return { all };
  } catch (error) {
    return { problem: getCloudErrorReason(error), named: false };
  }
}

const whatIsThere = (subnets: readonly Subnet[]): string => {
  const list = subnets.map(({ id, name, range }) => `${name || id} (${range})`).join(", ");
  return list === "" ? "it has none" : `it has ${list}`;
};

/** Returns the subnet with this name or ID. */
function subnetCalled(
  reference: string,
  network: string,
  subnets: readonly Subnet[],
): LookupResult<Subnet> {
  const [found, ...more] = findByReference(reference, subnets);
  if (!found)
    return createSettingProblem(
      `the network "${network}" has no subnet "${reference}": ${whatIsThere(subnets)}; write the name or ID of one`,
    );
  return more.length > 0
    ? createSettingProblem(
        `several subnets of the network "${network}" are called "${reference}": write the ID of one`,
      )
    : found;
}

async function findSubnet(
  { network, subnet: reference, nodes }: WantedNetwork,
  found: Network,
  looking: Looking,
): Promise<LookupResult<Subnet>> {
  const subnets = await subnetsOf(found, looking);
  if ("problem" in subnets) return subnets;
  if (reference === undefined)
    return (
      subnets.all.find(({ range }) => range === nodes) ??
      createSettingProblem(
        `no subnet of the network "${network}" has the range of network.nodes (${nodes}): ${whatIsThere(subnets.all)}; write the range of one there`,
      )
    );
  const subnet = subnetCalled(reference, network, subnets.all);
  return "problem" in subnet || subnet.range === nodes
    ? subnet
    : createSettingProblem(
        `the subnet "${reference}" has the range ${subnet.range}, not that of network.nodes (${nodes}); write ${subnet.range} there`,
      );
}

/**
 * Returns the subnet with this name or ID. If `wanted` is undefined, returns the network's only
 * subnet.
 */
function subnetOrOnly(
  wanted: string | undefined,
  network: string,
  subnets: readonly Subnet[],
): LookupResult<Subnet> {
  if (wanted !== undefined) return subnetCalled(wanted, network, subnets);
  const [only, ...more] = subnets;
  return only && more.length === 0
    ? only
    : createSettingProblem(
        `the network "${network}" has not one IPv4 subnet: ${whatIsThere(subnets)}; write network.admin.subnet, or another network`,
      );
}

/**
 * Finds the network of the second interfaces and its subnet. Returns the first problem if the
 * network or the subnet is missing or unsuitable.
 */
export async function findAdminNetwork(
  { network: reference, subnet: wanted, apart }: WantedAdminNetwork,
  looking: Looking,
): Promise<LookupResult<FoundAdminNetwork>> {
  const network = await findFirstMatch("network", reference, networkLookups(reference, looking));
  if ("problem" in network) return network;
  const subnets = await subnetsOf(network, looking);
  if ("problem" in subnets) return subnets;
  const subnet = subnetOrOnly(wanted, reference, subnets.all);
  if ("problem" in subnet) return subnet;
  const { id, range, gateway } = subnet;
  const [near] = Object.entries(apart).filter(([, other]) => rangesOverlap(range, other));
  if (near)
    return createSettingProblem(
      `the subnet "${subnet.name || id}" of network.admin has the range ${range}, which overlaps network.${near[0]} (${near[1]}); write another one`,
    );
  const facts = { networkId: network.id, subnetId: id, range, mtu: network.mtu };
  return gateway === "" ? facts : { ...facts, gateway };
}

/**
 * Finds the router. Returns a problem if the router has no interface in the network, or if it is
 * connected to another external network.
 */
async function findRouter(
  reference: string,
  { networkId, subnet }: { readonly networkId: string; readonly subnet: Subnet },
  { outside, opts }: Looking,
): Promise<LookupResult<Router>> {
  const findRouters = async (
    by: openstack.networking.GetRouterArgs,
  ): Promise<readonly Router[]> => {
    const { id, externalNetworkId, externalFixedIps } = await openstack.networking.getRouter(
      by,
      opts,
    );
    const addresses = externalFixedIps.map(({ ipAddress }) => ({ ipAddress }));
    return [{ id, outside: externalNetworkId, addresses }];
  };
  const lookups = orderLookups(reference, {
    byId: () => findRouters({ routerId: reference }),
    byName: () => findRouters({ name: reference }),
  });
  const router = await findFirstMatch("router", reference, lookups);
  if ("problem" in router) return router;
  try {
    await openstack.networking.getPort({ networkId, deviceId: router.id }, opts);
  } catch (error) {
    const reason = getCloudErrorReason(error);
    if (noMatchPattern.test(reason))
      return createSettingProblem(
        `the router "${reference}" has no interface in the network of the subnet "${subnet.name || subnet.id}"; add one, or write the router that has one`,
      );
    if (!severalMatchesPattern.test(reason)) return { problem: reason, named: false };
  }
  const external = await outside;
  if (!external || "problem" in external || external.id === router.outside) return router;
  return createSettingProblem(
    router.outside === ""
      ? `the router "${reference}" leads to no external network; give it a gateway in externalNetwork (${external.id})`
      : `the router "${reference}" leads to the external network ${router.outside}, not to externalNetwork (${external.id}); write the one that it leads to`,
  );
}
