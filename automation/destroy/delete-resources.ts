import { removeClusterFiles } from "../engine/local-cluster-files.js";
import { addLocations } from "../guards/cloud-location.js";
import type { ForeignCredentialFacts } from "../guards/foreign-credentials.js";
import type { StackOperation } from "../engine/operation-context.js";
import {
  createStateChangedError,
  findIdentityUrns,
  hasOnlyIdentities,
  isEmptyStack,
  readState,
  rewriteState,
  type StateExport,
} from "../pulumi/stack-state.js";
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
 * Deletes all resources except the identities of the clusters. A destroy that is stopped later
 * needs the identities to find the objects that are left, and the location of these objects, which
 * is stored with the identities. Without an identity in the state, deletes all resources and the
 * stack.
 */
export const deleteResources: OperationStep<ForeignCredentialFacts> = {
  title: "Destroy the cluster's resources",
  expectedSeconds: 90,
  apply: async (facts) => {
    const { run, flags } = facts;
    facts.state = await rewriteState(run.access, facts.state, addLocations);
    const exclude = findIdentityUrns(facts.state);
    await run.runEngine("destroy", { ...flags, ...(exclude.length > 0 && { exclude }) });
  },
};

/**
 * Throws if the state contains more than the identities of the clusters. Another operation has then
 * created a cluster after this destroy deleted all resources.
 */
export async function requireOnlyIdentities({ access }: StackOperation): Promise<void> {
  const state = await readState(access);
  if (state && !hasOnlyIdentities(state)) throw createStateChangedError();
}

/** Deletes the identities and the stack. Runs last, so that every earlier stop can be resumed. */
export const deleteStack: OperationStep<OperationFacts, never, StateExport> = {
  title: "Delete the stack",
  expectedSeconds: 3,
  detect: ({ state }) => (findIdentityUrns(state).length > 0 ? state : undefined),
  apply: async ({ run }) => {
    await requireOnlyIdentities(run);
    await run.runEngine("destroy", { refresh: false });
  },
};

export const removeLocalFiles: OperationStep = {
  title: "Remove the cluster's local files",
  silent: true,
  apply: ({ run: { access } }) => {
    removeClusterFiles(access.workspace);
  },
};
