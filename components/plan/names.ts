import type { PlannedMachine } from "./cluster-plan.js";

/** Name of the machines' subnet of IPv6, in their network. */
export const ipv6SubnetName = (network: string): string => `${network}-ipv6`;

/** Name of a machine's port in the admin network. */
export const adminPortName = ({ name }: Pick<PlannedMachine, "name">): string => `${name}-admin`;

/** Name of what the ingress' load balancer has for one way in. */
export const entranceName = (ingress: string, entrance: string): string => `${ingress}-${entrance}`;
