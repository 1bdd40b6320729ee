import type { CloudObject } from "./inventory.js";
import { isRouterInterface } from "./routers.js";

/**
 * Ports that somebody put into these networks: neither Neutron's own nor a load balancer's, which go by themselves, nor one of ours, or of
 * what is ours. Neutron deletes no subnet in which there is one.
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

/** The same in the networks of what is to go, before anything of it does. */
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

/** For whoever has to delete them. */
export const listed = (objects: readonly CloudObject[]): string =>
  objects.map(({ kind, name, id }) => `${kind} '${name}' (${id})`).join(", ");
