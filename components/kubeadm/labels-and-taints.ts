import { formatTaint, type PlannedGroup } from "../plan/cluster-plan.js";

const joined = (parts: readonly string[]): string =>
  parts.length === 0 ? "-" : [...parts].sort().join(",");

/**
 * Returns the labels and taints of nodes for scripts/install-labels-and-taints.sh. Each group of
 * machines is a line `NAME-PREFIX LABELS TAINTS`. The text does not contain single machines, so it
 * is the same after a group gets another machine. Returns "" if no group has labels or taints.
 */
export const renderLabelsAndTaints = (
  groups: readonly Pick<PlannedGroup, "name" | "labels" | "taints">[],
): string =>
  groups
    .filter(({ labels, taints }) => Object.keys(labels).length + taints.length > 0)
    .map(({ name, labels, taints }) => {
      const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
      return `${name} ${joined(pairs)} ${joined(taints.map(formatTaint))}`;
    })
    .join("\n");
