import type { z } from "zod";
import { secondsOf } from "./flags/decision.js";

type Fields = Readonly<Record<string, unknown>>;

interface Written {
  readonly timeoutFactor: number;
  readonly kubernetes: {
    readonly kubelet: Fields;
    readonly controllerManager: { readonly extraArgs: Fields };
  };
}

/** Defaults in seconds. `timeoutFactor` multiplies them (components/kubeadm/hardening.ts). */
const usual = { lease: 40, grace: 50 };

/**
 * Reports a lease of nodes that is too long for the time after which a node counts as lost, or a
 * time that is too short for the lease. kubelet renews its lease after a quarter of the duration.
 * Two renewals must fit into the time: otherwise each delayed renewal moves all pods of the node.
 */
export function findNodeLeaseConflicts({
  kubernetes: { kubelet, controllerManager },
  timeoutFactor,
}: Written): z.core.$ZodRawIssue[] {
  const field = "nodeLeaseDurationSeconds";
  const flag = "node-monitor-grace-period";
  const { [field]: lease } = kubelet;
  const { [flag]: grace } = controllerManager.extraArgs;
  const least = (Number(lease ?? usual.lease * timeoutFactor) / 4) * 2;
  const given = grace === undefined ? usual.grace * timeoutFactor : secondsOf(grace);
  if (given === undefined || !(least > given)) return [];
  return grace === undefined
    ? [
        {
          code: "custom",
          path: ["kubernetes", "kubelet", field],
          input: lease,
          message: `${String(lease)} is too long: kubelet renews the lease after a quarter of it, and a node counts as lost after ${String(given)} s; write at most ${String(given * 2)}`,
        },
      ]
    : [
        {
          code: "custom",
          path: ["kubernetes", "controllerManager", "extraArgs", flag],
          input: grace,
          message: `${String(given)} s is too short: kubelet renews the lease of its node every ${String(least / 2)} s; write at least ${String(least)}s`,
        },
      ];
}
