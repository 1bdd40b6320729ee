import type * as pulumi from "@pulumi/pulumi";
import type { ClusterMarkInput } from "../identity/resource-tags.js";
import { creationTimeoutMinutes, formatMinutes } from "../lifecycle/create-timeouts.js";
import type { LocalContext } from "../lookup/local-context.js";
import { resolvePlaceholders } from "../pulumi/placeholders.js";
import { createLoadBalancerErrorHook } from "./delete-failed-load-balancers.js";

/**
 * Options of health monitors, with times in seconds. After three failed checks, a member gets no
 * connections. After one successful check, the member gets connections again.
 */
export const healthMonitorOptions = { delay: 5, timeout: 4, maxRetries: 1, maxRetriesDown: 3 };
const timeout = formatMinutes(creationTimeoutMinutes.loadBalancer);
/**
 * Timeouts of a load balancer and its parts. The timeouts are long, because Octavia applies only
 * one change of a load balancer at a time. According to Octavia's documentation, amphorae take
 * minutes to boot. The program was never run with amphorae.
 */
export const loadBalancerTimeouts = { create: timeout, update: timeout, delete: timeout };

/**
 * Returns the flavor and the availability zone of a load balancer. A change of either one replaces
 * the load balancer.
 */
export const getFlavorAndZone = ({
  flavorId,
  zone,
}: {
  readonly flavorId?: string | undefined;
  readonly zone?: string | undefined;
}): { readonly flavorId?: pulumi.Input<string>; readonly availabilityZone?: string } => ({
  ...(flavorId !== undefined && { flavorId: resolvePlaceholders(flavorId) }),
  ...(zone !== undefined && { availabilityZone: zone }),
});

/** Returns the resource options of a load balancer. */
export const getLoadBalancerOptions = (
  mark: ClusterMarkInput,
  name: string,
  operator: LocalContext | undefined,
): pulumi.CustomResourceOptions => ({
  // Two load balancers cannot have the same address, so the old load balancer is deleted first. The
  // name is then also unique. `createLoadBalancerErrorHook` finds a failed load balancer by its
  // name.
  deleteBeforeReplace: true,
  customTimeouts: loadBalancerTimeouts,
  hooks: { onError: operator ? [createLoadBalancerErrorHook(mark, name, operator)] : [] },
});
