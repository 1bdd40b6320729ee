import {
  copyType,
  scriptType,
  unfinishedCommand,
} from "../../components/remote-scripts/script-type.js";
import { copyName } from "../../components/remote-scripts/script-steps.js";
import type { ClusterEvent } from "../pulumi/events.js";
import { explainMessage } from "./engine-errors.js";
import type { OperationName } from "./worker-messages.js";
import {
  changeState,
  type StateAccess,
  type StateExport,
  type StateResource,
} from "../pulumi/stack-state.js";

/*
 * The state holds the inputs of a script's last successful run. A script that failed or was stopped
 * may already have changed its machine. If the user then reverts the setting, the inputs match the
 * state again, and the engine would not run the script.
 */

/**
 * Returns the inputs and outputs in the state of a script that runs again, or of a copy of scripts
 * that is made again. The path of the copy keeps the server's ID, by which a failed copy shows
 * whether its server is a new one.
 */
const markOf = ({ type, inputs }: StateResource): Readonly<Record<string, string>> =>
  type === copyType
    ? { remotePath: String(inputs?.["remotePath"]).replace(/[^/]*$/, unfinishedCommand) }
    : { update: unfinishedCommand };

/**
 * Matches the URN of a teardown script, of the cluster or of its snapshots. Earlier releases called
 * it `farewell`.
 */
const teardown =
  /(\$stackadm:kubeadm:ControlPlane\$command:remote:Command::[^:]*?)(?:-snapshots)?-(?:teardown|farewell)$/;

/**
 * Returns the script that undoes a teardown, in case the cluster stays; undefined for other
 * scripts.
 *
 * @param urn URN of the script that finished
 */
export const teardownUndoUrn = (urn: string): string | undefined => {
  const [, controlPlane] = teardown.exec(urn) ?? [];
  return controlPlane && urn.replace(teardown, "$1-0-init");
};

/**
 * Returns the URN of the copy of a machine's scripts.
 *
 * @param urn URN of one of the scripts
 */
export const scriptCopyUrn = (urn: string): string =>
  urn.replace(
    new RegExp(`${scriptType}::(.*-)[^-]*$`),
    (_, machine: string) => `${copyType}::${machine}${copyName}`,
  );

/** Returns whether the resource is a script that runs on a machine. */
export const isScript = ({ type }: StateResource): boolean => type === scriptType;

/**
 * Returns the state in which these scripts run again, and these copies of scripts are made again,
 * with any inputs; other resources are unchanged.
 */
export function markScriptsForRerun(state: StateExport, urns: ReadonlySet<string>): StateExport {
  const resources = (state.deployment.resources ?? []).map((one) => {
    if (!urns.has(one.urn) || !(isScript(one) || one.type === copyType)) return one;
    const mark = markOf(one);
    return { ...one, inputs: { ...one.inputs, ...mark }, outputs: { ...one.outputs, ...mark } };
  });
  return { ...state, deployment: { ...state.deployment, resources } };
}

/**
 * Returns whether a leave script (drain) has already run and its server was deleted or recreated,
 * in a run that then stopped. The engine would run the script again before it replaces the server's
 * successor, but the SSH route to its machine may lead through the deleted server.
 */
const isFinishedLeave = (one: StateResource, all: ReadonlyMap<string, StateResource>): boolean => {
  if (one.type !== scriptType || one.pendingReplacement !== true) return false;
  const server = all.get(one.replaceWith?.[0] ?? "");
  if (!server) return false;
  // A leave script is created after its server: a newer server is the successor.
  return (
    server.pendingReplacement === true ||
    Date.parse(server.created ?? "") > Date.parse(one.created ?? "")
  );
};

/** Returns the state in which these leave scripts do not run again, and their URNs. */
export function withoutLeaveScripts(state: StateExport): {
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
 * Collects the scripts that the next `up` has to run again, because an operation did not finish,
 * and the copies that it has to make again, because a machine no longer has its scripts.
 */
export class InterruptedScripts {
  readonly urns = new Set<string>();

  constructor(private readonly operation: OperationName) {}

  take(event: ClusterEvent): void {
    if (event.type === "message") this.#takeMessage(event);
    if (event.type !== "failed" && event.type !== "finished") return;
    const { urn, operation } = event.change;
    if (event.type === "failed") {
      if (this.operation === "up" && operation === "update") this.urns.add(urn);
      return;
    }
    // A failed script may be retried in the same run.
    this.urns.delete(urn);
    const undo = this.operation === "destroy" ? teardownUndoUrn(urn) : undefined;
    if (undo !== undefined) this.urns.add(undo);
  }

  #takeMessage(event: Extract<ClusterEvent, { type: "message" }>): void {
    if (event.severity === "error" && explainMessage(event).code === "SCRIPT_MISSING")
      this.urns.add(scriptCopyUrn(event.urn));
  }
}

/**
 * Marks, after an engine has ended, its unfinished scripts in the state. Returns false if
 * operations are pending: an import would delete those, and the next run repairs them first.
 */
export async function markInterruptedScripts(
  access: StateAccess,
  urns: ReadonlySet<string>,
): Promise<boolean> {
  if (![...urns].some((urn) => urn.includes(`$${scriptType}::`) || urn.includes(`$${copyType}::`)))
    return true;
  let said = true;
  await changeState(access, (now) => {
    said = now !== undefined && (now.deployment.pending_operations ?? []).length === 0;
    return now && said ? markScriptsForRerun(now, urns) : undefined;
  });
  return said;
}
