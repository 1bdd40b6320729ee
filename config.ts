import { execFileSync } from "node:child_process";
import * as pulumi from "@pulumi/pulumi";
import { validateClusterSpec } from "./components/config/validate-cluster-spec.js";
import type { ClusterSpec } from "./components/config/cluster-spec.js";
import {
  isPlainObject,
  mergeDefaults,
  choosePublicKey,
} from "./components/schema/merge-defaults.js";
import { findPlainTextSecrets } from "./components/config/plain-text-secrets.js";
import {
  getPinnedFileDirectories,
  localContextOf,
  type LocalContext,
} from "./components/lookup/local-context.js";
import { CloudError } from "./openstack/http/cloud-error.js";
import {
  requireEncryptedSecrets,
  type ProviderValues,
} from "./openstack/auth/provider-settings.js";
import { requireSameConnection } from "./openstack/auth/resolve-connection.js";
import { readProviderValues } from "./components/lookup/provider-values.js";
import { createConfigError, ProgramError } from "./components/pulumi/errors.js";
import { isConfigSecret } from "./components/pulumi/pulumi-internals.js";
import { withSiteDefaults } from "./components/config/site-defaults.js";
import { withRecordedDefaults } from "./components/config/recorded-defaults.js";
import { readRecordedValues } from "./components/lifecycle/immutable-values.js";

/** Returns the name of the file with the stack's configuration. */
export const getStackConfigFile = (): string => `Pulumi.${pulumi.getStack()}.yaml`;

/**
 * Returns the specification: `cluster` in the stack's configuration, completed by the site's
 * defaults and by the recorded defaults of an existing cluster. Throws one error with all problems. No other function reads the stack's configuration.
 */
export async function readConfig(): Promise<ClusterSpec> {
  const stack = pulumi.getStack();
  const written = new pulumi.Config().getObject<unknown>("cluster") ?? {};
  const given = mergeDefaults({ name: stack }, withSiteDefaults(written, process.env));
  const args = withRecordedDefaults(given, await readRecordedValues(nameIn(given)));
  const result = validateClusterSpec(withLoginKey(args), getPinnedFileDirectories(process.env));
  if ("problems" in result) throw createConfigError(getStackConfigFile(), result.problems);
  // The SDK returns decrypted secrets, so encrypted secrets look like plain text here. Plain text
  // is therefore refused only if no value in `cluster` is encrypted.
  const open = findPlainTextSecrets(result.spec, pulumi.getProject());
  if (open.length > 0 && !isEncrypted("cluster"))
    throw createConfigError(getStackConfigFile(), open);
  return result.spec;
}

/** Returns the name of the cluster. An invalid name gives an empty text. */
const nameIn = (args: unknown): string =>
  isPlainObject(args) && typeof args["name"] === "string" ? args["name"] : "";

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

/**
 * Returns the arguments with the login key `ssh.publicKey`. If the user wrote none, takes a key
 * from the ssh-agent.
 */
function withLoginKey(args: unknown): unknown {
  const configured =
    isPlainObject(args) && isPlainObject(args["ssh"]) ? args["ssh"]["publicKey"] : undefined;
  const publicKey = configured ?? choosePublicKey(agentKeys());
  return publicKey === undefined
    ? mergeDefaults({ ssh: {} }, args)
    : mergeDefaults({ ssh: { publicKey } }, args);
}

/** Time in which the ssh-agent must answer. A forwarded agent hangs if its connection does. */
const agentMilliseconds = 15_000;

function agentKeys(): readonly string[] {
  try {
    const output = execFileSync("ssh-add", ["-L"], {
      encoding: "utf8",
      stdio: "pipe",
      timeout: agentMilliseconds,
    });
    return output.split("\n").filter((line) => line.includes(" AAAA"));
  } catch {
    // `ssh-add` fails without an agent, a key or OpenSSH, and if the agent hangs. The schema reports
    // the missing login key.
    return [];
  }
}
