import { z } from "zod";
import type { CloudClient } from "./client.js";
import { bounds, gone, whileInUse, type DeleteOptions } from "./in-use.js";
import { inUtc } from "./inventory.js";
import { listAll } from "./listing.js";

/** Who holds the port by which a router is in a subnet: a plain one, a distributed one, or one that is on several hosts. */
const interfaceOwners: ReadonlySet<string> = new Set([
  "network:router_interface",
  "network:router_interface_distributed",
  "network:ha_router_replicated_interface",
]);

/** A router's other ports (gateway, address of a distributed router's SNAT) come and go with its interfaces. */
export const isRouterInterface = (owner: string): boolean => interfaceOwners.has(owner);

const portSchema = z.looseObject({
  id: z.string(),
  device_owner: z.string(),
  created_at: z.string().nullish(),
});

/** A router's interfaces, all or those in one subnet: the IDs of their ports, and when these were made. */
export async function interfacesOf(
  client: CloudClient,
  router: string,
  subnet?: string,
): Promise<{ readonly id: string; readonly created: string }[]> {
  const inside = subnet === undefined ? "" : `&fixed_ips=subnet_id%3D${subnet}`;
  const path = `/ports?device_id=${router}${inside}`;
  const ports = await listAll(client, "network", path, { key: "ports", schema: portSchema });
  return ports
    .filter(({ device_owner: owner }) => isRouterInterface(owner))
    .map(({ id, created_at: created }) => ({ id, created: inUtc(created ?? "") }));
}

/** Takes an interface away, as soon as no floating IP goes by it any more. */
export const removeInterface = (
  client: CloudClient,
  { router, port }: { readonly router: string; readonly port: string },
  options: DeleteOptions,
): Promise<boolean> =>
  whileInUse(
    () =>
      gone(
        client.request("network", "PUT", `/routers/${router}/remove_router_interface`, {
          port_id: port,
        }),
      ),
    { what: `interface ${port} of the router ${router}`, bound: bounds.other },
    options,
  );

const routerSchema = z.object({
  router: z.looseObject({ routes: z.array(z.unknown()).default([]) }),
});

/** Over routes that a cloud controller left, an interface cannot go. A Neutron without such routes shows none. */
async function clearRoutes(client: CloudClient, id: string): Promise<void> {
  const path = `/routers/${id}`;
  const { router } = routerSchema.parse(await client.request("network", "GET", path));
  if (router.routes.length === 0) return;
  await client.request("network", "PUT", path, { router: { routes: [] } });
}

/** Takes away what a router holds, and cannot go before. */
export async function emptyRouter(
  client: CloudClient,
  router: string,
  options: DeleteOptions,
): Promise<void> {
  await gone(clearRoutes(client, router));
  for (const { id } of await interfacesOf(client, router))
    await removeInterface(client, { router, port: id }, options);
}
