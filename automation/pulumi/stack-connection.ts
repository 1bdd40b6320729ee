import { z } from "zod";
import { findCloudSecrets } from "../../openstack/auth/cloud-secrets.js";
import { resolveConnection } from "../../openstack/auth/resolve-connection.js";
import {
  getProviderDecision,
  listProviderSettings,
  nameSettings,
  type ProviderValues,
} from "../../openstack/auth/provider-settings.js";
import { Failure } from "../../base/failures/failure.js";
import type { Redactor } from "../../base/terminal/redact-secrets.js";
import {
  readProviderSettings,
  type ProviderSettingsSource,
  type StackProviderSettings,
} from "./provider-config.js";
import { runPulumi, type StateAccess } from "./stack-state.js";

export interface StackConnectionOptions {
  readonly source: ProviderSettingsSource;
  /** Environment of the user. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs work that needs the stack's settings in its private directory. */
  readonly show: <T>(work: (access: StateAccess) => Promise<T>) => Promise<T>;
  /** Receives the secrets of the login. Default: no one. */
  readonly redactor?: Pick<Redactor, "add"> | undefined;
}

/** Connection of a stack to its cloud, from the settings of the stack and the environment. */
export class StackConnection {
  /** Environment with the connection, without the values of encrypted settings. */
  readonly env: NodeJS.ProcessEnv;
  /** Sentence about variables of the user's environment that the settings replace, if there are any. */
  readonly advice: string | undefined;
  /** Names of the settings that take part in the connection, and their file. Undefined: none. */
  readonly source: string | undefined;
  /** Whether the login is known without a decryption. */
  readonly isOpen: boolean;
  readonly #provider: StackProviderSettings;
  #login: Promise<NodeJS.ProcessEnv> | undefined;

  constructor(private readonly options: StackConnectionOptions) {
    const { env, redactor } = options;
    this.#provider = readProviderSettings(options.source);
    const { plain, encrypted, where } = this.#provider;
    const { env: resolved, replaced } = resolveConnection(plain, env, { encrypted, where });
    this.env = resolved;
    this.advice = describeReplacedVariables(replaced, this.#provider);
    this.source = describeSource(this.#provider);
    this.isOpen = encrypted.length === 0;
    if (resolved !== env) redactor?.add(findCloudSecrets(resolved));
  }

  /** Returns the environment with the whole login. */
  login(): Promise<NodeJS.ProcessEnv> {
    this.#login ??= this.isOpen ? Promise.resolve(this.env) : this.decrypt();
    return this.#login;
  }

  private async decrypt(): Promise<NodeJS.ProcessEnv> {
    const { plain, where } = this.#provider;
    const { show, redactor } = this.options;
    const secrets = await show((access) => decryptProviderSettings(access, this.#provider));
    redactor?.add(secrets);
    return resolveConnection({ ...plain, ...secrets }, this.env, { where }).env;
  }
}

/** Returns the names of the settings of a connection with their file. Undefined: there are none. */
function describeSource({ plain, encrypted, where }: StackProviderSettings): string | undefined {
  const all = [...listProviderSettings(plain).map(([key]) => key), ...encrypted];
  const keys = all.filter((key) => getProviderDecision(key).kind === "connection");
  return keys.length === 0 ? undefined : `${nameSettings(keys)} in ${where}`;
}

/** Returns a sentence about variables that the settings replace. Undefined: there are none. */
export const describeReplacedVariables = (
  replaced: readonly string[],
  provider: StackProviderSettings,
): string | undefined =>
  replaced.length === 0
    ? undefined
    : `Not used from your environment: ${replaced.join(", ")}. The settings of the stack win: ${describeSource(provider) ?? ""}.`;

/** Output of `pulumi config --json --show-secrets`. */
const shownConfig = z.record(z.string(), z.looseObject({ value: z.string().optional() }));

/**
 * Returns the values of encrypted settings of OpenStack's provider. The engine must be about to use
 * these settings: see `withStackSettings`. Throws if the stack or the passphrase is missing.
 */
async function decryptProviderSettings(
  access: StateAccess,
  { encrypted, where }: StackProviderSettings,
): Promise<ProviderValues> {
  const accept = [0, 1, 2, 3, 4, 5, 6, 7, 8, 255];
  const command = ["config", "--json", "--show-secrets"];
  const { code, stdout, stderr } = await runPulumi(access, command, { accept });
  const names = `${where}: ${nameSettings(encrypted)}`;
  if (code !== 0 && /no stack named/.test(stderr))
    throw new Failure(
      "STACK_NOT_FOUND",
      `${names} cannot be decrypted, because the backend has no stack '${access.workspace.stack}'.`,
      `Create the stack with \`pulumi stack init ${access.workspace.stack}\`, or write the login into clouds.yaml and its name into openstack:cloud.`,
    );
  if (code !== 0) throw createUnreadableError(names, stderr);
  const shown = shownConfig.parse(JSON.parse(stdout));
  return Object.fromEntries(
    encrypted.map((key) => [key, shown[`openstack:${key}`]?.value ?? ""] as const),
  );
}

/** Returns the error for settings that the engine cannot decrypt. */
function createUnreadableError(names: string, stderr: string): Failure {
  const [line = stderr.trim()] = /\berror: .*/.exec(stderr) ?? [];
  const isPassphrase = /passphrase/.test(line);
  return new Failure(
    isPassphrase ? "WRONG_PASSPHRASE" : "INVALID_CONFIG",
    isPassphrase
      ? `${names} cannot be decrypted: the passphrase is wrong, or none is set.`
      : `${names} cannot be decrypted: ${line}`,
  );
}
