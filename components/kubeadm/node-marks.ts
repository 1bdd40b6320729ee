import { taintText, type PlannedGroup } from "../plan/cluster-plan.js";

const joined = (parts: readonly string[]): string =>
  parts.length === 0 ? "-" : [...parts].sort().join(",");

/**
 * What scripts/keep-marks.sh keeps on the nodes: for each group a line with the beginning of its machines' names, labels and
 * taints. By group, so that a machine more changes nothing; empty where no group has any.
 */
export const nodeMarks = (
  groups: readonly Pick<PlannedGroup, "name" | "labels" | "taints">[],
): string =>
  groups
    .filter(({ labels, taints }) => Object.keys(labels).length + taints.length > 0)
    .map(({ name, labels, taints }) => {
      const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
      return `${name} ${joined(pairs)} ${joined(taints.map(taintText))}`;
    })
    .join("\n");
