import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import {
  deletionTimeouts,
  wasAlreadyGone,
  retryWhileInUse,
  type DeleteOptions,
} from "./wait-until-unused.js";
import { addUtcZone } from "./inventory.js";
import { listAll } from "../client/paginate.js";

/**
 * Values of `device_owner` of the ports that connect a router to a subnet. Plain, distributed and
 * highly available routers have different values.
 */
const interfaceOwners: ReadonlySet<string> = new Set([
  "network:router_interface",
  "network:router_interface_distributed",
  "network:ha_router_replicated_interface",
]);

/**
 * Returns whether a `device_owner` belongs to a router's interface. Neutron itself creates and
 * deletes a router's other ports: the gateway port, and the SNAT ports of a distributed router.
 */
export const isRouterInterface = (owner: string): boolean => interfaceOwners.has(owner);

const portSchema = z.looseObject({
  id: z.string(),
  device_owner: z.string(),
  created_at: z.string().nullish(),
});

/**
 * Returns the IDs and creation times of the ports that connect a router to `subnet`. Without
 * `subnet`, returns the ports for all subnets.
 */
export async function listRouterInterfacePorts(
  client: CloudClient,
  router: string,
  subnet?: string,
): Promise<{ readonly id: string; readonly created: string }[]> {
  const inside = subnet === undefined ? "" : `&fixed_ips=subnet_id%3D${subnet}`;
  const path = `/ports?device_id=${router}${inside}`;
  const ports = await listAll(client, "network", path, { key: "ports", schema: portSchema });
  return ports
    .filter(({ device_owner: owner }) => isRouterInterface(owner))
    .map(({ id, created_at: created }) => ({ id, created: addUtcZone(created ?? "") }));
}

/** Removes a router's interface. Retries while a floating IP uses the interface. */
export const removeRouterInterface = (
  client: CloudClient,
  { router, port }: { readonly router: string; readonly port: string },
  options: DeleteOptions,
): Promise<boolean> =>
  retryWhileInUse(
    () =>
      wasAlreadyGone(
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
 * Deletes a router's routes, for example routes of a cloud controller. Neutron refuses to remove an
 * interface while a route uses it. A Neutron without the extension `extraroute` returns no routes.
 */
async function clearRoutes(client: CloudClient, id: string): Promise<void> {
  const path = `/routers/${id}`;
  const { router } = routerSchema.parse(await client.request("network", "GET", path));
  if (router.routes.length === 0) return;
  await client.request("network", "PUT", path, { router: { routes: [] } });
}

/**
 * Removes a router's routes and interfaces. Neutron does not delete a router that has interfaces.
 */
export async function removeRoutesAndInterfaces(
  client: CloudClient,
  router: string,
  options: DeleteOptions,
): Promise<void> {
  await wasAlreadyGone(clearRoutes(client, router));
  for (const { id } of await listRouterInterfacePorts(client, router))
    await removeRouterInterface(client, { router, port: id }, options);
}
