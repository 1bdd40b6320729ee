import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isMap, parseDocument } from "yaml";
import { writePrivate } from "../../base/files.js";
import { withLock } from "../../base/lock.js";
import { packageRoot, stateDirectory } from "../../base/paths.js";
import { UserError } from "../../base/user-error.js";
import { backendDirectory } from "../setup/backend.js";

/** The program's module beside the running files: compiled when they are, TypeScript when they are not. */
export function programModule(): string {
  const base = resolve(__dirname, "..", "..", "index");
  return existsSync(`${base}.js`) ? `${base}.js` : `${base}.ts`;
}

export interface Workspace {
  readonly stack: string;
  readonly project: string;
  /**
   * Private directory with Pulumi.yaml, the stack's settings and the administrator's kubeconfig; nothing in the checkout is
   * written. Another one for another backend or project: their stacks may have the same name.
   */
  readonly directory: string;
}

export interface WorkspaceOptions {
  readonly stack: string;
  /** Directory with `Pulumi.yaml` and `Pulumi.<stack>.yaml`. Default: the package's root. */
  readonly projectDirectory?: string;
  /** The stack's settings as text, instead of the file's. */
  readonly settings?: string;
  /** URL of the backend: another backend has other salts. */
  readonly backend: string;
}

const secretsKeys = ["encryptionsalt", "secretsprovider", "encryptedkey"] as const;

/** Of the stack names that Pulumi accepts those that are neither a path nor a word of the command line. */
const stackName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

function requireStackName(stack: string): void {
  if (stackName.test(stack)) return;
  throw new UserError(
    `${JSON.stringify(stack)} is not the name of a stack.`,
    "Write at most 100 letters, digits, dashes, underscores and dots, with a letter, a digit or an underscore first.",
    2,
  );
}

/** The stack's settings file; a stack without one is a mistake that is told before anything starts. */
export function readStackFile(projectDirectory: string, stack: string): string {
  requireStackName(stack);
  const path = join(projectDirectory, `Pulumi.${stack}.yaml`);
  if (!existsSync(path))
    throw new UserError(
      `There is no ${path}.`,
      `Copy Pulumi.dev.yaml to Pulumi.${stack}.yaml and change what differs, or name the directory of another project by --cwd.`,
      2,
    );
  const settings = readFileSync(path, "utf8");
  const [wrong] = parseDocument(settings).errors;
  if (!wrong) return settings;
  const [what = ""] = wrong.message.split(/:?\n/);
  throw new UserError(`${path} is not YAML: ${what}.`, "Correct it and run this again.", 2);
}

/** Whether the stack's secrets are encrypted with a passphrase: its settings name no other provider of secrets. */
export function usesPassphrase(settings: string): boolean {
  const document = parseDocument(settings);
  const provider = isMap(document.contents) ? document.get("secretsprovider") : undefined;
  return typeof provider !== "string" || provider === "passphrase";
}

/** Settings without a salt of their own get the one that belongs to the backend's stack. */
export function withSecretsProvider(settings: string, earlier: string | undefined): string {
  const document = parseDocument(settings);
  if (!isMap(document.contents)) return withSecretsProvider("config: {}\n", earlier);
  const own = secretsKeys.some((key) => document.has(key));
  if (!own && earlier !== undefined) {
    const before = parseDocument(earlier);
    for (const key of secretsKeys) {
      const value = before.get(key);
      if (typeof value === "string") document.set(key, value);
    }
  }
  return document.toString();
}

/** The same for every way to write it, and for every password. */
const placeOf = (backend: string): string =>
  backendDirectory(backend) ?? backend.replace(/:[^/:@]*@/, "@");

function directoryOf({ stack, backend }: WorkspaceOptions, project: string): string {
  const hash = createHash("sha256")
    .update(`${placeOf(backend)}\n${project}`)
    .digest("hex");
  return stateDirectory("work", `${stack}-${hash.slice(0, 8)}`);
}

/** Where an earlier release kept the settings. All projects shared it, and the salt in it. */
const earlierFile = ({ stack, backend }: WorkspaceOptions): string => {
  const directory = backend.replaceAll(/[^A-Za-z0-9]+/g, "-").slice(-120);
  return stateDirectory("work", directory, stack, `Pulumi.${stack}.yaml`);
};

