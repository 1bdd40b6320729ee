import { listVisibleObjects } from "../../openstack/inventory/inventory.js";
import { ClusterError } from "../pulumi/cluster-error.js";
import type { OperationStage } from "../engine/operation-options.js";
import { requireCurrentState } from "./outdated-state.js";
import {
  writeRecoveredState,
  concernsCloud,
  isInterrupted,
  undoPendingCreates,
  type RecoveryTools,
} from "./undo-pending-creates.js";
import { recoverySteps, typeAndNameOf } from "../pulumi/pending-operations.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { PlanRow } from "../pulumi/preview-rows.js";
import { readState, type PendingOperation, type StateExport } from "../pulumi/stack-state.js";
import { isScript } from "../engine/interrupted-scripts.js";
import { parseUrn, shortType } from "../pulumi/urn.js";

export interface RepairResult {
  readonly state: StateExport | undefined;
  /** State before the repair. Absent if nothing was repaired. */
  readonly interrupted?: StateExport;
  /** Whether load balancers were deleted or removed from the state. @default false */
  readonly hasRepaired?: boolean;
}

/**
 * Undoes the pending operations of a killed engine, while the stack's lock is held.
 *
 * @param stage stage in which the repair is reported
 * @param newest whether to refuse an outdated state. False for a destroy, which deletes everything
 * anyway
 */
export async function repairInterruptedRun(
  run: StackOperation,
  found: StateExport | undefined,
  { stage, newest }: { readonly stage: OperationStage; readonly newest: boolean },
): Promise<RepairResult> {
  if (!found || !isInterrupted(found)) return { state: found };
  run.stage(stage);
  const recovered = await run.hold(async (signal) => {
    // Reads the state again: another command may have repaired it before this command got the lock.
    const now = await readState(run.access);
    if (!now || !isInterrupted(now)) return { state: now };
    if (newest && concernsCloud(now)) {
      // Uses the objects that this user may list. Hidden objects cannot prove that the state is
      // outdated.
      const { objects } = await listVisibleObjects(await run.cloud());
      await requireCurrentState(run.access, now, objects);
    }
    return undoPendingCreates(run.access, now, () => recoveryToolsOf(run, signal));
  });
  if (!("before" in recovered)) return { state: recovered.state };
  await writeRecoveredState(run.access, recovered);
  run.note(
    `An earlier run was interrupted; repaired what it left: ${recovered.cleared.join(", ")}.`,
  );
  return { state: recovered.state, interrupted: recovered.before };
}

/**
 * Deletes objects whose create request got no answer, if the cloud has created the objects
 * nevertheless. Runs after a failed `up`. The state does not record such creates, so the next run
 * could not find these objects. An error of the deletion is only reported.
 */
export async function deleteUnconfirmedCreates(run: StackOperation): Promise<void> {
  const creates = run.undecided.creates();
  if (creates.length === 0) return;
  /**
   * Returns the state with the unconfirmed creates as pending operations. Leaves out creates of
   * resources that the state already contains as incomplete. Undefined if no create is left.
   */
  const undecided = async (): Promise<StateExport | undefined> => {
    const state = await readState(run.access);
    const held = new Set((state?.deployment.resources ?? []).map(({ urn }) => urn));
    const pending = creates.flatMap(({ operation, replaces }) =>
      replaces || !held.has(operation.resource.urn) ? [operation] : [],
    );
    if (!state || pending.length === 0) return undefined;
    return { ...state, deployment: { ...state.deployment, pending_operations: pending } };
  };
  try {
    if (!(await undecided())) return;
    const work = async (signal: AbortSignal): Promise<void> => {
      const state = await undecided();
      const during = { from: run.began, to: Date.now() };
      if (state)
        await undoPendingCreates(run.access, state, () => recoveryToolsOf(run, signal), during);
    };
    // Only a second stop (`killSignal`) ends this work, because a first stop may be the reason why
    // the run failed.
    await run.hold(work, { stop: run.options.killSignal });
  } catch (error) {
    const names = creates.map(({ operation }) => typeAndNameOf(operation.resource.urn)).join(", ");
    run.note(
      `Whether the cloud created ${names} is unknown (${error instanceof Error ? error.message : String(error)}); the next \`npx stackadm up\` looks for it.`,
    );
  }
}

/** Returns the tools for a repair. The caller holds the stack's lock. */
export const recoveryToolsOf = async (
  run: StackOperation,
  signal: AbortSignal,
): Promise<RecoveryTools> => ({
  cloud: await run.cloud(),
  note: (text) => {
    run.note(text);
  },
  signal,
});

const undecidedIn = (pending: readonly PendingOperation[]): string =>
  `An interrupted run left these operations unfinished: ${recoverySteps(pending)
    .map(({ what }) => what)
    .join(", ")}`;

/**
 * Returns the plan with a row for each pending operation that `up` repairs before the engine
 * starts. Also reports these operations.
 */
export function withPlannedRepairs(
  run: StackOperation,
  state: StateExport | undefined,
  plan: readonly PlanRow[],
): PlanRow[] {
  const pending = state?.deployment.pending_operations ?? [];
  if (pending.length > 0) run.note(`${undecidedIn(pending)}. \`up\` repairs them first.`);
  const repairs = pending.map(({ resource: { urn, type } }) => ({
    operation: "repair",
    type: shortType(type),
    name: parseUrn(urn).name,
  }));
  const isPlanned = (row: PlanRow): boolean =>
    plan.some(({ type, name }) => type === row.type && name === row.name);
  return [...repairs.filter((row) => !isPlanned(row)), ...plan];
}

/**
 * Reports the pending operations that the next `up` repairs. Changes nothing. Throws if a refresh
 * would delete information that the repair needs. A refresh keeps pending creates, but it deletes
 * pending updates. It also overwrites the time of the interruption, by which the repair recognizes
 * an outdated state.
 */
export function reportPlannedRepair(run: StackOperation, state: StateExport | undefined): void {
  const pending = state?.deployment.pending_operations ?? [];
  if (!state || pending.length === 0) return;
  const said = undecidedIn(pending);
  const isStopped = pending.some(({ type, resource }) => type === "updating" && isScript(resource));
  if (isStopped || concernsCloud(state))
    throw new ClusterError(
      "FAILED",
      `${said}. A refresh would lose ${isStopped ? "which scripts did not finish" : "the time of the interruption"}, so nothing was changed.`,
      "Run `npx stackadm up`, which repairs them; add --refresh to also read the real state.",
    );
  run.note(`${said}. They are left unchanged now: \`npx stackadm up\` repairs them.`);
}
