import type { CloudObject } from "./inventory.js";
import { isRouterInterface } from "./router-interfaces.js";

/**
 * Returns the ports in these networks that another user created. Neutron does not delete a subnet
 * that contains such a port. Leaves out three groups of ports: ports in `ours`, ports that Neutron
 * created, and ports of load balancers. A load balancer's ports are deleted together with the load
 * balancer.
 */
export const findForeignPorts = (
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

/**
 * Returns the ports of other users that block the deletion of the objects in `going`. Looks for the
 * ports in the networks and subnets in `going`.
 */
export function findBlockingForeignPorts(
  going: readonly CloudObject[],
  objects: readonly CloudObject[],
  owned: ReadonlySet<string> = new Set(),
): CloudObject[] {
  const networks = going.flatMap(({ kind, id, network }) =>
    kind === "network" ? [id] : kind === "subnet" ? [network] : [],
  );
  return findForeignPorts(
    new Set(networks),
    objects,
    new Set([...owned, ...going.map(({ id }) => id)]),
  );
}

/** Returns a list of the objects for a message to the user, who must delete them. */
export const describeObjects = (objects: readonly CloudObject[]): string =>
  objects.map(({ kind, name, id }) => `${kind} '${name}' (${id})`).join(", ");
