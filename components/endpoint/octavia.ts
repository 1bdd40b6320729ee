import type * as pulumi from "@pulumi/pulumi";
import type { ClusterMarkInput } from "../identity/cluster-mark.js";
import type { Operator } from "../support/operator.js";
import { clearFailed } from "./failed-balancer.js";

/**
 * Health checks in seconds. A member is out after three failed checks, and in again after a good
 * one.
 */
export const monitoring = { delay: 5, timeout: 4, maxRetries: 1, maxRetriesDown: 3 };
/**
 * Time limits: Octavia applies one change of a load balancer at a time. By its documentation,
 * amphorae take minutes to boot; the program was never run with amphorae.
 */
export const customTimeouts = { create: "15m", update: "15m", delete: "15m" };

/** Returns the flavor and the zone of a load balancer. Changing one creates it again. */
export const placed = ({
  flavorId,
  zone,
}: {
  readonly flavorId?: string | undefined;
  readonly zone?: string | undefined;
}): { readonly flavorId?: string; readonly availabilityZone?: string } => ({
  ...(flavorId !== undefined && { flavorId }),
  ...(zone !== undefined && { availabilityZone: zone }),
});

/** Returns the options of a load balancer with that name. */
export const balancerOptions = (
  mark: ClusterMarkInput,
  name: string,
  operator: Operator | undefined,
): pulumi.CustomResourceOptions => ({
  // Two load balancers cannot have the same address, and a failed one is found by its name.
  deleteBeforeReplace: true,
  customTimeouts,
  hooks: { onError: operator ? [clearFailed(mark, name, operator)] : [] },
});
