import type * as pulumi from "@pulumi/pulumi";
import type { ClusterMarkInput } from "../identity/cluster-mark.js";
import type { Operator } from "../support/operator.js";
import { clearFailed } from "./failed-balancer.js";

/** Seconds. A member is out after three questions without an answer, and in again with the first one. */
export const monitoring = { delay: 5, timeout: 4, maxRetries: 1, maxRetriesDown: 3 };
/** Octavia takes one change of a load balancer at a time, and amphorae, by Octavia's documentation, take minutes to boot: none was ever run with this program. */
export const customTimeouts = { create: "15m", update: "15m", delete: "15m" };

/** The size and the place that were chosen for a load balancer; another one creates it again. */
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

/** Options of a load balancer of that name. */
export const balancerOptions = (
  mark: ClusterMarkInput,
  name: string,
  operator: Operator | undefined,
): pulumi.CustomResourceOptions => ({
  // Two cannot have the same address, and what failed is found by its name.
  deleteBeforeReplace: true,
  customTimeouts,
  hooks: { onError: operator ? [clearFailed(mark, name, operator)] : [] },
});
