import { clusterType } from "../../components/support/cluster-type.js";
import { ClusterError } from "./cluster-error.js";
import type { Run } from "./run.js";
import { holdsNothing, type StateExport } from "./state.js";

/*
 * The commands work in any project of Pulumi, so also in one that has nothing to do with stackadm: its stacks are left to Pulumi.
 */

/** A URN tells the types of everything around a resource: one of a cluster proves the cluster also where its own record is gone. */
const isOfCluster = ({ urn }: { readonly urn: string }): boolean => {
  const [, , types = ""] = urn.split("::");
  return types.split("$").includes(clusterType);
};

/** Whether the state holds resources, and none of them is a cluster or of one. Providers are nobody's: they come before the cluster. Pure. */
export function isForeign(state: StateExport | undefined): boolean {
  if (state === undefined || holdsNothing(state)) return false;
  const { resources, pending_operations: pending } = state.deployment;
  const all = [...(resources ?? []), ...(pending ?? []).map(({ resource }) => resource)];
  return !all.some(isOfCluster) && all.some(({ type }) => !type.startsWith("pulumi:"));
}

/** Refuses a stack that is not one of clusters, before anything of it is touched. */
export function requireOurs(run: Run, state: StateExport | undefined): void {
  if (!isForeign(state)) return;
  throw new ClusterError(
    "INVALID_CONFIG",
    `Stack '${run.stack}' of project '${run.project}' holds resources, and no cluster of stackadm is among them. Nothing was changed.`,
    `Name the directory of the cluster's project by --cwd, or its stack by --stack; on this stack work with \`pulumi\` itself.`,
  );
}
