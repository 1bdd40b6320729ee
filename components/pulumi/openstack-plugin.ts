import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import {
  defaultOpenstackPlugin,
  takesPolicyList,
  type OpenstackPlugin,
} from "../../base/versions/openstack-plugin-versions.js";
import { ProgramError } from "./errors.js";
import { transformableTypes } from "./transforms.js";

/*
 * The program, not the installed SDK, decides which version of the OpenStack plugin creates the
 * cluster. A provider that the user passes keeps its version, by default the SDK's version. Code
 * that depends on the version of the plugin belongs into this file.
 */

const sdk = createRequire(__filename)("@pulumi/openstack/package.json") as { version: string };
const sdkVersion = sdk.version.replace(/^v/, "");

/**
 * Returns the `policies` of a server group as a list. {@link pluginOptions} converts the list to a
 * string if the plugin takes a string. The type `never` is valid with both SDKs: `policies` is a
 * list up to version 3 and a string since.
 */
export const serverGroupPolicies = (policy: string): never => [policy] as never;

/**
 * Adds the plugin version to the options of lookups. If the options contain a provider, the engine
 * ignores the version.
 */
export const withPluginVersion = (
  plugin: OpenstackPlugin | undefined,
  opts: pulumi.InvokeOptions,
): pulumi.InvokeOptions => ({ version: plugin ?? defaultOpenstackPlugin, ...opts });

/** Returns the inputs of a server group in the form that a plugin version takes. */
function inForm(props: Readonly<Record<string, unknown>>, version: string) {
  const { policies, ...others } = props;
  if (takesPolicyList(version) || !Array.isArray(policies)) return props;
  return { ...others, policies: policies[0] as unknown };
}

/**
 * Returns a hook that refuses every update of a server group. No plugin version can update a server
 * group, and the refusal of a plugin would leave an error in the state. The message of this error
 * lists the reasons for which the engine tries an update.
 */
const refuseUpdate = (name: string): pulumi.ResourceHook =>
  new pulumi.ResourceHook(`keep-${name}`, () => {
    throw new ProgramError(
      "FAILED",
      `The server group ${name} cannot be updated: another version of the OpenStack plugin wrote it into the state, or an earlier run could not read it; run \`pulumi up --refresh --run-program\` once.`,
    );
  });

/**
 * Returns the options of a component for whose children a plugin version creates the OpenStack
 * objects.
 */
export const pluginOptions = (plugin?: OpenstackPlugin): pulumi.ComponentResourceOptions => {
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
