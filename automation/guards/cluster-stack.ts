import { clusterType } from "../../components/pulumi/cluster-type.js";
import { ClusterError } from "../pulumi/cluster-error.js";
import type { StackOperation } from "../engine/operation-context.js";
import { isEmptyStack, type StateExport } from "../pulumi/stack-state.js";

/*
 * Refuses stacks that have resources, but no stackadm cluster. Users may run the commands in any
 * Pulumi project, and plain `pulumi` manages such stacks.
 */

/**
 * Returns whether a resource is a cluster, or is inside a cluster. The state need not contain the
 * cluster itself, because the URN contains the types of all parents.
 */
export const isInsideCluster = ({ urn }: { readonly urn: string }): boolean => {
  const [, , types = ""] = urn.split("::");
  return types.split("$").includes(clusterType);
};

/**
 * Returns whether the state has resources, but none of them belongs to a cluster. Providers do not
 * count, because they are created before the cluster. Pure.
 */
export function hasNoCluster(state: StateExport | undefined): boolean {
  if (state === undefined || isEmptyStack(state)) return false;
  const { resources, pending_operations: pending } = state.deployment;
  const all = [...(resources ?? []), ...(pending ?? []).map(({ resource }) => resource)];
  return !all.some(isInsideCluster) && all.some(({ type }) => !type.startsWith("pulumi:"));
}

/**
 * Throws if the stack has resources, but no stackadm cluster. Must run before anything is changed.
 */
export function requireClusterStack(run: StackOperation, state: StateExport | undefined): void {
  if (!hasNoCluster(state)) return;
  throw new ClusterError(
    "INVALID_CONFIG",
    `Stack '${run.stack}' of project '${run.project}' has resources, but no stackadm cluster. Nothing was changed.`,
    `Name the directory of the cluster's project with --cwd, or its stack with --stack. For this stack, use plain \`pulumi\`.`,
  );
}
