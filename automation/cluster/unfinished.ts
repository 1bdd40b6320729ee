import type { ClusterEvent } from "./events.js";
import type { OperationName } from "./protocol.js";
import { changeState, type StateAccess, type StateExport, type StateResource } from "./state.js";

/*
 * The state keeps what a script was last given when it came to its end. One that failed or was stopped half-way may have changed
 * its machine: whoever then takes the value back has again what the state holds, and the engine sees nothing to do.
 */

const script = "command:remote:Command";
/** Stands in the state for the command of a script that did not come to its end, so that the next run finds another one. */
const mark = { update: "did not come to its end" };

/** A teardown that came to its end, of all or of snapshots only; earlier releases called it otherwise. */
const teardown =
  /(\$stackadm:kubeadm:ControlPlane\$command:remote:Command::[^:]*?)(?:-snapshots)?-(?:teardown|farewell)$/;

/**
 * The script that undoes what a teardown told the cluster, where the cluster stays after all; undefined where it is another script.
 *
 * @param urn of the script that came to its end
 */
export const undoing = (urn: string): string | undefined => {
  const [, controlPlane] = teardown.exec(urn) ?? [];
  return controlPlane && urn.replace(teardown, "$1-0-init");
};

/** Whether it runs on a machine. */
export const isScript = ({ type }: StateResource): boolean => type === script;

/** The state in which these scripts run again, with whatever they are given; no other resource is touched. */
export function withUnfinished(state: StateExport, urns: ReadonlySet<string>): StateExport {
  const resources = (state.deployment.resources ?? []).map((one) =>
    isScript(one) && urns.has(one.urn)
      ? { ...one, inputs: { ...one.inputs, ...mark }, outputs: { ...one.outputs, ...mark } }
      : one,
  );
  return { ...state, deployment: { ...state.deployment, resources } };
}

/**
 * Scripts that let a machine go whose server went then, too, in a run that came no further. The engine would have them run again
 * before that server's successor is replaced, and the way to their machine may lead over the one that is gone.
 */
const hasLetGo = (one: StateResource, all: ReadonlyMap<string, StateResource>): boolean => {
  if (one.type !== script || one.pendingReplacement !== true) return false;
  const server = all.get(one.replaceWith?.[0] ?? "");
  if (!server) return false;
  // A script is made after the server that it lets go: a later one is that server's successor.
  return (
    server.pendingReplacement === true ||
    Date.parse(server.created ?? "") > Date.parse(one.created ?? "")
  );
};

/** The state in which those do not run again, and their names. */
export function withoutLeaves(state: StateExport): { state: StateExport; left: readonly string[] } {
  const all = state.deployment.resources ?? [];
  const byUrn = new Map(all.map((one) => [one.urn, one]));
  const left = new Set(all.filter((one) => hasLetGo(one, byUrn)));
  if (left.size === 0) return { state, left: [] };
  const resources = all.map((one) => (left.has(one) ? { ...one, replaceWith: [] } : one));
  return {
    state: { ...state, deployment: { ...state.deployment, resources } },
    left: [...left].map(({ urn }) => urn),
  };
}

/** The scripts that the next `up` has to run again, of an operation that does not come to its end. */
export class Unfinished {
  readonly urns = new Set<string>();

  constructor(private readonly operation: OperationName) {}

  take(event: ClusterEvent): void {
    if (event.type !== "failed" && event.type !== "finished") return;
    const { urn, operation } = event.change;
    if (event.type === "failed") {
      if (this.operation === "up" && operation === "update") this.urns.add(urn);
      return;
    }
    // One that failed may be tried again in the same run.
    this.urns.delete(urn);
    const undo = this.operation === "destroy" ? undoing(urn) : undefined;
    if (undo !== undefined) this.urns.add(undo);
  }
}

/**
 * Remembers the scripts that an engine which has ended left unfinished. Answers whether the state could say it: an import would forget
 * what is pending, which says what is half made, and the next run repairs that first.
 */
export async function rememberUnfinished(
  access: StateAccess,
  urns: ReadonlySet<string>,
): Promise<boolean> {
  if (![...urns].some((urn) => urn.includes(`$${script}::`))) return true;
  let said = true;
  await changeState(access, (now) => {
    said = now !== undefined && (now.deployment.pending_operations ?? []).length === 0;
    return now && said ? withUnfinished(now, urns) : undefined;
  });
  return said;
}
