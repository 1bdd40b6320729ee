import { othersCredentials } from "./others-credentials.js";
import { forgetRefused } from "./power-states.js";
import { whatOf } from "./recovery-steps.js";
import type { Run } from "./run.js";
import { readState, type StateExport } from "./state.js";

/*
 * Resources that OpenStack's provider created but could not read have an error in the state
 * (`initErrors`). The engine would update them in the next run; of many kinds the provider can
 * update nothing, so every run would fail. A refresh is enough. Kubernetes objects that did not
 * become ready have such errors, too: the next update waits for them again. A server with such an
 * error is recreated (see machine.ts): a refresh would keep it.
 */

/** Returns whether a resource of this type is kept in spite of such an error. Pure. */
const isKept = (type: string): boolean =>
  type.startsWith("openstack:") && type !== "openstack:compute/instance:Instance";

/** Returns the URNs of the resources to refresh before the engine works on them. Pure. */
export const unreadIn = ({ deployment }: StateExport): string[] =>
  (deployment.resources ?? []).flatMap(({ urn, type, initErrors = [] }) =>
    isKept(type) && initErrors.length > 0 ? [urn] : [],
  );

/**
 * Returns the URNs of the resources to refresh. Skips application credentials of other users:
 * Keystone hides these credentials, so a refresh would remove the credentials from the state.
 */
async function readable(run: Run, state: StateExport): Promise<string[]> {
  const found = unreadIn(state);
  if (found.length === 0) return [];
  const others = new Set((await othersCredentials(run, state)).map(({ urn }) => urn));
  return found.filter((urn) => !others.has(urn));
}

/**
 * Refreshes these resources, and removes inputs that OpenStack's provider would refuse. Must run
 * after all checks of the state's age (lost-servers.ts), because it writes the state. Returns the
 * state afterwards, and whether a resource was read: deleted ones are removed.
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
  run.note(
    `An earlier run created these resources but could not read them; reading them first: ${what}.`,
  );
  await run.engine("refresh", { exists: true, target });
  return { state: await readState(run.access), mended: true };
}
