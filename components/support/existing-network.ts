import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { inOrder, meantBy } from "../../cloud/reference.js";
import {
  find,
  misnamed,
  noneFound,
  reasonOf,
  severalFound,
  type Found,
  type Lookup,
  type Thing,
} from "./look-up.js";

/** A network that is there already, each part by name or ID. */
export interface WantedNetwork {
  readonly network: string;
  /** Absent: the one with the range of the machines. */
  readonly subnet?: string | undefined;
  /** Absent: nobody looks whether there is a way out. */
  readonly router?: string | undefined;
  /** The machines' range; the subnet has to have it. */
  readonly nodes: string;
}

export interface FoundNetwork {
  readonly networkId: string;
  readonly subnetId: string;
  readonly routerId?: string;
  /** Bytes. */
  readonly mtu: number;
}

interface Looking {
  /** The external network, which the router has to lead to. */
  readonly outside: Promise<Found> | undefined;
  readonly opts: pulumi.InvokeOptions;
}

interface Network extends Thing {
  readonly mtu: number;
  readonly subnets: readonly string[];
}
interface Subnet {
  readonly id: string;
  readonly name: string;
  readonly range: string;
}
interface Router extends Thing {
  readonly outside: string;
}

/** Neutron's own default, where it does not say. */
const usualMtu = 1500;

/** The network, its subnet and its router, or the first of them that is not as it was written. */
export async function findNetwork(
  wanted: WantedNetwork,
  looking: Looking,
): Promise<Found<FoundNetwork>> {
  const network = await find("network", wanted.network, networkLookups(wanted.network, looking));
  if ("problem" in network) return network;
  const subnet = await findSubnet(wanted, network, looking);
  if ("problem" in subnet) return subnet;
  const found = { networkId: network.id, subnetId: subnet.id, mtu: network.mtu };
  if (wanted.router === undefined) return found;
  const router = await findRouter(wanted.router, { networkId: network.id, subnet }, looking);
  return "problem" in router ? router : { ...found, routerId: router.id };
}

function networkLookups(reference: string, { opts }: Looking): readonly Lookup<Network>[] {
  const look = async (by: openstack.networking.GetNetworkArgs): Promise<readonly Network[]> => {
    const { id, mtu, subnets } = await openstack.networking.getNetwork(by, opts);
    return [{ id, mtu: mtu ?? usualMtu, subnets }];
  };
  return inOrder(reference, {
    byId: () => look({ networkId: reference }),
    byName: () => look({ name: reference }),
  });
}

async function findSubnet(
  { network, subnet: reference, nodes }: WantedNetwork,
  { subnets: ids }: Network,
  { opts }: Looking,
): Promise<Found<Subnet>> {
  let subnets: readonly Subnet[];
  try {
    const all = ids.map((subnetId) => openstack.networking.getSubnet({ subnetId }, opts));
    subnets = (await Promise.all(all))
      .filter(({ ipVersion }) => ipVersion === 4)
      .map(({ id, name, cidr }) => ({ id, name, range: cidr }));
  } catch (error) {
    return { problem: reasonOf(error), named: false };
  }
  const known = subnets.map(({ id, name, range }) => `${name || id} (${range})`).join(", ");
  const there = known === "" ? "it has none" : `it has ${known}`;
  if (reference === undefined)
    return (
      subnets.find(({ range }) => range === nodes) ??
      misnamed(
        `no subnet of the network "${network}" has the range of network.nodes (${nodes}): ${there}; write the range of one there`,
      )
    );
  const [found, ...more] = meantBy(reference, subnets);
  if (!found)
    return misnamed(
      `the network "${network}" has no subnet "${reference}": ${there}; write the name or ID of one`,
    );
  if (more.length > 0)
    return misnamed(
      `several subnets of the network "${network}" are called "${reference}": write the ID of one`,
    );
  return found.range === nodes
    ? found
    : misnamed(
        `the subnet "${reference}" has the range ${found.range}, not that of network.nodes (${nodes}); write ${found.range} there`,
      );
}

/** A router leads from the subnet to the external network, or it is of no use. */
async function findRouter(
  reference: string,
  { networkId, subnet }: { readonly networkId: string; readonly subnet: Subnet },
  { outside, opts }: Looking,
): Promise<Found<Router>> {
  const look = async (by: openstack.networking.GetRouterArgs): Promise<readonly Router[]> => {
    const { id, externalNetworkId } = await openstack.networking.getRouter(by, opts);
    return [{ id, outside: externalNetworkId }];
  };
  const lookups = inOrder(reference, {
    byId: () => look({ routerId: reference }),
    byName: () => look({ name: reference }),
  });
  const router = await find("router", reference, lookups);
  if ("problem" in router) return router;
  try {
    await openstack.networking.getPort({ networkId, deviceId: router.id }, opts);
  } catch (error) {
    const reason = reasonOf(error);
    if (noneFound.test(reason))
      return misnamed(
        `the router "${reference}" has no interface in the network of the subnet "${subnet.name || subnet.id}"; add one, or write the router that has one`,
      );
    if (!severalFound.test(reason)) return { problem: reason, named: false };
  }
  const external = await outside;
  if (!external || "problem" in external || external.id === router.outside) return router;
  return misnamed(
    router.outside === ""
      ? `the router "${reference}" leads to no external network; give it a gateway in externalNetwork (${external.id})`
      : `the router "${reference}" leads to the external network ${router.outside}, not to externalNetwork (${external.id}); write the one that it leads to`,
  );
}
