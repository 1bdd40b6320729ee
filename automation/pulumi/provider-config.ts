import { isAbsolute, resolve } from "node:path";
import { isMap, isScalar } from "yaml";
import { parseYamlDocument } from "../../base/yaml.js";
import { CloudError } from "../../openstack/http/cloud-error.js";
import {
  pemProviderKeys,
  providerKeys,
  requireEncryptedSecrets,
  requireUsableProvider,
  type ProviderKey,
  type ProviderValues,
  type WrittenProviderSettings,
} from "../../openstack/auth/provider-settings.js";

/*
 * Settings of OpenStack's provider in the settings of a stack: `openstack:*`. Pulumi.yaml may give
 * them to all stacks.
 */

/** Settings of OpenStack's provider, and the file that contains them. */
export interface StackProviderSettings extends WrittenProviderSettings {
  /** Name of the file, for messages. */
  readonly where: string;
}

export interface ProviderSettingsSource {
  readonly stack: string;
  /** Text of the stack's settings, with the values of Pulumi.yaml. */
  readonly settings: string;
  /** Directory to which paths in the settings are relative. */
  readonly directory: string;
}

const prefix = "openstack:";

/**
 * Returns whether the provider reads the value as a relative path. The engine starts the provider in
 * the private directory of the stack.
 */
const isRelativePath = (key: ProviderKey, value: string): boolean =>
  pemProviderKeys.has(key) &&
  value !== "" &&
  !/^\s*-----BEGIN|^[~$]/.test(value) &&
  !isAbsolute(value);

type YamlDocument = ReturnType<typeof parseYamlDocument>;

/** Returns the settings of the provider in a file, as nodes of the document. */
function settingsIn(document: YamlDocument): readonly (readonly [ProviderKey, unknown])[] {
  const config: unknown = isMap(document.contents) ? document.get("config") : undefined;
  if (!isMap(config)) return [];
  return providerKeys.flatMap((key) => {
    const node: unknown = config.get(`${prefix}${key}`, true);
    return node === undefined || node === null ? [] : [[key, node] as const];
  });
}

/**
 * Returns the text of a scalar. Throws if Pulumi would change the digits of a number.
 *
 * @param where name of the file, for messages
 */
function textOf(key: ProviderKey, node: unknown, where: string): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  const { value } = node as { readonly value: string | number | boolean };
  const text = String(value);
  if (typeof value !== "number" || node.source === text) return text;
  throw new CloudError(
    "configuration",
    `${where}: openstack:${key}: ${node.source ?? ""} is not text; write it in quotes.`,
  );
}

/**
 * Returns the settings of OpenStack's provider in the settings of a stack, with absolute paths.
 * Throws if one of the settings is not usable, or if a secret is written in plain text.
 */
export function readProviderSettings({
  stack,
  settings,
  directory,
}: ProviderSettingsSource): StackProviderSettings {
  const where = `Pulumi.${stack}.yaml`;
  const found = settingsIn(parseYamlDocument(settings));
  const encrypted = found
    .filter(([, node]) => isMap(node) && node.has("secure"))
    .map(([key]) => key);
  const plain: ProviderValues = Object.fromEntries(
    found
      .filter(([key]) => !encrypted.includes(key))
      .map(([key, node]) => {
        const text = textOf(key, node, where) ?? (isMap(node) ? JSON.stringify(node) : "");
        return [key, isRelativePath(key, text) ? resolve(directory, text) : text];
      }),
  );
  requireUsableProvider({ plain, encrypted }, where);
  requireEncryptedSecrets(plain, where);
  return { plain, encrypted, where };
}

/** Returns the stack's settings with absolute paths in the settings of OpenStack's provider. */
export function resolveProviderPaths(settings: string, directory: string): string {
  const document = parseYamlDocument(settings);
  const relative = settingsIn(document).flatMap(([key, node]) => {
    const text = isScalar(node) && typeof node.value === "string" ? node.value : "";
    return isRelativePath(key, text) ? [[key, resolve(directory, text)] as const] : [];
  });
  if (relative.length === 0) return settings;
  for (const [key, path] of relative) document.setIn(["config", `${prefix}${key}`], path);
  return document.toString();
}
