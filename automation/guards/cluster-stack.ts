import { clusterType } from "../../components/pulumi/cluster-type.js";
import { Failure } from "../../base/failures/failure.js";
import type { OperationFacts } from "../steps/step.js";
import { isEmptyStack, type StateExport } from "../pulumi/stack-state.js";

/*
 * Refuses stacks that have resources, but no stackadm cluster. Users may run the commands in any
 * Pulumi project, and plain `pulumi` manages such stacks.
 */

/**
 * Returns whether a resource is a cluster, or is inside a cluster. The state need not contain the
 * cluster itself, because the URN contains the types of all parents.
 */
export const isInClusterComponent = ({ urn }: { readonly urn: string }): boolean => {
  const [, , types = ""] = urn.split("::");
  return types.split("$").includes(clusterType);
};

/**
 * Returns whether the state has resources, but no resource of a cluster. Providers do not count,
 * because they are created before the cluster. Pure.
 */
export function hasOnlyForeignResources(state: StateExport | undefined): boolean {
  if (state === undefined || isEmptyStack(state)) return false;
  const { resources, pending_operations: pending } = state.deployment;
  const all = [...(resources ?? []), ...(pending ?? []).map(({ resource }) => resource)];
  return !all.some(isInClusterComponent) && all.some(({ type }) => !type.startsWith("pulumi:"));
}

/** Throws, before anything is changed, if the stack has resources, but no stackadm cluster. */
export function requireClusterStack({ run, state }: OperationFacts): void {
  if (!hasOnlyForeignResources(state)) return;
  throw new Failure(
    "INVALID_CONFIG",
    `Stack '${run.stack}' of project '${run.project}' has resources, but no stackadm cluster. Nothing was changed.`,
    `Name the directory of the cluster's project with --cwd, or its stack with --stack. For this stack, use plain \`pulumi\`.`,
  );
}

/**
 * Throws like {@link requireClusterStack} if the package's own program runs, because this program
 * would delete resources that it does not describe. Does not throw if a user's program runs,
 * because that program may add a cluster to its stack.
 */
export function requirePackageProgramStack(facts: OperationFacts): void {
  if (facts.run.service.program === undefined) requireClusterStack(facts);
}
