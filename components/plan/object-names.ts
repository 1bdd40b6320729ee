import type { PlannedMachine } from "./cluster-plan.js";

/** Returns the name of the machines' IPv6 subnet. */
export const ipv6SubnetName = (network: string): string => `${network}-ipv6`;

/** Returns the name of a machine's port in the admin network. */
export const adminPortName = ({ name }: Pick<PlannedMachine, "name">): string => `${name}-admin`;

/**
 * Returns the name of listener, pool and monitor of the ingress load balancer for an entrance, such
 * as `http`.
 */
export const ingressPartName = (ingress: string, entrance: string): string =>
  `${ingress}-${entrance}`;
