import { existsSync, mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Toolchain } from "../../toolchain/toolchain.js";
import { ClusterError } from "../cluster/cluster-error.js";
import type { OpenstackPlugin } from "../../base/openstack-plugins.js";
import { labFolder, labName, stateDirectory } from "../../base/paths.js";
import { silent, type Progress } from "../../base/progress.js";
import { UserError } from "../../base/user-error.js";
import { backendVariable, requireBackend } from "./backend.js";
import { ensureCommands } from "../../base/host-packages.js";
import { passphraseEnvironment } from "./passphrase.js";
import { ensureAgent, madeKey, type Agent } from "./ssh-agent.js";

/** The facts of a running lab that matter here. */
export interface LabSettings {
  readonly cloud: string;
  /** The same cloud over TLS. */
  readonly tlsCloud: string;
  readonly cloudsFile: string;
  readonly siteFile: string;
}

/** Where the lab leaves its facts while it runs. */
export const labSettings = (): LabSettings => ({
  cloud: labName(),
  tlsCloud: `${labName()}-tls`,
  cloudsFile: stateDirectory(labFolder(), "clouds.yaml"),
  siteFile: stateDirectory(labFolder(), "site.yaml"),
});

export const labRuns = (): boolean => existsSync(labSettings().cloudsFile);

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

/** Has the person named a cloud? */
export const cloudIsNamed = (env: NodeJS.ProcessEnv): boolean =>
  isSet(env["OS_CLOUD"]) || isSet(env["OS_AUTH_URL"]);

/** Is the lab the cloud to use: named as such, or none is named and it runs? */
export function usesLab(env: NodeJS.ProcessEnv): boolean {
  const { cloud, tlsCloud } = labSettings();
  if ([cloud, tlsCloud].includes(env["OS_CLOUD"] ?? "")) return true;
  return !cloudIsNamed(env) && labRuns();
}

/** Returns whether stand-ins are taken unasked: on the lab, and where no cloud is named. Other clouds get the official plugins. */
export const standInsByDefault = (env: NodeJS.ProcessEnv): true | undefined =>
  usesLab(env) || !cloudIsNamed(env) ? true : undefined;

/** The variables that select the cloud. */
export function cloudEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  if (!usesLab(env)) {
    if (cloudIsNamed(env)) return {};
    throw new ClusterError(
      "CLOUD_NOT_CONFIGURED",
      "No cloud is configured: neither OS_CLOUD nor OS_AUTH_URL is set, and the lab does not run.",
      "Set OS_CLOUD to a name in clouds.yaml, source an openrc file, or start the lab: npx stackadm lab up.",
    );
  }
  const { cloud, cloudsFile, siteFile } = labSettings();
  return {
    OS_CLOUD: isSet(env["OS_CLOUD"]) ? env["OS_CLOUD"] : cloud,
    OS_CLIENT_CONFIG_FILE: cloudsFile,
    STACKADM_SITE: env["STACKADM_SITE"] ?? siteFile,
  };
}

/**
 * The backend: what the environment names, else the project, as with Pulumi; on the lab a directory that goes with the lab; else one of
 * the user's own.
 */
export function backendUrl(env: NodeJS.ProcessEnv, ofProject?: string): string {
  const named = env[backendVariable];
  if (isSet(named)) return requireBackend(named);
  if (isSet(ofProject)) return requireBackend(ofProject, "Pulumi.yaml: backend.url");
  // The stacks of a lab describe machines that end with it: a new lab means new stacks.
  const directory = stateDirectory(...(usesLab(env) ? [labFolder()] : []), "pulumi");
  makePlace(directory);
  return pathToFileURL(directory).href;
}

/** A directory of ours; the person may have said where such things are. */
function makePlace(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new UserError(
      `${directory} cannot be made (${code}), and the state belongs there.`,
      "Let XDG_STATE_HOME name a directory that you may write into, or unset it.",
      2,
    );
  }
}

