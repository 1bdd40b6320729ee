import {
  defaultOpenstackPlugin,
  takesPolicyList,
  type PulumiOpenstackVersion,
} from "../../base/versions/pulumi-openstack-versions.js";
import { isInClusterComponent } from "./cluster-stack.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { OperationFacts, OperationStep } from "../steps/step.js";
import { describesCluster, readOpenstackPluginVersion } from "../engine/stack-settings.js";
import { parseDefaultProviderVersion, rawStateDeltaKey } from "../pulumi/pulumi-internals.js";
import {
  rewriteState,
  mapStateResources,
  type StateExport,
  type StateResource,
} from "../pulumi/stack-state.js";
import { serverGroupType } from "../pulumi/urn.js";

/*
 * Converts the policy of server groups in the state to the form of the OpenStack plugin's version.
 * The form is a list up to version 3, and text in later versions. If the state had the form of
 * another version, the engine would update or replace the server group
 * (docs/decisions/0032-openstack-plugin.md).
 */

type Values = Readonly<Record<string, unknown>>;

function withPolicy(values: Values | undefined, isList: boolean): Values | undefined {
  const policies = values?.["policies"];
  const [policy, ...more]: unknown[] = [policies].flat();
  if (!values || typeof policy !== "string" || more.length > 0) return values;
  if (Array.isArray(policies) === isList) return values;
  const others = Object.entries(values).filter(([name]) => name !== rawStateDeltaKey);
  return { ...Object.fromEntries(others), policies: isList ? [policy] : policy };
}

/**
 * Returns the plugin version of a server group, from the name of the server group's default
 * provider. Returns "" if the name contains no version. Returns undefined for other resources, and
 * for server groups with another provider.
 */
function defaultVersion(one: StateResource): string | undefined {
  if (one.type !== serverGroupType || !isInClusterComponent(one)) return undefined;
  return parseDefaultProviderVersion(one.provider ?? "");
}

/**
 * Returns a server group with its policy in the form of this plugin version. Returns other
 * resources, and server groups with an explicit provider, unchanged.
 */
function inForm(one: StateResource, plugin: PulumiOpenstackVersion): StateResource {
  if (defaultVersion(one) === undefined) return one;
  const isList = takesPolicyList(plugin);
  const [inputs, outputs] = [withPolicy(one.inputs, isList), withPolicy(one.outputs, isList)];
  return inputs === one.inputs && outputs === one.outputs ? one : { ...one, inputs, outputs };
}

/** Returns the state with all server groups in the form of this plugin version. */
export const convertRecordedServerGroups = (
  state: StateExport,
  plugin: PulumiOpenstackVersion,
): StateExport => mapStateResources(state, (one) => inForm(one, plugin));

/**
 * Returns the plugin version for the cluster. Undefined if the settings describe no cluster,
 * because the user's own program then selects the version.
 */
function pluginOf(run: StackOperation): PulumiOpenstackVersion | undefined {
  const sources = run.sources();
  if (!describesCluster(sources)) return undefined;
  const siteFile = run.service.env["STACKADM_SITE"];
  return readOpenstackPluginVersion({ ...sources, siteFile }) ?? defaultOpenstackPlugin;
}

/** Rewrites server groups in the state for the plugin version of the cluster. */
export const rewriteServerGroups: OperationStep<OperationFacts, never, PulumiOpenstackVersion> = {
  title: "Write server groups in the form of the OpenStack plugin",
  silent: true,
  detect: ({ run, state }) => {
    const plugin = pluginOf(run);
    return plugin && state && convertRecordedServerGroups(state, plugin) !== state
      ? plugin
      : undefined;
  },
  apply: async (facts, plugin) => {
    const change = (state: StateExport): StateExport => convertRecordedServerGroups(state, plugin);
    facts.state = await rewriteState(facts.run.access, facts.state, change);
  },
};

/**
 * Returns the URNs of server groups that {@link rewriteServerGroups} would convert. A preview may
 * show changes of these server groups. These changes will not happen, because `up` converts the
 * state first.
 */
export function findUnconvertedServerGroups(
  run: StackOperation,
  state: StateExport | undefined,
): ReadonlySet<string> {
  const plugin = pluginOf(run);
  const groups =
    plugin && state?.deployment.resources?.filter((one) => inForm(one, plugin) !== one);
  return new Set(groups?.map(({ urn }) => urn));
}

/**
 * Returns the URNs of converted server groups (see {@link rewriteServerGroups}) whose provider in
 * the state still has the old version. A refresh uses this provider, and would undo the conversion.
 */
export const findConvertedServerGroups = (state: StateExport | undefined): string[] =>
  (state?.deployment.resources ?? []).flatMap((one) => {
    const version = defaultVersion(one) ?? "";
    const isOther =
      version !== "" && takesPolicyList(version) !== Array.isArray(one.inputs?.["policies"]);
    return isOther ? [one.urn] : [];
  });
