import type { CloudClient } from "../../../cloud/client.js";

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
  const ask = async (method: string, path: string, body?: unknown): Promise<never> =>
    (await cloud.request("network", method, path, body)) as never;
  const idOf = (answer: Readonly<Record<string, { readonly id: string }>>): string =>
    Object.values(answer)[0]?.id ?? "";
  const create = async (path: string, body: object): Promise<string> =>
    idOf(await ask("POST", path, body));
  const { networks } = (await ask("GET", "/networks?name=public")) as {
    networks: readonly { readonly id: string }[];
  };
  const network = await create("/networks", { network: { name } });
  const subnet = await create("/subnets", {
    subnet: { name, network_id: network, cidr: range, ip_version: 4 },
  });
  const router = await create("/routers", {
    router: { name, external_gateway_info: { network_id: networks[0]?.id } },
  });
  await ask("PUT", `/routers/${router}/add_router_interface`, { subnet_id: subnet });
  const paths = [`/networks/${network}`, `/subnets/${subnet}`, `/routers/${router}`];
  return {
    name,
    range,
    state: async () => {
      const now = await Promise.all(paths.map((path) => ask("GET", path)));
      return JSON.parse(
        JSON.stringify(now, (key, value: unknown) => (changing.test(key) ? null : value)),
      ) as unknown;
    },
    remove: async () => {
      await ask("PUT", `/routers/${router}/remove_router_interface`, { subnet_id: subnet });
      for (const path of [...paths].reverse()) await ask("DELETE", path);
    },
  };
}