/** Variables that the engine or OpenStack's provider reads by itself: what is wrong with one, and what to write. */
const readElsewhere: Readonly<Record<string, readonly [RegExp, string]>> = {
  PULUMI_PARALLEL: [
    /^[1-9]\d{0,5}$/,
    "Write on how many resources the engine works at once, like 8, or unset it.",
  ],
  OS_INSECURE: [/^(1|0|t|f|true|false)$/i, "Write true or false, or unset it."],
};

function requireVariables(env: NodeJS.ProcessEnv): void {
  for (const [name, [fits, hint]] of Object.entries(readElsewhere)) {
    const value = env[name];
    if (isSet(value) && !fits.test(value))
      throw new UserError(`${name}: '${value}' cannot be used.`, hint, 2);
  }
}

/** Everything an operation needs around it. */
export interface OperationEnvironment {
  /** The whole environment for engine, plugins and program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Only what differs from the environment given. */
  readonly changes: Readonly<Record<string, string>>;
  readonly backend: string;
  readonly onLab: boolean;
  readonly toolchain: Toolchain;
  /** Of its `pulumi`, as that says it. */
  readonly engineVersion?: string;
  /** The login key's agent; absent when it was not asked for. */
  readonly agent?: Agent;
  close(): Promise<void>;
}

export interface EnvironmentOptions {
  /** Whom it tells what is made, and for how long. Default: nobody. */
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
  /** Default: the process environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** URL of the backend that the project names (`backend.url` in Pulumi.yaml); PULUMI_BACKEND_URL comes before it. Default: none. */
  readonly backend?: string | undefined;
  /** The OpenStack plugin that the stack's settings choose. Default: the program's choice. */
  readonly openstackPlugin?: OpenstackPlugin | undefined;
  /** Start an agent when none runs. Default: true. */
  readonly agent?: boolean;
  /** Whether the stack's secrets need a passphrase: not where its settings name another provider of secrets. Optional: it goes on without one. Default: true. */
  readonly passphrase?: boolean | "optional";
}

export const sshCommands = { "ssh-agent": "openssh-client", "ssh-add": "openssh-client" };

/** Where the user's own key for clusters lies. */
export const ownKeyFile = (): string => stateDirectory("ssh", "id_ed25519");

/** Finds or makes toolchain, cloud settings, backend, passphrase and login key. */
export async function prepareEnvironment(
  options: EnvironmentOptions = {},
): Promise<OperationEnvironment> {
  const env = options.env ?? process.env;
  requireVariables(env);
  const cloud = cloudEnvironment(env);
  // What is wrong is said before anything is made, which may take minutes.
  const backend = backendUrl(env, options.backend);
  const { progress = silent, signal, passphrase: needed = true } = options;
  const note = (text: string): void => {
    progress.note(text);
  };
  const passphrase = passphraseEnvironment(env, { backend, needed, note });
  // Loaded late: commands that need no engine start without it.
  const { ensureToolchain } = await import("../../toolchain/toolchain.js");
  const toolchain = await ensureToolchain({
    ...{ progress, signal, env },
    standIns: standInsByDefault(env),
    openstackPlugin: options.openstackPlugin,
  });
  if (options.agent !== false) await ensureCommands(sshCommands, progress);
  const agent =
    options.agent === false ? undefined : await ensureAgent(env, ownKeyFile(), madeKey(note));
  const changes: Record<string, string> = {
    ...toolchain.environment,
    PULUMI_BACKEND_URL: backend,
    ...passphrase,
    ...cloud,
    ...(agent ? { SSH_AUTH_SOCK: agent.socket } : {}),
  };
  return {
    env: { ...env, ...changes },
    changes,
    backend,
    onLab: usesLab(env),
    toolchain,
    engineVersion: toolchain.pieces.find(({ name }) => name === "pulumi")?.version,
    agent,
    close: async () => {
      await agent?.close();
    },
  };
}
