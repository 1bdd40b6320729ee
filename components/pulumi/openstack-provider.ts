import * as pulumi from "@pulumi/pulumi";
import { createArgumentError } from "./errors.js";

/** Any type of the package, to ask a component for its provider. */
const anyType = "openstack:networking/network:Network";

/**
 * Returns the options with the provider that looked up the cluster's objects. A provider in `opts`
 * takes precedence, so that {@link requireSameProvider} finds a difference.
 */
export const addPreparedProvider = (
  opts: pulumi.ComponentResourceOptions | undefined,
  prepared: pulumi.ProviderResource | undefined,
): pulumi.ComponentResourceOptions => {
  if (!prepared) return { ...opts };
  const { provider, providers = [], ...others } = opts ?? {};
  const written = [...Object.values(providers), ...(provider ? [provider] : [])];
  return { ...others, providers: [prepared, ...written] };
};

/**
 * Throws if the component's objects were looked up with another provider than the one that creates
 * its resources: names would then lead to objects of another cloud.
 */
export function requireSameProvider(
  component: pulumi.ComponentResource,
  lookedUp: object | undefined,
  provider: pulumi.ProviderResource | undefined,
): void {
  if (lookedUp === undefined || component.getProvider(anyType) === provider) return;
  const message =
    "differs from the provider of `prepare`; write `prepare(args, { provider })` with the provider of the cluster, and leave it out of the cluster's options";
  throw createArgumentError(component, [{ path: "providers", message }]);
}
