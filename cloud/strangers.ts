import type { CloudObject } from "./inventory.js";
import { isRouterInterface } from "./routers.js";

/**
 * Returns the ports in these networks that another user created: neither by Neutron nor for a load
 * balancer, whose ports are deleted with them, nor by this program. Neutron does not delete a
 * subnet with such a port.
 */
export const strangersIn = (
  networks: ReadonlySet<string>,
  objects: readonly CloudObject[],
  ours: ReadonlySet<string>,
): CloudObject[] =>
  objects.filter(
    ({ kind, id, name, owner, device, network }) =>
      kind === "port" &&
      networks.has(network) &&
      !ours.has(id) &&
      !ours.has(device) &&
      (owner === "" || owner.startsWith("compute:") || isRouterInterface(owner)) &&
      !name.startsWith("ovn-lb-"),
  );

/** Returns such ports in the networks that are about to be deleted. */
export function strangersBefore(
  going: readonly CloudObject[],
  objects: readonly CloudObject[],
  owned: ReadonlySet<string> = new Set(),
): CloudObject[] {
  const networks = going.flatMap(({ kind, id, network }) =>
    kind === "network" ? [id] : kind === "subnet" ? [network] : [],
  );
  return strangersIn(new Set(networks), objects, new Set([...owned, ...going.map(({ id }) => id)]));
}

/** Returns the objects as text for the user who has to delete them. */
export const listed = (objects: readonly CloudObject[]): string =>
  objects.map(({ kind, name, id }) => `${kind} '${name}' (${id})`).join(", ");
