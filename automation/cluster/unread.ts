import { othersCredentials } from "./others-credentials.js";
import { forgetRefused } from "./power-states.js";
import { whatOf } from "./recovery-steps.js";
import type { Run } from "./run.js";
import { readState, type StateExport } from "./state.js";

/*
 * What OpenStack's provider has made and could not read afterwards stands in the state with that error. The engine would change it with
 * the next run, to make it whole, and of many kinds OpenStack's provider can change nothing: no run would ever come to its end. It only
 * has to be read. What is in Kubernetes has such errors, too, while it does not become ready; that waits again where it is changed.
 * And a server with such an error is created again (see machine.ts): read, it would be kept.
 */

/** Whether it stays, as it was made, in spite of such an error. Pure. */
const isKept = (type: string): boolean =>
  type.startsWith("openstack:") && type !== "openstack:compute/instance:Instance";

/** URNs of what is to be read before the engine works on it. Pure. */
export const unreadIn = ({ deployment }: StateExport): string[] =>
  (deployment.resources ?? []).flatMap(({ urn, type, initErrors = [] }) =>
    isKept(type) && initErrors.length > 0 ? [urn] : [],
  );

/** Without credentials of others: Keystone shows them to nobody else, so that they would be taken for gone. */
async function readable(run: Run, state: StateExport): Promise<string[]> {
  const found = unreadIn(state);
  if (found.length === 0) return [];
  const others = new Set((await othersCredentials(run, state)).map(({ urn }) => urn));
  return found.filter((urn) => !others.has(urn));
}

/**
 * Reads it into the state, and has that forget what OpenStack's provider would refuse; after all that asks how old that is
 * (lost-servers.ts): this writes it. Answers the state after it, and whether anything was read: what is gone is not in it any more.
 */
export async function readUnread(
  run: Run,
  held: StateExport | undefined,
): Promise<{ readonly state: StateExport | undefined; readonly mended: boolean }> {
  const state = await forgetRefused(run.access, held);
  const target = state ? await readable(run, state) : [];
  if (target.length === 0) return { state, mended: false };
  run.stage("repair");
  const what = target.map(whatOf).join(", ");
  run.note(`An earlier run made what could not be read afterwards; it is read first: ${what}.`);
  await run.engine("refresh", { exists: true, target });
  return { state: await readState(run.access), mended: true };
}
