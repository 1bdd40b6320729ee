import { readClustersInState } from "../engine/kubernetes-providers.js";
import { moveEarlierKubeconfig, removeClusterFiles } from "../engine/local-cluster-files.js";
import type { ForeignCredentialFacts } from "../guards/foreign-credentials.js";
import { isEmptyStack, type StateExport } from "../pulumi/stack-state.js";
import type { OperationFacts, OperationStep } from "../steps/step.js";

/** Returns whether the state contained any resource at the beginning of the operation. */
export const hadResources = ({ initial }: OperationFacts): boolean => !isEmptyStack(initial);

export const hadNoResources = (facts: OperationFacts): boolean => !hadResources(facts);

/**
 * Starts the engine's process and the sign-in to the cloud early, to save time while the state is
 * read. A destroy runs no program, so the process loads no program.
 */
export function prestartEngineWithoutProgram({ run }: OperationFacts): void {
  run.prestart({ program: false });
}

/** Deletes a stack without resources, if it exists. */
export const deleteEmptyStack: OperationStep<OperationFacts, never, StateExport> = {
  title: "Delete the empty stack",
  detect: ({ state }) => state,
  apply: async ({ run }) => {
    await run.runEngine("destroy");
  },
};

/**
 * Moves an earlier release's kubeconfig file to the present path. Runs before the destroy, because
 * the file is compared with the clusters' Kubernetes providers in the state.
 */
export const moveKubeconfigOfEarlierRelease: OperationStep = {
  title: "Move the kubeconfig of an earlier release",
  silent: true,
  apply: ({ run: { access } }) =>
    moveEarlierKubeconfig(access.workspace, () => readClustersInState(access)),
};

export const deleteResources: OperationStep<ForeignCredentialFacts> = {
  title: "Destroy the cluster's resources",
  expectedSeconds: 90,
  apply: async ({ run, flags }) => {
    await run.runEngine("destroy", flags);
  },
};

export const removeLocalFiles: OperationStep = {
  title: "Remove the cluster's local files",
  silent: true,
  apply: ({ run: { access } }) => {
    removeClusterFiles(access.workspace);
  },
};
