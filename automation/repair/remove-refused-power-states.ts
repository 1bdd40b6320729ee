import { isRefused } from "../../components/lookup/refused-power-states.js";
import type { OperationFlags, StackOperation } from "../engine/operation-context.js";
import {
  readState,
  rewriteState,
  withResources,
  type StateAccess,
  type StateExport,
  type StateResource,
} from "../pulumi/stack-state.js";

/*
 * Removes power states that OpenStack's provider refuses from the inputs in the state. A refresh
 * copies each power state that it reads into the inputs, even a refused one. The program ignores
 * changes of this input (machine.ts), so the engine would pass the refused power state to the
 * provider, and every later run would fail.
 */

/** Returns the resource without a power state that OpenStack's provider would refuse. Pure. */
function withoutRefusedState(one: StateResource): StateResource {
  const { powerState, ...inputs } = one.inputs ?? {};
  const isServer = one.type === "openstack:compute/instance:Instance";
  if (!isServer || typeof powerState !== "string" || !isRefused(powerState)) return one;
  return { ...one, inputs };
}

/**
 * Returns the state without power states in the inputs that OpenStack's provider would refuse.
 * Returns the same object if there are no such power states. Also returns the same object if
 * operations are pending, because an import would delete them. The outputs keep their power states,
 * which have no effect. Pure.
 */
export const withoutRefusedPowerStates = (state: StateExport): StateExport =>
  withResources(state, withoutRefusedState);

/** Removes refused power states from the inputs in the stored state. Returns the new state. */
export const removeRefusedPowerStates = (
  access: StateAccess,
  found: StateExport | undefined,
): Promise<StateExport | undefined> => rewriteState(access, found, withoutRefusedPowerStates);

/** Refreshes the state, and removes refused power states that the refresh has added. */
export async function refreshState(run: StackOperation, flags: OperationFlags): Promise<void> {
  await run.engine("refresh", flags);
  await removeRefusedPowerStates(run.access, await readState(run.access));
}
