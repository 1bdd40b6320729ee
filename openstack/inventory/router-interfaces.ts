import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import {
  deletionTimeouts,
  wasGone,
  retryWhileInUse,
  type DeleteOptions,
} from "./wait-until-unused.js";
import { inUtc } from "./inventory.js";
import { listAll } from "../client/paginate.js";

/**
 * Device owners of the ports by which a router is connected to a subnet: in a plain, a distributed
 * and a highly available router.
 */
const interfaceOwners: ReadonlySet<string> = new Set([
  "network:router_interface",
  "network:router_interface_distributed",
  "network:ha_router_replicated_interface",
]);

/**
 * Returns whether a port with this device owner is a router's interface. Neutron creates and
 * deletes a router's other ports (gateway, SNAT address of a distributed router) together with the
 * interfaces.
 */
export const isRouterInterface = (owner: string): boolean => interfaceOwners.has(owner);

const portSchema = z.looseObject({
  id: z.string(),
  device_owner: z.string(),
  created_at: z.string().nullish(),
});

/**
 * Returns the IDs and creation times of the ports by which a router is connected to `subnet`, or to
 * all subnets without `subnet`.
 */
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

/** Removes a router's interface. Waits while a floating IP uses the interface. */
export const removeInterface = (
  client: CloudClient,
  { router, port }: { readonly router: string; readonly port: string },
  options: DeleteOptions,
): Promise<boolean> =>
  retryWhileInUse(
    () =>
      wasGone(
        client.request("network", "PUT", `/routers/${router}/remove_router_interface`, {
          port_id: port,
        }),
      ),
    { what: `interface ${port} of the router ${router}`, bound: deletionTimeouts.other },
    options,
  );

const routerSchema = z.object({
  router: z.looseObject({ routes: z.array(z.unknown()).default([]) }),
});

/**
 * Deletes a router's routes. Neutron refuses to remove an interface while a route, for example of a
 * cloud controller, uses it. A Neutron without the extraroute extension shows no routes.
 */
async function clearRoutes(client: CloudClient, id: string): Promise<void> {
  const path = `/routers/${id}`;
  const { router } = routerSchema.parse(await client.request("network", "GET", path));
  if (router.routes.length === 0) return;
  await client.request("network", "PUT", path, { router: { routes: [] } });
}

/** Removes a router's routes and interfaces, with which Neutron refuses to delete the router. */
export async function removeRoutesAndInterfaces(
  client: CloudClient,
  router: string,
  options: DeleteOptions,
): Promise<void> {
  await wasGone(clearRoutes(client, router));
  for (const { id } of await interfacesOf(client, router))
    await removeInterface(client, { router, port: id }, options);
}
