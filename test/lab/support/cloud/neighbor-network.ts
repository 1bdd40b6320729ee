import { run } from "../../../../base/run-command.js";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import { NeutronObjects } from "./neutron.js";

/**
 * Network with a router. It is not part of a cluster, but connected to the same external network.
 */
export interface NeighborNetwork {
  readonly name: string;
  readonly range: string;
  /** Address of the network's router in the external network. */
  readonly gateway: string;
  /** Returns the network as Neutron describes it, without fields that change with every use. */
  state(): Promise<unknown>;
  remove(): Promise<void>;
}

/** Fields of Neutron objects that are ignored. An added or deleted port counts as a change. */
const changing = /^(revision_number|updated_at)$/;

interface Router {
  readonly id: string;
  readonly external_gateway_info: {
    readonly external_fixed_ips: readonly { readonly ip_address: string }[];
  };
}

/**
 * Creates a network, a subnet and a router with the same name. If `shared` is true, all projects
 * can use the network.
 */
export async function createNeighborNetwork(
  cloud: CloudClient,
  name: string,
  { range = "10.77.0.0/24", shared = false } = {},
): Promise<NeighborNetwork> {
  const neutron = new NeutronObjects(cloud);
  const network = await neutron.create("/networks", "network", { name, ...(shared && { shared }) });
  const within = { name, network_id: network.id, cidr: range, ip_version: 4 };
  const subnet = await neutron.create("/subnets", "subnet", within);
  const router = await neutron.create<Router>("/routers", "router", {
    name,
    external_gateway_info: { network_id: await neutron.external() },
  });
  const ofRouter = (act: "add" | "remove"): Promise<unknown> =>
    neutron.ask("PUT", `/routers/${router.id}/${act}_router_interface`, { subnet_id: subnet.id });
  await ofRouter("add");
  const paths = [`/networks/${network.id}`, `/subnets/${subnet.id}`, `/routers/${router.id}`];
  const [outside] = router.external_gateway_info.external_fixed_ips;
  return {
    name,
    range,
    gateway: outside?.ip_address ?? "",
    state: () => neutron.state(paths, changing),
    remove: async () => {
      await ofRouter("remove");
      await neutron.remove(paths);
    },
  };
}

/**
 * Adds a route from this machine to the addresses of the network. Returns a function that removes
 * the route.
 */
export async function routeTo({
  range,
  gateway,
}: Pick<NeighborNetwork, "range" | "gateway">): Promise<() => Promise<void>> {
  await run("ip", ["route", "replace", range, "via", gateway]);
  return async () => {
    await run("ip", ["route", "del", range, "via", gateway]);
  };
}
