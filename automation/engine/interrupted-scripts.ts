import {
  copiedScriptsType,
  scriptType,
  unfinishedCommandMarker,
} from "../../components/remote-scripts/script-type.js";
import { copiedScriptsNameSuffix } from "../../components/remote-scripts/script-steps.js";
import type { DecodedEngineEvent } from "../pulumi/events.js";
import { explainMessage } from "./engine-errors.js";
import type { EngineOperationName } from "./worker-messages.js";
import {
  changeState,
  type StateAccess,
  type StateExport,
  type StateResource,
} from "../pulumi/stack-state.js";

/*
 * The state contains the inputs of a script's last successful run. A script that failed or was
 * stopped may have changed its machine already. If the user then reverts the setting, the inputs
 * equal the state again, and the engine would not run the script. So this module changes the inputs
 * in the state, which makes the engine run the script again.
 */

/**
 * Returns the inputs and outputs that make the engine run a script again, or copy a machine's
 * scripts again. The changed path of a copy still contains the server's ID. From this ID, the next
 * run finds out whether the server is new.
 */
const markOf = ({ type, inputs }: StateResource): Readonly<Record<string, string>> =>
  type === copiedScriptsType
    ? { remotePath: String(inputs?.["remotePath"]).replace(/[^/]*$/, unfinishedCommandMarker) }
    : { update: unfinishedCommandMarker };

/**
 * Matches the URN of a teardown script. A teardown script runs before a cluster, or the cluster's
 * snapshots, are deleted.
 */
const teardown =
  /(\$stackadm:kubeadm:ControlPlane\$command:remote:Command::[^:]*?)(?:-snapshots)?-teardown$/;

/**
 * Returns the URN of the script that undoes a teardown if the cluster is not deleted in the end.
 * Returns undefined if `urn` is not the URN of a teardown script.
 *
 * @param urn URN of the script that finished
 */
export const findTeardownUndoUrn = (urn: string): string | undefined => {
  const [, controlPlane] = teardown.exec(urn) ?? [];
  return controlPlane && urn.replace(teardown, "$1-0-init");
};

/**
 * Returns the URN of the resource that copies a machine's scripts to the machine.
 *
 * @param urn URN of one of the machine's scripts
 */
export const getScriptCopyUrn = (urn: string): string =>
  urn.replace(
    new RegExp(`${scriptType}::(.*-)[^-]*$`),
    (_, machine: string) => `${copiedScriptsType}::${machine}${copiedScriptsNameSuffix}`,
  );

/** Returns whether the resource is a script that runs on a machine. */
export const isScript = ({ type }: StateResource): boolean => type === scriptType;

/**
 * Returns a state that makes the engine run these scripts again, and copy these machines' scripts
 * again, even if the inputs did not change. Other resources are unchanged.
 */
export function markScriptsForRerun(state: StateExport, urns: ReadonlySet<string>): StateExport {
  const resources = (state.deployment.resources ?? []).map((one) => {
    if (!urns.has(one.urn) || !(isScript(one) || one.type === copiedScriptsType)) return one;
    const mark = markOf(one);
    return { ...one, inputs: { ...one.inputs, ...mark }, outputs: { ...one.outputs, ...mark } };
  });
  return { ...state, deployment: { ...state.deployment, resources } };
}

/**
 * Returns whether a finished leave script (drain) must not run again. After the script had
 * finished, an interrupted run deleted or recreated the script's server. The engine would run the
 * script again before it replaces the new server. But the SSH route to the machine may lead through
 * the deleted server.
 */
const isFinishedLeave = (one: StateResource, all: ReadonlyMap<string, StateResource>): boolean => {
  if (one.type !== scriptType || one.pendingReplacement !== true) return false;
  const server = all.get(one.replaceWith?.[0] ?? "");
  if (!server) return false;
  // A leave script is created after its server. A server that is newer than the script is therefore
  // the new server.
  return (
    server.pendingReplacement === true ||
    Date.parse(server.created ?? "") > Date.parse(one.created ?? "")
  );
};

/**
 * Returns a state with which the engine does not run finished leave scripts again. `left` contains
 * the URNs of these scripts.
 */
export function skipFinishedLeaveScripts(state: StateExport): {
  state: StateExport;
  left: readonly string[];
} {
  const all = state.deployment.resources ?? [];
  const byUrn = new Map(all.map((one) => [one.urn, one]));
  const left = new Set(all.filter((one) => isFinishedLeave(one, byUrn)));
  if (left.size === 0) return { state, left: [] };
  const resources = all.map((one) => (left.has(one) ? { ...one, replaceWith: [] } : one));
  return {
    state: { ...state, deployment: { ...state.deployment, resources } },
    left: [...left].map(({ urn }) => urn),
  };
}

/**
 * Collects the URNs of scripts that the next `up` must run again, because an operation did not
 * finish. Also collects the URNs of copies of scripts that the next `up` must repeat, because a
 * machine has lost its scripts.
 */
export class InterruptedScripts {
  readonly urns = new Set<string>();

  constructor(private readonly operation: EngineOperationName) {}

  processEvent(event: DecodedEngineEvent): void {
    if (event.type === "message") this.#takeMessage(event);
    if (event.type !== "failed" && event.type !== "finished") return;
    const { urn, operation } = event.change;
    if (event.type === "failed") {
      if (this.operation === "up" && operation === "update") this.urns.add(urn);
      return;
    }
    // The script may have failed first, and then succeeded in a retry of the same run.
    this.urns.delete(urn);
    const undo = this.operation === "destroy" ? findTeardownUndoUrn(urn) : undefined;
    if (undo !== undefined) this.urns.add(undo);
  }

  #takeMessage(event: Extract<DecodedEngineEvent, { type: "message" }>): void {
    if (event.severity === "error" && explainMessage(event).code === "SCRIPT_MISSING")
      this.urns.add(getScriptCopyUrn(event.urn));
  }
}

/**
 * Marks unfinished scripts in the state after the engine has ended. If operations are pending,
 * marks nothing and returns false. An import of the state would delete the pending operations, and
 * the next run must repair these operations first.
 */
export async function markInterruptedScripts(
  access: StateAccess,
  urns: ReadonlySet<string>,
): Promise<boolean> {
  if (
    ![...urns].some(
      (urn) => urn.includes(`$${scriptType}::`) || urn.includes(`$${copiedScriptsType}::`),
    )
  )
    return true;
  let isSafe = true;
  await changeState(access, (now) => {
    isSafe = now !== undefined && (now.deployment.pending_operations ?? []).length === 0;
    return now && isSafe ? markScriptsForRerun(now, urns) : undefined;
  });
  return isSafe;
}
