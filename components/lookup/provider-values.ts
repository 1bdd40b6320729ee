import * as pulumi from "@pulumi/pulumi";
import { providerKeys, type ProviderValues } from "../../openstack/auth/provider-settings.js";

/**
 * Returns the settings of the default provider of OpenStack: `openstack:*` in the stack's
 * configuration, decrypted.
 */
export function readProviderValues(): ProviderValues {
  const config = new pulumi.Config("openstack");
  return Object.fromEntries(
    providerKeys.flatMap((key) => {
      const value = config.get(key);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}
