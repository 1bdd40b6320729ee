import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isMap, parseDocument } from "yaml";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { withLock } from "../../base/file-lock.js";
import { packageRoot, stateDirectory } from "../../base/paths.js";
import { Failure } from "../../base/failures/failure.js";
import { backendDirectory } from "./backend.js";

/** Returns the module of the package's program: compiled if it exists, or else TypeScript. */
export function programModule(): string {
  const base = resolve(__dirname, "..", "..", "index");
  return existsSync(`${base}.js`) ? `${base}.js` : `${base}.ts`;
}

export interface Workspace {
  readonly stack: string;
  readonly project: string;
  /**
   * Private directory with Pulumi.yaml, the stack's settings and the administrator's kubeconfig;
   * the checkout is not changed. Each backend and project has a separate directory, because stacks
   * of several backends or projects may have the same name.
   */
  readonly directory: string;
}

export interface WorkspaceOptions {
  readonly stack: string;
  /** Directory with `Pulumi.yaml` and `Pulumi.<stack>.yaml`. Default: the package's root. */
  readonly projectDirectory?: string;
  /** Text of the stack's settings, used instead of the file. */
  readonly settings?: string;
  /** URL of the backend. Each backend has a separate salt for the stack's secrets. */
  readonly backend: string;
}

const secretsKeys = ["encryptionsalt", "secretsprovider", "encryptedkey"] as const;

/**
 * Matches the names of stacks that Pulumi accepts, and that are neither a path nor an option of the
 * command line.
 */
const stackName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

function requireStackName(stack: string): void {
  if (stackName.test(stack)) return;
  throw new Failure(
    "INVALID_USAGE",
    `${JSON.stringify(stack)} is not the name of a stack.`,
    "Write at most 100 letters, digits, dashes, underscores and dots, beginning with a letter, a digit or an underscore.",
  );
}

/** Returns the stack's settings file; throws if it is missing or not YAML. */
export function readStackFile(projectDirectory: string, stack: string): string {
  requireStackName(stack);
  const path = join(projectDirectory, `Pulumi.${stack}.yaml`);
  if (!existsSync(path))
    throw new Failure(
      "INVALID_USAGE",
      `There is no ${path}.`,
      `Copy Pulumi.dev.yaml to Pulumi.${stack}.yaml and change its values, or name the directory of another project with --cwd.`,
    );
  const settings = readFileSync(path, "utf8");
  const [wrong] = parseDocument(settings).errors;
  if (!wrong) return settings;
  const [what = ""] = wrong.message.split(/:?\n/);
  throw new Failure(
    "INVALID_USAGE",
    `${path} is not YAML: ${what}.`,
    "Correct it and run the same command again.",
  );
}

/**
 * Returns whether the stack's secrets are encrypted with a passphrase: its settings name no other
 * secrets provider.
 */
export function usesPassphrase(settings: string): boolean {
  const document = parseDocument(settings);
  const provider = isMap(document.contents) ? document.get("secretsprovider") : undefined;
  return typeof provider !== "string" || provider === "passphrase";
}

/** Adds the salt or secrets provider of `earlier` settings to settings that have none. */
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

/**
 * Returns a normal form of the backend, independent of a directory's spelling and of the password.
 */
const placeOf = (backend: string): string =>
  backendDirectory(backend) ?? backend.replace(/:[^/:@]*@/, "@");

function directoryOf({ stack, backend }: WorkspaceOptions, project: string): string {
  const hash = createHash("sha256")
    .update(`${placeOf(backend)}\n${project}`)
    .digest("hex");
  return stateDirectory("work", `${stack}-${hash.slice(0, 8)}`);
}

/**
 * Returns the path of an earlier release's settings file, which all projects shared with its salt.
 */
const earlierFile = ({ stack, backend }: WorkspaceOptions): string => {
  const directory = backend.replaceAll(/[^A-Za-z0-9]+/g, "-").slice(-120);
  return stateDirectory("work", directory, stack, `Pulumi.${stack}.yaml`);
};

/** Settings of the engine, and their location. */
interface Copied {
  readonly workspace: Workspace;
  /** The stack's settings as written. */
  readonly settings: string;
  readonly file: string;
  /** Previous copy, with the salt. Absent: there is none. */
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
  if (typeof name !== "string") throw new Failure("FAILED", `${from}/Pulumi.yaml has no name.`);
  const directory = directoryOf(options, name);
  const file = join(directory, `Pulumi.${stack}.yaml`);
  const earlier = [file, earlierFile(options)].find((path) => existsSync(path));
  return { workspace: { stack, project: name, directory }, settings, file, earlier, project };
}

/**
 * Prepares the private directory in which the engine works. Pulumi writes the salt of a stack's
 * secrets into the settings file. To keep the checkout unchanged, the private directory has a copy
 * of this file, with the salt. An existing copy is not changed: another command's engine may be
 * about to read it.
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
  if (!existsSync(target) || readFileSync(target, "utf8") !== text)
    replacePrivateFile(target, text);
  return workspace;
}

/**
 * Writes the file atomically: an interrupted write would lose the salt, and with it every secret of
 * the stack.
 */
function writeSettings({ settings, file, earlier }: Copied): void {
  const kept = earlier === undefined ? undefined : readFileSync(earlier, "utf8");
  replacePrivateFile(file, withSecretsProvider(settings, kept));
}

/** Milliseconds that another command may take until its engine has read its settings. */
const readingMilliseconds = 120_000;

/**
 * Starts an engine with the stack's settings. Commands from several checkouts may start at the same
 * time with different settings. So each command locks the copy of the settings until its engine has
 * read the copy.
 *
 * @param begin starts the work; resolves when the engine has read its settings or has ended
 */
export async function withStackSettings(
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

/**
 * Keys of OpenStack's provider that select another cloud, project or region than the environment.
 */
const leading =
  /^openstack:(cloud|authUrl|region|tenantId|tenantName|token|userId|userName|applicationCredential(Id|Name)|(user|project)?[dD]omain(Id|Name)|defaultDomain)$/;

/**
 * Throws if the settings select another cloud than the environment. The commands use the
 * environment's cloud: they would search for a cluster's objects, and delete them, in the wrong
 * project.
 */
function requireSameCloud(settings: ReturnType<typeof parseDocument>, file: string): void {
  const found: unknown = settings.get("config");
  const keys = isMap(found) ? found.items.map(({ key }) => String(key)) : [];
  const wrong = keys.filter((key) => leading.test(key));
  if (wrong.length === 0) return;
  throw new Failure(
    "INVALID_USAGE",
    `${file}: ${wrong.join(", ")} would make OpenStack's provider use another cloud than these commands.`,
    "Delete it, and let every user of this stack set OS_CLOUD (and OS_REGION_NAME for the region).",
  );
}
