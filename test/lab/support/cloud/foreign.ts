import type { CloudClient } from "../../../../openstack/client/cloud-client.js";

interface Named {
  readonly id: string;
}

/** Objects of another owner in the same project. No cluster operation may change these objects. */
export interface ForeignObjects {
  /** State of the objects after their creation. */
  readonly initial: unknown;
  /** Returns the current state of the objects. Throws if an object is missing. */
  state(): Promise<unknown>;
  remove(): Promise<void>;
}

async function create(
  cloud: CloudClient,
  service: "network" | "compute",
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Named> {
  const answer = (await cloud.request(service, "POST", path, body)) as Record<string, Named>;
  const [made] = Object.values(answer);
  if (!made) throw new Error(`${path} answered nothing`);
  return made;
}

async function idOf(
  cloud: CloudClient,
  service: "compute" | "image",
  path: string,
  name: string,
): Promise<string> {
  const answer = (await cloud.request(service, "GET", path)) as Record<
    string,
    (Named & { name: string })[]
  >;
  const found = (Object.values(answer)[0] ?? []).find((item) => item.name === name);
  if (!found) throw new Error(`the lab has no ${name}`);
  return found.id;
}

/**
 * Creates a network with a subnet, a security group and a server. Their names begin like the names
 * of a cluster's objects, so that an imprecise deletion by name would match them.
 */
export async function foreignObjects(
  cloud: CloudClient,
  prefix = "life-general-foreign",
): Promise<ForeignObjects> {
  const network = await create(cloud, "network", "/networks", { network: { name: prefix } });
  const subnet = await create(cloud, "network", "/subnets", {
    subnet: { name: prefix, network_id: network.id, cidr: "10.77.0.0/24", ip_version: 4 },
  });
  const group = await create(cloud, "network", "/security-groups", {
    security_group: { name: prefix },
  });
  const server = await create(cloud, "compute", "/servers", {
    server: {
      name: prefix,
      imageRef: await idOf(cloud, "image", "/images?name=debian-12", "debian-12"),
      flavorRef: await idOf(cloud, "compute", "/flavors", "small"),
      networks: [{ uuid: network.id }],
    },
  });
  await until(async () => (await serverOf(cloud, server.id)).status === "ACTIVE");
  const state = async (): Promise<unknown> => {
    const { status, name, addresses } = await serverOf(cloud, server.id);
    const groups = await cloud.request("network", "GET", `/security-groups/${group.id}`);
    const networks = await cloud.request("network", "GET", `/networks/${network.id}`);
    return { status, name, addresses, groups, networks };
  };
  return {
    initial: await state(),
    state,
    remove: async () => {
      await cloud.request("compute", "DELETE", `/servers/${server.id}`);
      const servers = async (): Promise<string> =>
        JSON.stringify(await cloud.request("compute", "GET", `/servers?name=${prefix}`));
      await until(async () => !(await servers()).includes(server.id));
      await cloud.request("network", "DELETE", `/subnets/${subnet.id}`);
      await cloud.request("network", "DELETE", `/networks/${network.id}`);
      await cloud.request("network", "DELETE", `/security-groups/${group.id}`);
    },
  };
}

interface Server {
  readonly status: string;
  readonly name: string;
  readonly addresses: unknown;
}

async function serverOf(cloud: CloudClient, id: string): Promise<Server> {
  const answer = (await cloud.request("compute", "GET", `/servers/${id}`)) as { server: Server };
  if (answer.server.status === "ERROR") throw new Error(`server ${id} is in ERROR`);
  return answer.server;
}

/**
 * Checks a condition twice a second until it is true. Throws if it is not true after `seconds`.
 * @default two minutes at most
 */
export async function until(condition: () => Promise<boolean>, seconds = 120): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > end)
      throw new Error(`not so after ${seconds.toString()} s: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
