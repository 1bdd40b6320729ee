import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import {
  defaultOpenstackPlugin,
  takesPolicyList,
  type PulumiOpenstackVersion,
} from "../../base/versions/pulumi-openstack-versions.js";
import { ProgramError } from "./errors.js";
import { transformableTypes } from "./transforms.js";

/*
 * The program, not the installed SDK, determines which version of the OpenStack plugin creates the
 * cluster. A provider that the user passes keeps its own version, which is by default the SDK's
 * version. This file contains all code that depends on the version of the plugin.
 */

const sdk = createRequire(__filename)("@pulumi/openstack/package.json") as { version: string };
const sdkVersion = sdk.version.replace(/^v/, "");

/**
 * Returns the `policies` of a server group: a list with one policy. {@link
 * createPluginVersionOptions} converts the list for plugins that take a string. In the SDK, the
 * type of `policies` is a list up to version 3 and a string since version 4. The type `never` fits
 * both versions.
 */
export const toServerGroupPolicies = (policy: string): never => [policy] as never;

/**
 * Returns the options of a lookup, with the plugin version added. If the options contain a
 * provider, the engine ignores the version.
 */
export const addPluginVersion = (
  plugin: PulumiOpenstackVersion | undefined,
  opts: pulumi.InvokeOptions,
): pulumi.InvokeOptions => ({ version: plugin ?? defaultOpenstackPlugin, ...opts });

/** Returns the inputs of a server group for a plugin version: `policies` is a list or a string. */
function inForm(props: Readonly<Record<string, unknown>>, version: string) {
  const { policies, ...others } = props;
  if (takesPolicyList(version) || !Array.isArray(policies)) return props;
  return { ...others, policies: policies[0] as unknown };
}

/**
 * Returns a hook that refuses every update of a server group. No plugin version can update a server
 * group, and a plugin's own refusal would leave an error in the state. The hook's message names the
 * reasons for which the engine tries an update.
 */
const refuseUpdate = (name: string): pulumi.ResourceHook =>
  new pulumi.ResourceHook(`keep-${name}`, () => {
    throw new ProgramError(
      "FAILED",
      `The server group ${name} cannot be updated: another version of the OpenStack plugin wrote it into the state, or an earlier run could not read it; run \`pulumi up --refresh --run-program\` once.`,
    );
  });

/**
 * Returns component options that select the plugin version for all OpenStack resources below the
 * component.
 */
export const createPluginVersionOptions = (
  plugin?: PulumiOpenstackVersion,
): pulumi.ComponentResourceOptions => {
  const transformation: pulumi.ResourceTransformation = ({ type, name, props, opts }) => {
    if (!type.startsWith("openstack:")) return undefined;
    const provider =
      (opts as pulumi.CustomResourceOptions).provider ?? opts.parent?.getProvider(type);
    const version = plugin ?? (provider ? sdkVersion : defaultOpenstackPlugin);
    const chosen = provider ? opts : { ...opts, version };
    if (type !== transformableTypes.serverGroup) return { props, opts: chosen };
    const hooks = { beforeUpdate: [refuseUpdate(name)] };
    return {
      props: inForm(props, version),
      opts: pulumi.mergeOptions(chosen, { hooks }),
    };
  };
  return { transformations: [transformation] };
};
