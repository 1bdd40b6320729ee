import type { StackOperation } from "../engine/operation-context.js";
import type { StateExport } from "../pulumi/stack-state.js";
import { markInterruptedScripts } from "../engine/interrupted-scripts.js";
import { getErrorMessage } from "./machine-programs.js";

/** Run that can hold the stack's lock and report to the user. */
interface Holder {
  readonly run: Pick<StackOperation, "hold" | "warn">;
}

/**
 * Calls `work` while the engine holds the stack's lock. Throws the error of `work`. If `work`
 * succeeds and the engine then fails, only shows a warning.
 */
export async function withStackLock(
  { run }: Holder,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let ended: { readonly error?: unknown } | undefined;
  try {
    await run.hold(async ({ signal }) => {
      try {
        await work(signal);
        ended = {};
      } catch (error) {
        ended = { error };
        throw error;
      }
    });
  } catch (error) {
    if (ended === undefined) throw error;
    if ("error" in ended) throw ended.error;
    run.warn(
      `The stack's lock was lost before the end, so another \`up\` may have changed the machines meanwhile: ${getErrorMessage(error)}`,
    );
  }
}

/**
 * Marks the control planes' scripts in the stack's state so that the next `up` runs these scripts
 * again. The state describes the cluster before the restore, so the engine would otherwise skip the
 * scripts. Shows only a warning after a failure, because the cluster is restored already. An error
 * would make the user restore the cluster again.
 */
export async function markControlPlaneScripts({
  run,
  state,
}: {
  readonly run: Pick<StackOperation, "access" | "warn">;
  readonly state: StateExport;
}): Promise<void> {
  const scripts = (state.deployment.resources ?? []).filter(
    ({ urn, inputs }) =>
      urn.includes("stackadm:kubeadm:ControlPlane$") && typeof inputs?.["create"] === "string",
  );
  const urns = new Set(scripts.map(({ urn }) => urn));
  const why = await markInterruptedScripts(run.access, urns).then(
    (areMarked) => (areMarked ? undefined : "an operation of an earlier run is pending"),
    getErrorMessage,
  );
  if (why !== undefined)
    run.warn(
      `The cluster is restored, but the control planes' scripts could not be marked in the state to run again (${why.replace(/\.$/, "")}): versions, flags and fields that are newer than the backup are applied again only if you change their settings. Do not restore again for this.`,
    );
}
