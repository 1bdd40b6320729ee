import type { CloudObject } from "./inventory.js";
import { isRouterInterface } from "./router-interfaces.js";

/**
 * Returns the ports in these networks that another user created. Leaves out ports of Neutron, ports
 * of load balancers, which are deleted with the load balancers, and ports in `ours`. Neutron does
 * not delete a subnet that contains such a port.
 */
export const foreignPortsIn = (
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
 * Returns the ports of other users in networks of which the network or a subnet is about to be
 * deleted.
 */
export function foreignPortsBlocking(
  going: readonly CloudObject[],
  objects: readonly CloudObject[],
  owned: ReadonlySet<string> = new Set(),
): CloudObject[] {
  const networks = going.flatMap(({ kind, id, network }) =>
    kind === "network" ? [id] : kind === "subnet" ? [network] : [],
  );
  return foreignPortsIn(
    new Set(networks),
    objects,
    new Set([...owned, ...going.map(({ id }) => id)]),
  );
}

/** Returns the objects as text for the user, who must delete the objects. */
export const describeObjects = (objects: readonly CloudObject[]): string =>
  objects.map(({ kind, name, id }) => `${kind} '${name}' (${id})`).join(", ");
