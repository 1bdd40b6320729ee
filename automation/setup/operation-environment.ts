import { existsSync } from "node:fs";
import type { Toolchain } from "../toolchain/toolchain.js";
import { Failure } from "../../base/failures/failure.js";
import type { PulumiOpenstackVersion } from "../../base/versions/pulumi-openstack-versions.js";
import { getLabFolderName, getLabName, getPackageRoot, getStatePath } from "../../base/paths.js";
import { silentProgress, type Progress } from "../../base/progress.js";
import { createRedactor, redactError } from "../../base/terminal/redact-secrets.js";
import { backendVariable } from "../pulumi/backend.js";
import { chooseCloudHint } from "../../openstack/auth/clouds-file.js";
import { resolveConnection } from "../../openstack/auth/resolve-connection.js";
import { describeReplacedVariables } from "../pulumi/stack-connection.js";
import type { StackProviderSettings } from "../pulumi/provider-config.js";
import { getGrpcVariables } from "../pulumi/engine-environment.js";
import { readOwner } from "../pulumi/locks/owner-record.js";
import { readProjectBackend } from "../pulumi/project-files.js";
import { ensureCommands } from "../../base/host-packages.js";
import { chooseBackend, type BackendChoice, type BackendRuleOptions } from "./choose-backend.js";
import { preparePassphraseEnvironment } from "./passphrase-variable.js";
import { findDirectoriesWithStack } from "./stack-places.js";
import { ensureAgent, createNewKeyReporter, type SshAgent } from "./ssh-agent.js";

/** Names and paths of the lab. */
export interface LabSettings {
  /** Name of the entry in clouds.yaml that reaches the lab's cloud by HTTP. */
  readonly cloud: string;
  /** Name of the entry in clouds.yaml that reaches the lab's cloud by HTTPS. */
  readonly tlsCloud: string;
  readonly cloudsFile: string;
  readonly siteFile: string;
}

/** Returns names and paths of the lab. The files exist only while the lab runs. */
export const getLabSettings = (): LabSettings => ({
  cloud: getLabName(),
  tlsCloud: `${getLabName()}-tls`,
  cloudsFile: getStatePath(getLabFolderName(), "clouds.yaml"),
  siteFile: getStatePath(getLabFolderName(), "site.yaml"),
});

export const isLabRunning = (): boolean => existsSync(getLabSettings().cloudsFile);

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

/** Returns whether the user's environment names a cloud. */
export const namesCloud = (env: NodeJS.ProcessEnv): boolean =>
  isSet(env["OS_CLOUD"]) || isSet(env["OS_AUTH_URL"]);

/**
 * Returns whether an operation uses the lab's cloud: OS_CLOUD names this cloud, or the environment
 * names no cloud and the lab runs.
 */
export function usesLab(env: NodeJS.ProcessEnv): boolean {
  const { cloud, tlsCloud } = getLabSettings();
  if ([cloud, tlsCloud].includes(env["OS_CLOUD"] ?? "")) return true;
  return !namesCloud(env) && isLabRunning();
}

/**
 * Returns true if the toolchain may replace missing plugins by stand-ins: for the lab's cloud, and
 * if the environment names no cloud. Returns undefined for other clouds, which need the official
 * plugins.
 */
export const usesStandInsByDefault = (env: NodeJS.ProcessEnv): true | undefined =>
  usesLab(env) || !namesCloud(env) ? true : undefined;

/**
 * Returns the variables that select the lab's cloud. Returns no variables if the environment names
 * another cloud. Throws if the environment names no cloud and the lab does not run.
 */
export function selectCloudEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  if (!usesLab(env)) {
    if (namesCloud(env)) return {};
    throw new Failure(
      "CLOUD_NOT_CONFIGURED",
      "No cloud is configured: neither OS_CLOUD nor OS_AUTH_URL is set, the settings of the stack name no cloud, and the lab does not run.",
      chooseCloudHint,
    );
  }
  const { cloud, cloudsFile, siteFile } = getLabSettings();
  return {
    OS_CLOUD: isSet(env["OS_CLOUD"]) ? env["OS_CLOUD"] : cloud,
    OS_CLIENT_CONFIG_FILE: cloudsFile,
    STACKADM_SITE: env["STACKADM_SITE"] ?? siteFile,
  };
}

/** Returns what the rule for the backend depends on, in a project or without one. */
export const getBackendRule = (
  env: NodeJS.ProcessEnv,
  projectDirectory?: string,
): BackendRuleOptions => ({
  env,
  project: projectDirectory === undefined ? undefined : readProjectBackend(projectDirectory),
  onLab: usesLab(env),
});

/** Returns the options of a service with the backend that they name, or that the rule chooses. */
export const withChosenBackend = <
  Options extends Pick<EnvironmentOptions, "projectDirectory"> & {
    readonly env: NodeJS.ProcessEnv;
    readonly backend?: string;
  },
>(
  options: Options,
): Options & { readonly backend: string } => {
  const { env, backend, projectDirectory = getPackageRoot() } = options;
  return {
    ...options,
    backend: backend ?? chooseBackend(getBackendRule(env, projectDirectory)).url,
  };
};

/**
 * Pattern of valid values, and advice, for environment variables that the engine or OpenStack's
 * provider reads. Their own error messages about invalid values do not help the user.
 */
const readElsewhere: Readonly<Record<string, readonly [RegExp, string]>> = {
  PULUMI_PARALLEL: [
    /^[1-9]\d{0,5}$/,
    "Write the number of resources that the engine works on in parallel, such as 8, or unset it.",
  ],
  OS_INSECURE: [/^(1|0|t|f|true|false)$/i, "Write true or false, or unset it."],
};

