import {
  defaultOpenstackPlugin,
  takesPolicyList,
  type OpenstackPlugin,
} from "../../base/openstack-plugins.js";
import type { ClusterSpec } from "../../components/spec/cluster-spec.js";
import { rewriteState, type StateAccess, type StateExport, type StateResource } from "./state.js";
import { serverGroupType } from "./urn.js";

/*
 * Versions of the OpenStack plugin differ in one form that stays in the state: the policy of a server group is a list of one up to
 * version 3, and text since. A version that finds the other form would change or replace the group, and its machines with it
 * (docs/decisions/0032-openstack-plugin.md).
 */

/** What the plugin remembers of how its outputs came about. It does without, and refuses the outputs where it does not fit them. */
const remembered = "__pulumi_raw_state_delta";

type Values = Readonly<Record<string, unknown>>;

function withPolicy(values: Values | undefined, isList: boolean): Values | undefined {
  const { policies, [remembered]: _, ...others } = values ?? {};
  if (typeof policies === "string" && isList) return { ...others, policies: [policies] };
  if (Array.isArray(policies) && policies.length === 1 && !isList)
    return { ...others, policies: policies[0] as unknown };
  return values;
}

/** Returns a server group in the form that the version takes. A provider of the program's own has a version of its own. */
function inForm(one: StateResource, plugin: OpenstackPlugin): StateResource {
  if (one.type !== serverGroupType || !/::default(_\d+)*::[^:]*$/.test(one.provider ?? ""))
    return one;
  const isList = takesPolicyList(plugin);
  const [inputs, outputs] = [withPolicy(one.inputs, isList), withPolicy(one.outputs, isList)];
  return inputs === one.inputs && outputs === one.outputs ? one : { ...one, inputs, outputs };
}

/**
 * Returns the state in the form that the version of the plugin takes; the same where it has that form, and where it says what is
 * in the making: an import would forget that. Pure.
 */
export function inFormOf(state: StateExport, plugin: OpenstackPlugin): StateExport {
  const { resources, pending_operations: pending } = state.deployment;
  const formed = (resources ?? []).map((one) => inForm(one, plugin));
  const isSame = formed.every((one, index) => one === resources?.[index]);
  if (isSame || (pending ?? []).length > 0) return state;
  return { ...state, deployment: { ...state.deployment, resources: formed } };
}

/**
 * Has the plugin that the settings choose take over what another version wrote. Answers the state after it.
 *
 * @param spec absent: nobody knows which plugin it is, so that nothing is touched
 */
export const takeOver = async (
  access: StateAccess,
  found: StateExport | undefined,
  spec: Pick<ClusterSpec, "openstackPlugin"> | undefined,
): Promise<StateExport | undefined> =>
  spec
    ? rewriteState(access, found, (state) =>
        inFormOf(state, spec.openstackPlugin ?? defaultOpenstackPlugin),
      )
    : found;
