import type { CloudClient } from "../../../cloud/client.js";
import { NeutronObjects } from "./neutron.js";

/** A network with a way out that stands beside a cluster. */
export interface NetworkBeside {
  readonly name: string;
  readonly range: string;
  /** What Neutron says of it, without what every use of it changes. */
  state(): Promise<unknown>;
  remove(): Promise<void>;
}

/** A port that comes or goes counts as a change. */
const changing = /^(revision_number|updated_at)$/;

/** Makes a network, a subnet and a router, all of one name. */
export async function networkBeside(cloud: CloudClient, name: string): Promise<NetworkBeside> {
  const range = "10.77.0.0/24";
  const neutron = new NeutronObjects(cloud);
  const network = await neutron.create("/networks", "network", { name });
  const within = { name, network_id: network.id, cidr: range, ip_version: 4 };
  const subnet = await neutron.create("/subnets", "subnet", within);
  const router = await neutron.create("/routers", "router", {
    name,
    external_gateway_info: { network_id: await neutron.external() },
  });
  const ofRouter = (act: "add" | "remove"): Promise<unknown> =>
    neutron.ask("PUT", `/routers/${router.id}/${act}_router_interface`, { subnet_id: subnet.id });
  await ofRouter("add");
  const paths = [`/networks/${network.id}`, `/subnets/${subnet.id}`, `/routers/${router.id}`];
  return {
    name,
    range,
    state: () => neutron.state(paths, changing),
    remove: async () => {
      await ofRouter("remove");
      await neutron.remove(paths);
    },
  };
}
