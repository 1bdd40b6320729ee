import { isRefusedPowerState } from "../../components/lookup/power-states-refused-by-provider.js";
import { createExclusionFlags } from "../guards/foreign-credentials.js";
import { countDriftedResources, type PlanRow } from "../pulumi/preview-rows.js";
import type { OperationFacts, OperationStep } from "../steps/step.js";
import {
  readState,
  rewriteState,
  mapStateResources,
  type StateExport,
  type StateResource,
} from "../pulumi/stack-state.js";

/*
 * Removes power states that OpenStack's provider refuses from the inputs in the state. A refresh
 * copies each power state that it reads into the inputs, including refused power states. The
 * program ignores changes of this input (machine.ts). The engine would therefore pass the refused
 * power state to the provider, and every later run would fail.
 */

/** Returns the resource without a power state that OpenStack's provider would refuse. Pure. */
function withoutRefusedState(one: StateResource): StateResource {
  const { powerState, ...inputs } = one.inputs ?? {};
  const isServer = one.type === "openstack:compute/instance:Instance";
  if (!isServer || typeof powerState !== "string" || !isRefusedPowerState(powerState)) return one;
  return { ...one, inputs };
}

/**
 * Returns the state without inputs of power states that OpenStack's provider would refuse. Returns
 * the same object if there are no such inputs. Also returns the same object if operations are
 * pending, because an import would delete the pending operations. Does not change the outputs,
 * where power states have no effect. Pure.
 */
export const omitRefusedPowerStates = (state: StateExport): StateExport =>
  mapStateResources(state, withoutRefusedState);

/** Removes power states that OpenStack's provider would refuse from the inputs in the state. */
export const removeRefusedPowerStates: OperationStep<OperationFacts, never, StateExport> = {
  title: "Remove power states that the provider refuses from the state",
  silent: true,
  detect: ({ state }) => (state && omitRefusedPowerStates(state) !== state ? state : undefined),
  apply: async (facts, state) => {
    facts.state = await rewriteState(facts.run.access, state, omitRefusedPowerStates);
  },
};

/** Facts of the operation `refresh`. */
export interface RefreshFacts extends OperationFacts {
  /** Resources that `up` changes although a refresh does not report them. */
  broken: readonly PlanRow[];
  /** Number of resources that differed from the state. */
  differing: number;
}

/** Refreshes the state, and removes refused power states that the refresh may have added. */
export const refreshResources: OperationStep<RefreshFacts> = {
  title: "Read the cluster's resources into the state",
  expectedSeconds: 30,
  apply: async (facts) => {
    const { run, state, broken } = facts;
    const excluded = await createExclusionFlags(run, state, true);
    const { events } = await run.runEngine("refresh", excluded);
    facts.state = await rewriteState(
      run.access,
      await readState(run.access),
      omitRefusedPowerStates,
    );
    facts.differing = countDriftedResources(events, broken);
  },
};
