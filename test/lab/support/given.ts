import type { CloudClient } from "../../../cloud/client.js";

interface Given {
  readonly id: string;
  readonly floating_ip_address?: string;
}

/** What a project has before a cluster uses it: a network without a way out, a security group, a floating IP. */
export interface GivenObjects {
  readonly name: string;
  readonly range: string;
  readonly floatingIp: string;
  /** What Neutron says of them, without what every use of them changes. */
  state(): Promise<unknown>;
  remove(): Promise<void>;
}

/** A floating IP that leads somewhere and back is the one that it was. */
const changing =
  /^(revision_number|updated_at|status|port_id|port_details|fixed_ip_address|router_id)$/;

/** Makes them, all of one name. */
export async function givenObjects(cloud: CloudClient, name: string): Promise<GivenObjects> {
  const range = "10.78.0.0/24";
  const ask = async (method: string, path: string, body?: unknown): Promise<never> =>
    (await cloud.request("network", method, path, body)) as never;
  const create = async (path: string, body: object): Promise<Given> => {
    const answer: Readonly<Record<string, Given>> = await ask("POST", path, body);
    const [made] = Object.values(answer);
    if (!made) throw new Error(`${path} answered nothing`);
    return made;
  };
  const { networks } = (await ask("GET", "/networks?name=public")) as { networks: Given[] };
  const external = networks[0]?.id;
  const network = await create("/networks", { network: { name } });
  const subnet = await create("/subnets", {
    subnet: { name, network_id: network.id, cidr: range, ip_version: 4, gateway_ip: null },
  });
  const group = await create("/security-groups", { security_group: { name } });
  const floating = await create("/floatingips", { floatingip: { floating_network_id: external } });
  const paths = [
    `/networks/${network.id}`,
    `/subnets/${subnet.id}`,
    `/security-groups/${group.id}`,
    `/floatingips/${floating.id}`,
  ];
  return {
    name,
    range,
    floatingIp: floating.floating_ip_address ?? "",
    state: async () => {
      const now = await Promise.all(paths.map((path) => ask("GET", path)));
      return JSON.parse(
        JSON.stringify(now, (key, value: unknown) => (changing.test(key) ? null : value)),
      ) as unknown;
    },
    remove: async () => {
      for (const path of [...paths].reverse()) await ask("DELETE", path);
    },
  };
}
