import { isRefusedAsInput } from "../../components/lookup/refused-power-states.js";
import { excludeForeignCredentials } from "../guards/foreign-credentials.js";
import { countDiffering, type PlanRow } from "../pulumi/preview-rows.js";
import type { Facts, Step } from "../steps/step.js";
import {
  readState,
  rewriteState,
  withResources,
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
  if (!isServer || typeof powerState !== "string" || !isRefusedAsInput(powerState)) return one;
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

/** Removes power states that OpenStack's provider would refuse from the inputs in the state. */
export const removeRefusedPowerStates: Step<Facts, never, StateExport> = {
  title: "Remove power states that the provider refuses from the state",
  silent: true,
  detect: ({ state }) => (state && withoutRefusedPowerStates(state) !== state ? state : undefined),
  apply: async (facts, state) => {
    facts.state = await rewriteState(facts.run.access, state, withoutRefusedPowerStates);
  },
};

/** Facts of the operation `refresh`. */
export interface ReadFacts extends Facts {
  /** Resources that `up` changes although a refresh does not report them. */
  broken: readonly PlanRow[];
  /** Number of resources that differed from the state. */
  differing: number;
}

/** Refreshes the state, and removes refused power states that the refresh may have added. */
export const readResources: Step<ReadFacts> = {
  title: "Read the cluster's resources into the state",
  expectedSeconds: 30,
  apply: async (facts) => {
    const { run, state, broken } = facts;
    const excluded = await excludeForeignCredentials(run, state, true);
    const { events } = await run.engine("refresh", excluded);
    facts.state = await rewriteState(
      run.access,
      await readState(run.access),
      withoutRefusedPowerStates,
    );
    facts.differing = countDiffering(events, broken);
  },
};
