import { taintText, type PlannedGroup } from "../plan/cluster-plan.js";

const joined = (parts: readonly string[]): string =>
  parts.length === 0 ? "-" : [...parts].sort().join(",");

/**
 * Returns the labels and taints for scripts/install-labels-and-taints.sh, which sets them on nodes:
 * a line `NAME-PREFIX LABELS TAINTS` for each group of machines. A further machine in a group
 * changes nothing. Returns "" if no group has labels or taints.
 */
export const labelsAndTaintsText = (
  groups: readonly Pick<PlannedGroup, "name" | "labels" | "taints">[],
): string =>
  groups
    .filter(({ labels, taints }) => Object.keys(labels).length + taints.length > 0)
    .map(({ name, labels, taints }) => {
      const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
      return `${name} ${joined(pairs)} ${joined(taints.map(taintText))}`;
    })
    .join("\n");
