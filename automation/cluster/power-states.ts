import { isRefused } from "../../components/support/power-states.js";
import type { OperationFlags, Run } from "./run.js";
import {
  readState,
  rewriteState,
  type StateAccess,
  type StateExport,
  type StateResource,
} from "./state.js";

/*
 * A refresh makes an input of what OpenStack's provider reads of a server's power state, also where it does not take it. The program has it
 * ignored (see machine.ts), so that the engine would hand it back and no later run came to its end.
 */

/** The same without an input that OpenStack's provider would refuse. Pure. */
function mended(one: StateResource): StateResource {
  const { powerState, ...inputs } = one.inputs ?? {};
  const isServer = one.type === "openstack:compute/instance:Instance";
  if (!isServer || typeof powerState !== "string" || !isRefused(powerState)) return one;
  return { ...one, inputs };
}

/**
 * The state without them; the same where there are none, and where it says what is in the making: an import would forget that. What
 * remains is what was read, which decides nothing. Pure.
 */
export function withoutRefused(state: StateExport): StateExport {
  const { resources, pending_operations: pending } = state.deployment;
  const without = (resources ?? []).map(mended);
  const isSame = without.every((one, index) => one === resources?.[index]);
  if (isSame || (pending ?? []).length > 0) return state;
  return { ...state, deployment: { ...state.deployment, resources: without } };
}

/** Has the state forget them, if it holds any. Answers the state after it. */
export const forgetRefused = (
  access: StateAccess,
  found: StateExport | undefined,
): Promise<StateExport | undefined> => rewriteState(access, found, withoutRefused);

/** Has the engine read what is there, and leaves no such input behind. */
export async function readAll(run: Run, flags: OperationFlags): Promise<void> {
  await run.engine("refresh", flags);
  await forgetRefused(run.access, await readState(run.access));
}