/** What the engine is given as settings, and where. */
interface Copied {
  readonly workspace: Workspace;
  /** The stack's settings as they are written. */
  readonly settings: string;
  readonly file: string;
  /** Where the copy before it is, with the salt. Absent: there is none. */
  readonly earlier?: string;
}

function copyOf(
  options: WorkspaceOptions,
): Copied & { readonly project: ReturnType<typeof parseDocument> } {
  const { stack, projectDirectory: from = packageRoot() } = options;
  requireStackName(stack);
  const settings = options.settings ?? readStackFile(from, stack);
  const project = parseDocument(readFileSync(join(from, "Pulumi.yaml"), "utf8"));
  const name = project.get("name");
  if (typeof name !== "string") throw new UserError(`${from}/Pulumi.yaml has no name.`);
  const directory = directoryOf(options, name);
  const file = join(directory, `Pulumi.${stack}.yaml`);
  const earlier = [file, earlierFile(options)].find((path) => existsSync(path));
  return { workspace: { stack, project: name, directory }, settings, file, earlier, project };
}

/**
 * Prepares the private directory in which the engine works. Pulumi writes the salt of a stack's secrets into its
 * settings file; in the checkout that would be a change nobody made, so the file is copied here and the salt kept here.
 * A copy that is there stays as it is: an engine may be about to read it, for somebody with other settings.
 */
export function prepareWorkspace(options: WorkspaceOptions): Workspace {
  const { workspace, project, ...copied } = copyOf(options);
  requireSameCloud(parseDocument(copied.settings), `Pulumi.${workspace.stack}.yaml`);
  requireSameCloud(project, "Pulumi.yaml");
  if (copied.earlier !== copied.file) writeSettings({ workspace, ...copied });
  // The program runs inline: the options of the Node language host do not apply.
  project.delete("main");
  project.set("runtime", "nodejs");
  const [target, text] = [join(workspace.directory, "Pulumi.yaml"), project.toString()];
  if (!existsSync(target) || readFileSync(target, "utf8") !== text) writePrivate(target, text);
  return workspace;
}

/** Whole, or a stop in the middle would lose the salt, and with it every secret of the stack. */
function writeSettings({ settings, file, earlier }: Copied): void {
  const kept = earlier === undefined ? undefined : readFileSync(earlier, "utf8");
  writePrivate(file, withSecretsProvider(settings, kept));
}

/** How long another command may take until its engine has read its settings. */
const readingMilliseconds = 120_000;

/**
 * Begins the work of an engine with these settings. Several commands may be about to begin, from checkouts with other settings: each
 * has the copy to itself until its engine has read it.
 *
 * @param begin begins the work; answers when the engine has read its settings, or is over
 */
export async function withSettings(
  options: WorkspaceOptions,
  signal: AbortSignal | undefined,
  begin: () => Promise<unknown>,
): Promise<void> {
  const copied = copyOf(options);
  const lock = join(copied.workspace.directory, "settings.lock");
  const purpose = `starting the engine for stack '${options.stack}'`;
  await withLock(lock, { purpose, waitMs: readingMilliseconds, signal }, async () => {
    writeSettings(copied);
    await begin();
  });
}

/** Keys of OpenStack's provider that lead it to another cloud, project or region than the environment does. */
const leading =
  /^openstack:(cloud|authUrl|region|tenantId|tenantName|token|userId|userName|applicationCredential(Id|Name)|(user|project)?[dD]omain(Id|Name)|defaultDomain)$/;

/**
 * The commands ask the cloud that the environment names: if the settings led the provider elsewhere, they would look for what is left, and
 * delete it, in the wrong project.
 */
function requireSameCloud(settings: ReturnType<typeof parseDocument>, file: string): void {
  const found: unknown = settings.get("config");
  const keys = isMap(found) ? found.items.map(({ key }) => String(key)) : [];
  const wrong = keys.filter((key) => leading.test(key));
  if (wrong.length === 0) return;
  throw new UserError(
    `${file}: ${wrong.join(", ")} would lead OpenStack's provider to another place than these commands ask.`,
    "Take it out, and name the cloud by OS_CLOUD (its region by OS_REGION_NAME) for whoever works on this stack.",
    2,
  );
}
