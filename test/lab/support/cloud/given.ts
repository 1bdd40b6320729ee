import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import { NeutronObjects } from "./neutron.js";

/**
 * Existing objects that a cluster can use: a network without a router, a security group, and
 * floating IPs.
 */
export interface ExistingObjects {
  readonly name: string;
  readonly range: string;
  readonly floatingIp: string;
  /** Second floating IP, for a Service. */
  readonly serviceFloatingIp: string;
  /** Returns the objects as Neutron describes them, without fields that change with every use. */
  state(): Promise<unknown>;
  remove(): Promise<void>;
}

/**
 * Fields of Neutron objects that are ignored. A floating IP counts as unchanged even if it was
 * associated in the meantime.
 */
const changing =
  /^(revision_number|updated_at|status|port_id|port_details|fixed_ip_address|router_id)$/;

/** Creates the objects, all with the same name. */
export async function givenObjects(cloud: CloudClient, name: string): Promise<ExistingObjects> {
  const range = "10.78.0.0/24";
  const neutron = new NeutronObjects(cloud);
  const network = await neutron.create("/networks", "network", { name });
  const within = { name, network_id: network.id, cidr: range, ip_version: 4, gateway_ip: null };
  const subnet = await neutron.create("/subnets", "subnet", within);
  const group = await neutron.create("/security-groups", "security_group", { name });
  const outside = { floating_network_id: await neutron.external() };
  const newFloatingIp = () =>
    neutron.create<{ id: string; floating_ip_address: string }>(
      "/floatingips",
      "floatingip",
      outside,
    );
  const [floating, ofService] = [await newFloatingIp(), await newFloatingIp()];
  const paths = [
    `/networks/${network.id}`,
    `/subnets/${subnet.id}`,
    `/security-groups/${group.id}`,
    `/floatingips/${floating.id}`,
    `/floatingips/${ofService.id}`,
  ];
  return {
    name,
    range,
    floatingIp: floating.floating_ip_address,
    serviceFloatingIp: ofService.floating_ip_address,
    state: () => neutron.state(paths, changing),
    remove: () => neutron.remove(paths),
  };
}
