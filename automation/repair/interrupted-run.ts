import { listVisibleObjects } from "../../openstack/inventory/inventory.js";
import { Failure } from "../../base/failures/failure.js";
import { requireCurrentState } from "./refuse-outdated-state.js";
import {
  needsCloudForUndo,
  hasInterruptedRun,
  undoPendingCreates,
  type UndoTools,
} from "./undo-pending-creates.js";
import { getUndoSteps, describeUrn } from "../pulumi/pending-operations.js";
import type { HeldLock } from "../engine/held-lock.js";
import type { StackOperation } from "../engine/operation-context.js";
import { editUnderLock } from "../steps/edit-state.js";
import type { PlannedChanges, OperationFacts, OperationStep } from "../steps/step.js";
import { readState, type PendingOperation, type StateExport } from "../pulumi/stack-state.js";
import { isScript } from "../engine/interrupted-scripts.js";
import { parseUrn, getShortType } from "../pulumi/urn.js";

/** Returns the state if it must be repaired after an interrupted run. */
const interruptedState = ({ state }: OperationFacts): StateExport | undefined =>
  state && hasInterruptedRun(state) ? state : undefined;

/**
 * Undoes the pending operations of a killed engine, while the stack's lock is held.
 *
 * @param refuseOutdated whether to refuse an outdated state. False for a destroy, which deletes
 * everything
 */
async function undo(facts: OperationFacts, refuseOutdated: boolean): Promise<void> {
  const { run } = facts;
  let cleared: readonly string[] = [];
  const { before, after } = await editUnderLock(run, async (now, lock) => {
    // Another command may have repaired the state before this command got the lock.
    if (!now || !hasInterruptedRun(now)) return now;
    if (refuseOutdated && needsCloudForUndo(now)) {
      // Only visible objects can prove that the state is outdated, so kinds that this user cannot
      // list are skipped.
      const { objects } = await listVisibleObjects(await lock.cloud());
      await requireCurrentState(run.access, now, objects);
    }
    const recovered = await undoPendingCreates(run.access, now, () => createUndoTools(run, lock));
    ({ cleared } = recovered);
    return recovered.state;
  });
  facts.state = after;
  if (!before || after === before) return;
  facts.interrupted = before;
  facts.repaired = true;
  run.note(`An earlier run was interrupted; repaired what it left: ${cleared.join(", ")}.`);
}

const title = "Delete what an interrupted run left";

export const undoPendingBeforeDestroy: OperationStep<OperationFacts, never, StateExport> = {
  title,
  detect: interruptedState,
  apply: (facts) => undo(facts, false),
};

/** Undoes the pending operations before an `up`. Refuses an outdated state. */
export const undoPendingBeforeUp: OperationStep<OperationFacts, PlannedChanges, StateExport> = {
  title,
  expectedSeconds: 10,
  detect: interruptedState,
  describe: ({ run }, state) => {
    const pending = state.deployment.pending_operations ?? [];
    if (pending.length > 0)
      run.note(`${pendingOperationsText(pending)}. \`up\` repairs them first.`);
    const rows = pending.map(({ resource: { urn, type } }) => ({
      operation: "repair",
      type: getShortType(type),
      name: parseUrn(urn).name,
    }));
    return { rows, first: "first repair what an interrupted run left" };
  },
  apply: (facts) => undo(facts, true),
};

/**
 * Deletes objects whose create request got no answer, if the cloud has created the objects. Runs
 * after a failed `up`. The state does not record such creates, so the next run could not find these
 * objects. Shows only a note if the deletion fails.
 */
export async function deleteUnconfirmedCreates(run: StackOperation): Promise<void> {
  const creates = run.unconfirmedCreates.creates();
  if (creates.length === 0) return;
  /**
   * Returns the state with the unconfirmed creates as pending operations. Leaves out creates of
   * resources that the state already contains as incomplete. Undefined if no create is left.
   */
  const undecided = async (): Promise<StateExport | undefined> => {
    const state = await readState(run.access);
    const recordedUrns = new Set((state?.deployment.resources ?? []).map(({ urn }) => urn));
    const pending = creates.flatMap(({ operation, replaces }) =>
      replaces || !recordedUrns.has(operation.resource.urn) ? [operation] : [],
    );
    if (!state || pending.length === 0) return undefined;
    return { ...state, deployment: { ...state.deployment, pending_operations: pending } };
  };
  try {
    if (!(await undecided())) return;
    const work = async (lock: HeldLock): Promise<void> => {
      const state = await undecided();
      const during = { from: run.began, to: Date.now() };
      if (state)
        await undoPendingCreates(run.access, state, () => createUndoTools(run, lock), during);
    };
    // Only a second stop (`killSignal`) ends this work. A first stop may be the reason why the run
    // failed, and must not prevent this work.
    await run.hold(work, { stop: run.options.killSignal });
  } catch (error) {
    const names = creates.map(({ operation }) => describeUrn(operation.resource.urn)).join(", ");
    run.note(
      `Whether the cloud created ${names} is unknown (${error instanceof Error ? error.message : String(error)}); the next \`stackadm up\` searches for it.`,
    );
  }
}

/** Returns the tools for a repair. The caller holds the stack's lock. */
export const createUndoTools = async (run: StackOperation, lock: HeldLock): Promise<UndoTools> => ({
  cloud: await lock.cloud(),
  note: (text) => {
    run.note(text);
  },
  signal: lock.signal,
});

const pendingOperationsText = (pending: readonly PendingOperation[]): string =>
  `An interrupted run left these operations unfinished: ${getUndoSteps(pending)
    .map(({ what }) => what)
    .join(", ")}`;

/**
 * Reports the pending operations that the next `up` repairs. Changes nothing. Throws if a refresh
 * would delete information that the repair needs. A refresh keeps pending creates, but deletes
 * pending updates. A refresh also overwrites the time of the interruption. From this time, the
 * repair recognizes an outdated state.
 */
export function requireSafeRefresh({ run, state }: OperationFacts): void {
  const pending = state?.deployment.pending_operations ?? [];
  if (!state || pending.length === 0) return;
  const problem = pendingOperationsText(pending);
  const isStopped = pending.some(({ type, resource }) => type === "updating" && isScript(resource));
  if (isStopped || needsCloudForUndo(state))
    throw new Failure(
      "FAILED",
      `${problem}. A refresh would lose ${isStopped ? "which scripts did not finish" : "the time of the interruption"}, so nothing was changed.`,
      "Run `stackadm up`, which repairs them; add --refresh to also read the real state.",
    );
  run.note(`${problem}. They are left unchanged now: \`stackadm up\` repairs them.`);
}
