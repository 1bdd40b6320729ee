import { z } from "zod";
import { Failure } from "../../../base/failures/failure.js";
import { runPulumi, type StateAccess } from "../stack-state.js";

/*
 * Pulumi Cloud, and services with the same API, let a preview run while an update runs. So no
 * engine of this program can hold the lock of a stack there. Before each change outside of the
 * engine, this program asks the service whether an update is in progress.
 */

/** Returns whether a preview takes no lock in this backend. */
export const hasUnlockedPreviews = (backend: string): boolean => /^https?:/.test(backend);

const stacksSchema = z.array(
  z.looseObject({
    /** Name of the stack, with the organization if that is not the user's default. */
    name: z.string(),
    /** Absent: the stack was never updated. */
    updateInProgress: z.boolean().optional(),
  }),
);

/**
 * Returns whether an update of the stack is in progress. Returns undefined if the backend has no
 * stack with this name.
 */
export async function readUpdateInProgress(access: StateAccess): Promise<boolean | undefined> {
  const { stdout } = await runPulumi(access, ["stack", "ls", "--json"]);
  return findUpdateInProgress(stdout, access.workspace.stack);
}

/**
 * Returns whether the output of `pulumi stack ls --json` reports an update of the stack. Returns
 * undefined if the output does not contain the stack.
 */
export function findUpdateInProgress(output: string, stack: string): boolean | undefined {
  const stacks = stacksSchema.parse(JSON.parse(output));
  // The list contains the stacks of all organizations of the user. Only a stack of the default
  // organization has a name without its organization.
  const own = stacks.filter(({ name }) => name === stack);
  const named = own.length > 0 ? own : stacks.filter(({ name }) => name.endsWith(`/${stack}`));
  return named.length === 0 ? undefined : named.some((one) => one.updateInProgress === true);
}

export const createUpdateInProgressError = (): Failure =>
  new Failure(
    "STACK_LOCKED",
    "Another operation holds this stack: the backend reports an update in progress.",
    "Wait until it ends. If its process no longer exists, `stackadm unlock` cancels the update.",
  );

/** Throws if an update of the stack is in progress, or if the stack does not exist. */
export async function requireNoUpdate(access: StateAccess): Promise<void> {
  const isInProgress = await readUpdateInProgress(access);
  if (isInProgress === true) throw createUpdateInProgressError();
  if (isInProgress === undefined)
    throw new Failure("STACK_NOT_FOUND", "The backend has no stack with this name.");
}

/**
 * Returns a function that calls `check`. Calls that begin during a check share its result, because
 * several objects are deleted at once.
 */
export function shareRunningCheck(check: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () =>
    (running ??= check().finally(() => {
      running = undefined;
    }));
}