function requireVariables(env: NodeJS.ProcessEnv): void {
  for (const [name, [fits, hint]] of Object.entries(readElsewhere)) {
    const value = env[name];
    if (isSet(value) && !fits.test(value))
      throw new Failure("INVALID_USAGE", `${name}: '${value}' cannot be used.`, hint);
  }
  readOwner(env);
}

export interface OperationEnvironment {
  /** All environment variables for the engine, the plugins and the program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables in `env` whose values differ from the user's environment. */
  readonly changes: Readonly<Record<string, string>>;
  /** URL of the state backend. */
  readonly backend: string;
  /** Setting that chose the backend. */
  readonly chosenBy: BackendChoice["chosenBy"];
  readonly onLab: boolean;
  readonly toolchain: Toolchain;
  /** SSH agent with the login key. Absent if the caller requested no agent. */
  readonly agent?: SshAgent;
  close(): Promise<void>;
}

export interface EnvironmentOptions {
  /** Progress of long work is reported to this object. Default: not reported. */
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
  /** Environment of the user. Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * Directory with Pulumi.yaml, whose `backend.url` names the backend unless PULUMI_BACKEND_URL is
   * set. Default: no Pulumi.yaml is read.
   */
  readonly projectDirectory?: string;
  /**
   * Name of the stack in the project. If its passphrase is missing, the error names other backends
   * that have this stack. Default: the error names none.
   */
  readonly stack?: string;
  /** Called with the backend before the tools are prepared, which may take minutes. */
  readonly onBackend?: (choice: BackendChoice) => void;
  /**
   * Settings of OpenStack's provider in the settings of the stack, which override OS_* variables.
   * `readProviderSettings` returns them. Default: none.
   */
  readonly provider?: StackProviderSettings | undefined;
  /** Version of the OpenStack plugin. Default: `defaultOpenstackPlugin`. */
  readonly openstackPlugin?: PulumiOpenstackVersion | undefined;
  /** Whether to start an ssh-agent unless an agent with a key runs. Default: true. */
  readonly agent?: boolean;
  /**
   * Whether the stack's secrets need a passphrase. False if the settings name another secrets
   * provider. With "optional", a missing passphrase is only reported. Default: true.
   */
  readonly passphrase?: boolean | "optional";
}

export const sshCommandPackages = { "ssh-agent": "openssh-client", "ssh-add": "openssh-client" };

/** Returns the path of the login key that stackadm creates for this user. */
export const getLoginKeyPath = (): string => getStatePath("ssh", "id_ed25519");

/**
 * Prepares the environment of an operation: toolchain, cloud, backend, passphrase and login key.
 * Creates missing parts.
 */
export async function prepareEnvironment(
  options: EnvironmentOptions = {},
): Promise<OperationEnvironment> {
  const env = options.env ?? process.env;
  return prepare(env, options).catch((error: unknown): never => {
    throw redactError(error, createRedactor(env));
  });
}

/**
 * Returns the environment that leads to the cloud of the stack. Notes the variables of the user that
 * the settings replace.
 */
export function applyProviderSettings(
  env: NodeJS.ProcessEnv,
  { provider, progress = silentProgress }: Pick<EnvironmentOptions, "provider" | "progress">,
): NodeJS.ProcessEnv {
  if (provider === undefined) return env;
  const { plain, ...options } = provider;
  const { env: resolved, replaced } = resolveConnection(plain, env, options);
  const advice = describeReplacedVariables(replaced, provider);
  if (advice !== undefined) progress.note(advice);
  return resolved;
}

async function prepare(
  user: NodeJS.ProcessEnv,
  options: EnvironmentOptions,
): Promise<OperationEnvironment> {
  const env = applyProviderSettings(user, options);
  requireVariables(env);
  const cloud = selectCloudEnvironment(env);
  // Checks the backend before the toolchain, because an installation of the toolchain may take
  // minutes, and the user should see an error of the backend first.
  const rule = getBackendRule(env, options.projectDirectory);
  const { url: backend, chosenBy, setting } = chooseBackend(rule);
  options.onBackend?.({ url: backend, chosenBy, setting });
  const { progress = silentProgress, signal, passphrase: needed = true } = options;
  const note = (text: string): void => {
    progress.note(text);
  };
  const { stack, projectDirectory } = options;
  const listPlaces = (): string[] =>
    stack === undefined || projectDirectory === undefined
      ? []
      : findDirectoriesWithStack(backend, { rule, stack, projectDirectory });
  const passphrase = preparePassphraseEnvironment(env, { backend, needed, note, listPlaces });
  // The toolchain's code is loaded only here, so that commands without an engine start faster.
  const { ensureToolchain } = await import("../toolchain/toolchain.js");
  const toolchain = await ensureToolchain({
    progress,
    signal,
    env,
    standIns: usesStandInsByDefault(env),
    openstackPlugin: options.openstackPlugin,
  });
  if (options.agent !== false) await ensureCommands(sshCommandPackages, progress);
  const agent =
    options.agent === false
      ? undefined
      : await ensureAgent(env, getLoginKeyPath(), createNewKeyReporter(note));
  const changes: Record<string, string> = {
    ...toolchain.environment,
    [backendVariable]: backend,
    ...passphrase,
    ...cloud,
    ...getGrpcVariables(env),
    ...(agent ? { SSH_AUTH_SOCK: agent.socket } : {}),
  };
  return {
    env: { ...env, ...changes },
    changes,
    backend,
    chosenBy,
    onLab: usesLab(env),
    toolchain,
    agent,
    close: async () => {
      await agent?.close();
    },
  };
}
