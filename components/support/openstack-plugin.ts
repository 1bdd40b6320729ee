import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import {
  defaultOpenstackPlugin,
  takesPolicyList,
  type OpenstackPlugin,
} from "../../base/openstack-plugins.js";
import { ProgramError } from "./errors.js";
import { kinds } from "./transform.js";

/*
 * The program, not the SDK that it is compiled with, decides which version of the OpenStack plugin
 * creates the cluster. A provider of the user's own keeps its version, which by default is the
 * SDK's. Everything that differs between the versions is here.
 */

const sdk = createRequire(__filename)("@pulumi/openstack/package.json") as { version: string };
const sdkVersion = sdk.version.replace(/^v/, "");

/**
 * Returns the `policies` of a server group: a list, which {@link withPlugin} converts to text where
 * the plugin takes that. The type `never` fits both SDKs: `policies` is a list up to version 3, and
 * text since.
 */
export const policyOf = (policy: string): never => [policy] as never;

/**
 * Adds the plugin version to the options of lookups. The engine ignores it where the options have a
 * provider.
 */
export const lookingWith = (
  plugin: OpenstackPlugin | undefined,
  opts: pulumi.InvokeOptions,
): pulumi.InvokeOptions => ({ version: plugin ?? defaultOpenstackPlugin, ...opts });

/** Returns a server group's inputs in the form that a plugin version takes. */
function inForm(props: Readonly<Record<string, unknown>>, version: string) {
  const { policies, ...others } = props;
  if (takesPolicyList(version) || !Array.isArray(policies)) return props;
  return { ...others, policies: policies[0] as unknown };
}

/**
 * Returns a hook that refuses to update a server group, because a plugin's own refusal would leave
 * an error in the state. No plugin version can update a group: the engine tries it only for the
 * reasons in the message.
 */
const refuseUpdate = (name: string): pulumi.ResourceHook =>
  new pulumi.ResourceHook(`keep-${name}`, () => {
    throw new ProgramError(
      "FAILED",
      `The server group ${name} cannot be updated: another version of the OpenStack plugin wrote it into the state, or an earlier run could not read it; run \`pulumi up --refresh --run-program\` once.`,
    );
  });

/**
 * Returns the options of a component whose children in OpenStack are created by a plugin version.
 */
export const withPlugin = (plugin?: OpenstackPlugin): pulumi.ComponentResourceOptions => {
  const transformation: pulumi.ResourceTransformation = ({ type, name, props, opts }) => {
    if (!type.startsWith("openstack:")) return undefined;
    const provider =
      (opts as pulumi.CustomResourceOptions).provider ?? opts.parent?.getProvider(type);
    const version = plugin ?? (provider ? sdkVersion : defaultOpenstackPlugin);
    const chosen = provider ? opts : { ...opts, version };
    if (type !== kinds.serverGroup) return { props, opts: chosen };
    const hooks = { beforeUpdate: [refuseUpdate(name)] };
    return {
      props: inForm(props, version),
      opts: pulumi.mergeOptions(chosen, { hooks }),
    };
  };
  return { transformations: [transformation] };
};
