import {
  defaultOpenstackPlugin,
  takesPolicyList,
  type OpenstackPlugin,
} from "../../base/openstack-plugins.js";
import { isOfCluster } from "./ours.js";
import type { Run } from "./run.js";
import { describesCluster, openstackPluginIn } from "./spec.js";
import { rewriteState, withResources, type StateExport, type StateResource } from "./state.js";
import { serverGroupType } from "./urn.js";

/*
 * Versions of the OpenStack plugin write the policy of a server group differently into the state:
 * as a list up to version 3, as text since. With the other form, the engine updates or replaces the
 * group (docs/decisions/0032-openstack-plugin.md).
 */

/**
 * Output in which the plugin records the types of the other outputs. Without it, the plugin derives
 * them from its schema.
 */
const typesRecord = "__pulumi_raw_state_delta";

type Values = Readonly<Record<string, unknown>>;

function withPolicy(values: Values | undefined, isList: boolean): Values | undefined {
  const policies = values?.["policies"];
  const [policy, ...more]: unknown[] = [policies].flat();
  if (!values || typeof policy !== "string" || more.length > 0) return values;
  if (Array.isArray(policies) === isList) return values;
  const others = Object.entries(values).filter(([name]) => name !== typesRecord);
  return { ...Object.fromEntries(others), policies: isList ? [policy] : policy };
}

/**
 * Returns the version of the default provider of a cluster's server group, "" if it has none;
 * undefined for any other resource.
 */
function defaultVersion(one: StateResource): string | undefined {
  if (one.type !== serverGroupType || !isOfCluster(one)) return undefined;
  const [, version] = /::default((?:_\d+)*)::[^:]*$/.exec(one.provider ?? "") ?? [];
  return version?.slice(1).replaceAll("_", ".");
}

/**
 * Returns a server group in the form of a plugin version. Groups of the program's own providers are
 * left alone.
 */
function inForm(one: StateResource, plugin: OpenstackPlugin): StateResource {
  if (defaultVersion(one) === undefined) return one;
  const isList = takesPolicyList(plugin);
  const [inputs, outputs] = [withPolicy(one.inputs, isList), withPolicy(one.outputs, isList)];
  return inputs === one.inputs && outputs === one.outputs ? one : { ...one, inputs, outputs };
}

/** Returns the state with server groups in the form of a plugin version. */
export const inFormOf = (state: StateExport, plugin: OpenstackPlugin): StateExport =>
  withResources(state, (one) => inForm(one, plugin));

/**
 * Returns the plugin version of the cluster; undefined where a program of the user's own chooses
 * it.
 */
function pluginOf(run: Run): OpenstackPlugin | undefined {
  const sources = run.sources();
  if (!describesCluster(sources)) return undefined;
  const siteFile = run.service.env["STACKADM_SITE"];
  return openstackPluginIn({ ...sources, siteFile }) ?? defaultOpenstackPlugin;
}

/**
 * Rewrites server groups in the state for the plugin version of the cluster. Returns the state
 * after that.
 */
export const takeOver = async (
  run: Run,
  found: StateExport | undefined,
): Promise<StateExport | undefined> => {
  const plugin = pluginOf(run);
  return plugin ? rewriteState(run.access, found, (state) => inFormOf(state, plugin)) : found;
};

/**
 * Returns the URNs of server groups that {@link takeOver} rewrites: what the engine plans for them
 * will not happen.
 */
export function takenOver(run: Run, state: StateExport | undefined): ReadonlySet<string> {
  const plugin = pluginOf(run);
  const groups =
    plugin && state?.deployment.resources?.filter((one) => inForm(one, plugin) !== one);
  return new Set(groups?.map(({ urn }) => urn));
}

/**
 * Returns the URNs of server groups whose provider in the state has a version with another form,
 * because {@link takeOver} has rewritten them. The engine reads a resource with that provider: a
 * refresh would undo the rewriting.
 */
export const misreadIn = (state: StateExport | undefined): string[] =>
  (state?.deployment.resources ?? []).flatMap((one) => {
    const version = defaultVersion(one) ?? "";
    const isOther =
      version !== "" && takesPolicyList(version) !== Array.isArray(one.inputs?.["policies"]);
    return isOther ? [one.urn] : [];
  });
