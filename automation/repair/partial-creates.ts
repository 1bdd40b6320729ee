import { findPartialCreates } from "../../components/lifecycle/unfinished-creates.js";
import { findForeignCredentials } from "../guards/foreign-credentials.js";
import type { OperationFacts, OperationStep } from "../steps/step.js";
import { describeUrn } from "../pulumi/pending-operations.js";
import type { StackOperation } from "../engine/operation-context.js";
import { readState, type StateExport } from "../pulumi/stack-state.js";

/*
 * Refreshes resources that OpenStack's provider created but could not read. Such a resource has an
 * error in the state (`initErrors`), so the next run would update the resource. The provider cannot
 * update many kinds of resources, so every run would fail. A refresh removes the error.
 *
 * Kubernetes objects that did not become ready also have such an error. The refresh leaves them
 * out, because the next update waits for them again. The refresh also leaves out servers. The
 * engine recreates a server with such an error (machine.ts), but would keep the server after a
 * refresh.
 */

/**
 * Returns the URNs of the resources to refresh. Leaves out application credentials of other users.
 * Keystone does not show such credentials, so a refresh would fail.
 */
async function readable(run: StackOperation, state: StateExport): Promise<string[]> {
  const found = findPartialCreates(state.deployment.resources ?? []);
  if (found.length === 0) return [];
  const others = new Set((await findForeignCredentials(run, state)).map(({ urn }) => urn));
  return found.filter((urn) => !others.has(urn));
}

/**
 * Refreshes the resources that {@link findPartialCreates} returns. Writes the state, so it must run
 * after all checks of the state's age (left-behind-servers.ts).
 */
export const refreshPartialCreates: OperationStep<OperationFacts, never, string[]> = {
  title: "Read resources that an earlier run created but could not read",
  detect: async ({ run, state }) => {
    const target = state ? await readable(run, state) : [];
    return target.length > 0 ? target : undefined;
  },
  apply: async (facts, target) => {
    const { run } = facts;
    const what = target.map(describeUrn).join(", ");
    run.note(
      `An earlier run created these resources but could not read them; reading them first: ${what}.`,
    );
    await run.runEngine("refresh", { target });
    facts.state = await readState(run.access);
  },
};
