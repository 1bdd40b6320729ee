import type { PlannedMachine } from "./cluster-plan.js";

/** Returns the name of the machines' IPv6 subnet. */
export const getIpv6SubnetName = (network: string): string => `${network}-ipv6`;

/** Returns the name of a machine's port in the admin network. */
export const getAdminPortName = ({ name }: Pick<PlannedMachine, "name">): string => `${name}-admin`;

/**
 * Returns the name of the listener, the pool and the monitor for one port of the ingress load
 * balancer. `entrance` is the name of the port, such as `http`.
 */
export const getIngressPortObjectName = (ingress: string, entrance: string): string =>
  `${ingress}-${entrance}`;
