import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "./components/config/cluster-spec.js";
import { findPlainTextSecrets } from "./components/config/plain-text-secrets.js";
import { localContextOf, type LocalContext } from "./components/lookup/local-context.js";
import { completeArguments } from "./components/prepare.js";
import { CloudError } from "./openstack/http/cloud-error.js";
import {
  requireEncryptedSecrets,
  type ProviderValues,
} from "./openstack/auth/provider-settings.js";
import { requireSameConnection } from "./openstack/auth/resolve-connection.js";
import { readProviderValues } from "./components/lookup/provider-values.js";
import { createConfigError, ProgramError } from "./components/pulumi/errors.js";
import { isConfigSecret } from "./components/pulumi/pulumi-internals.js";

/** Returns the name of the file with the stack's configuration. */
export const getStackConfigFile = (): string => `Pulumi.${pulumi.getStack()}.yaml`;

/**
 * Returns the specification: `cluster` in the stack's configuration, completed by the site's
 * defaults and by the recorded defaults of an existing cluster. Throws one error with all problems.
 * No other function reads the stack's configuration.
 */
export async function readConfig(): Promise<ClusterSpec> {
  const written = new pulumi.Config().getObject<unknown>("cluster") ?? {};
  const spec = await completeArguments(written, { where: getStackConfigFile() });
  // The SDK returns decrypted secrets, so encrypted secrets look like plain text here. Plain text
  // is therefore refused only if no value in `cluster` is encrypted.
  const open = findPlainTextSecrets(spec, pulumi.getProject());
  if (open.length > 0 && !isEncrypted("cluster"))
    throw createConfigError(getStackConfigFile(), open);
  return spec;
}

/**
 * Returns the access of the user who runs the program: the cloud that `openstack:*` in the stack's
 * configuration and environment variables name, and the ssh-agent. Adds whether the settings of the
 * cluster contain an encrypted value. Throws if OpenStack's provider would use another cloud.
 */
export function getOperatorContext(): LocalContext {
  const provider = readProviderValues();
  try {
    requireEncryptedSecrets(openSettings(provider), getStackConfigFile());
    requireSameConnection(provider, process.env, getStackConfigFile());
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    throw new ProgramError(error.code, `${error.sentence} ${error.hint}`);
  }
  return { ...localContextOf(process.env), encrypted: isEncrypted("cluster") };
}

/** Returns the settings that are written in plain text. */
const openSettings = (provider: ProviderValues): ProviderValues =>
  Object.fromEntries(
    Object.entries(provider).filter(([key]) => !isConfigSecret(`openstack:${key}`)),
  );

/** Returns whether a configuration value, or a part of the value, is encrypted. */
const isEncrypted = (key: string): boolean => isConfigSecret(`${pulumi.getProject()}:${key}`);
