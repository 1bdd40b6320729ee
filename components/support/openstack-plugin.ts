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
 * The program says which version of the OpenStack plugin works for it, whichever SDK it is compiled with, and gives each version
 * what that takes. A provider of the caller's own decides by itself: by default it is of the SDK's version.
 */

const sdk = createRequire(__filename)("@pulumi/openstack/package.json") as { version: string };
const sdkVersion = sdk.version.replace(/^v/, "");

/** Returns the policy of a server group, as the program writes it. Its type in the SDK is a list up to version 3, and text since. */
export const policyOf = (policy: string): never => [policy] as never;

/** Adds the version of the plugin to the options of lookups. A provider among them comes before it. */
export const lookingWith = (
  plugin: string | undefined,
  opts: pulumi.InvokeOptions,
): pulumi.InvokeOptions => ({ version: plugin ?? defaultOpenstackPlugin, ...opts });

/** Returns a server group's inputs as that version takes them. */
function inForm(props: Readonly<Record<string, unknown>>, version: string) {
  const { policies, ...others } = props;
  if (takesPolicyList(version) || !Array.isArray(policies)) return props;
  return { ...others, policies: policies[0] as unknown };
}

/**
 * Refuses to change a server group before the plugin does, which would leave an error in the state. No version can change one; the
 * engine only tries it where the state has the policy in the form of another version.
 */
const unchanging = (name: string): pulumi.ResourceHook =>
  new pulumi.ResourceHook(`keep-${name}`, () => {
    throw new ProgramError(
      "FAILED",
      `The state has the server group ${name} as another version of the OpenStack plugin wrote it; run \`pulumi up --refresh\` once, which reads it anew.`,
    );
  });

/** Returns the options of a component whose children in OpenStack that version of the plugin makes. */
export const withPlugin = (plugin?: OpenstackPlugin): pulumi.ComponentResourceOptions => {
  const transformation: pulumi.ResourceTransformation = ({ type, name, props, opts }) => {
    if (!type.startsWith("openstack:")) return undefined;
    const isOwn = (opts as pulumi.CustomResourceOptions).provider ?? opts.parent?.getProvider(type);
    const version = plugin ?? (isOwn ? sdkVersion : defaultOpenstackPlugin);
    const chosen = isOwn ? opts : { ...opts, version };
    if (type !== kinds.serverGroup) return { props, opts: chosen };
    const hooks = { beforeUpdate: [unchanging(name)] };
    return {
      props: inForm(props as Record<string, unknown>, version),
      opts: pulumi.mergeOptions(chosen, { hooks }),
    };
  };
  return { transformations: [transformation] };
};
