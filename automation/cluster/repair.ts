import { takeShown } from "../../cloud/inventory.js";
import { ClusterError } from "./cluster-error.js";
import type { Stage } from "./options.js";
import { requireNewest } from "./old-state.js";
import {
  clearRecord,
  concernsCloud,
  isInterrupted,
  recover,
  type RecoveryTools,
} from "./recovery.js";
import { recoverySteps, whatOf } from "./recovery-steps.js";
import type { Run } from "./run.js";
import type { PlanRow } from "./plan-rows.js";
import { readState, type PendingOperation, type StateExport } from "./state.js";
import { isScript } from "./unfinished.js";
import { parseUrn, shortType } from "./urn.js";

export interface Repaired {
  readonly state: StateExport | undefined;
  /** The state that was repaired. Absent: nothing was. */
  readonly interrupted?: StateExport;
  /** Whether something of what it held was taken away. @default no */
  readonly mended?: boolean;
}

/**
 * What a killed engine left half made in the state that was found is taken away, in the stage that is named, while nobody else works
 * on the stack.
 *
 * @param newest whether a state that is older than the cluster is refused: who destroys wants all of it to go
 */
export async function repair(
  run: Run,
  found: StateExport | undefined,
  { stage, newest }: { readonly stage: Stage; readonly newest: boolean },
): Promise<Repaired> {
  if (!found || !isInterrupted(found)) return { state: found };
  run.stage(stage);
  const recovered = await run.hold(async (signal) => {
    // Somebody else may have repaired it before the lock was ours.
    const now = await readState(run.access);
    if (!now || !isInterrupted(now)) return { state: now };
    if (newest && concernsCloud(now)) {
      // What is hidden proves nothing.
      const { objects } = await takeShown(await run.cloud());
      await requireNewest(run.access, now, objects);
    }
    return recover(run.access, now, () => toolsOf(run, signal));
  });
  if (!("before" in recovered)) return { state: recovered.state };
  await clearRecord(run.access, recovered);
  run.note(`An earlier run was interrupted; it is repaired: ${recovered.cleared.join(", ")}.`);
  return { state: recovered.state, interrupted: recovered.before };
}

/**
 * After an `up` that failed: what it was making when the cloud did not answer is taken away, if the cloud made it. The engine forgets
 * such creates, so the next run could not know of them. Its own failure is only noted.
 */
export async function undoUndecided(run: Run): Promise<void> {
  const creates = run.undecided.creates();
  if (creates.length === 0) return;
  /** The state as if they were pending, without those that it holds half made. */
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
      if (state) await recover(run.access, state, () => toolsOf(run, signal), during);
    };
    // The run may have failed because it was stopped; who stops it again has had enough.
    await run.hold(work, { stop: run.options.killSignal });
  } catch (error) {
    const names = creates.map(({ operation }) => whatOf(operation.resource.urn)).join(", ");
    run.note(
      `Whether the cloud made ${names} is not known (${error instanceof Error ? error.message : String(error)}); the next \`npx stackadm up\` looks for it.`,
    );
  }
}

/** What the repair works with, for whoever holds the stack. */
export const toolsOf = async (run: Run, signal: AbortSignal): Promise<RecoveryTools> => ({
  cloud: await run.cloud(),
  note: (text) => {
    run.note(text);
  },
  signal,
});

const undecidedIn = (pending: readonly PendingOperation[]): string =>
  `A run did not come to its end and left this undecided: ${recoverySteps(pending)
    .map(({ what }) => what)
    .join(", ")}`;

/** A plan with what `up` repairs before the engine begins, as far as the plan does not have it; says so. */
export function withRepairs(
  run: Run,
  state: StateExport | undefined,
  plan: readonly PlanRow[],
): PlanRow[] {
  const pending = state?.deployment.pending_operations ?? [];
  if (pending.length > 0) run.note(`${undecidedIn(pending)}. \`up\` repairs it first.`);
  const repairs = pending.map(({ resource: { urn, type } }) => ({
    ...{ operation: "repair", type: shortType(type), name: parseUrn(urn).name },
  }));
  const isPlanned = (row: PlanRow): boolean =>
    plan.some(({ type, name }) => type === row.type && name === row.name);
  return [...repairs.filter((row) => !isPlanned(row)), ...plan];
}

/**
 * Says what the next `up` would repair, and changes nothing. Refuses where a refresh would have the state forget what that needs: it keeps
 * the record of creations, but not that of updates, nor when the run was killed, by which an old state is told from the newest.
 */
export function tellRepair(run: Run, state: StateExport | undefined): void {
  const pending = state?.deployment.pending_operations ?? [];
  if (!state || pending.length === 0) return;
  const said = undecidedIn(pending);
  const isStopped = pending.some(({ type, resource }) => type === "updating" && isScript(resource));
  if (isStopped || concernsCloud(state))
    throw new ClusterError(
      "FAILED",
      `${said}. A refresh would forget ${isStopped ? "which scripts were stopped half-way" : "when that was"}, so nothing was changed.`,
      "Run `npx stackadm up`: it repairs that, and with --refresh it reads what is there first.",
    );
  run.note(`${said}. Nothing of it is touched now: \`npx stackadm up\` repairs it.`);
}
