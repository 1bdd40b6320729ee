import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isMap } from "yaml";
import { parseYamlDocument } from "../../base/yaml.js";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { withLock } from "../../base/file-lock.js";
import { getPackageRoot, getStatePath } from "../../base/paths.js";
import { normalizeBackend } from "./backend.js";
import { readProjectFile, readStackSettings } from "./project-files.js";
import { resolveProviderPaths } from "./provider-config.js";

/**
 * Returns the path of the package's program: the compiled file if it exists, or else the TypeScript
 * file.
 */
export function findProgramModulePath(): string {
  const base = resolve(__dirname, "..", "..", "index");
  return existsSync(`${base}.js`) ? `${base}.js` : `${base}.ts`;
}

export interface StackWorkspace {
  readonly stack: string;
  readonly project: string;
  /**
   * Private directory of the stack. It contains Pulumi.yaml, the stack's settings and the
   * administrator's kubeconfig, so that the user's project directory is not changed. Each
   * combination of backend, project and stack has its own directory, because stacks of different
   * backends or projects may have the same name.
   */
  readonly directory: string;
}

export interface StackWorkspaceOptions {
  readonly stack: string;
  /** Directory with `Pulumi.yaml` and `Pulumi.<stack>.yaml`. Default: the package's root. */
  readonly projectDirectory?: string;
  /** Text of the stack's settings, in place of the file. Default: the file is read. */
  readonly settings?: string;
  /** URL of the backend. A stack has a different salt for its secrets in each backend. */
  readonly backend: string;
}

const secretsKeys = ["encryptionsalt", "secretsprovider", "encryptedkey"] as const;

/**
 * Returns whether the stack's secrets are encrypted with a passphrase. True unless the settings
 * name another secrets provider.
 */
export function usesPassphrase(settings: string): boolean {
  const document = parseYamlDocument(settings);
  const provider = isMap(document.contents) ? document.get("secretsprovider") : undefined;
  return typeof provider !== "string" || provider === "passphrase";
}

/**
 * Returns the URL of the key service that encrypts the stack's secrets, or `passphrase`. Returns
 * undefined if the settings name none, or if they already have the salt of a passphrase.
 */
export function findSecretsProvider(settings: string): string | undefined {
  const document = parseYamlDocument(settings);
  if (!isMap(document.contents)) return undefined;
  const provider: unknown = document.get("secretsprovider");
  if (typeof provider !== "string") return undefined;
  return provider === "passphrase" && document.has("encryptionsalt") ? undefined : provider;
}

/** Returns the secrets provider in the settings of a private directory, if it has settings. */
export function readSecretsProvider(directory: string, stack: string): string | undefined {
  const file = join(directory, `Pulumi.${stack}.yaml`);
  return existsSync(file) ? findSecretsProvider(readFileSync(file, "utf8")) : undefined;
}

const providerOf = (document: ReturnType<typeof parseYamlDocument>): unknown =>
  document.get("secretsprovider") ?? "passphrase";

/**
 * Copies from `earlier` settings what Pulumi wrote about the stack's secrets: the salt, or the
 * secrets provider and its encrypted key. `settings` with another secrets provider, or with a salt
 * or a key, are not changed.
 */
export function copySecretsProvider(settings: string, earlier: string | undefined): string {
  const document = parseYamlDocument(settings);
  if (!isMap(document.contents)) return copySecretsProvider("config: {}\n", earlier);
  const before = parseYamlDocument(earlier ?? "config: {}\n");
  const namesOther = document.has("secretsprovider") && providerOf(document) !== providerOf(before);
  const hasKey = document.has("encryptionsalt") || document.has("encryptedkey");
  if (namesOther || hasKey) return document.toString();
  for (const key of secretsKeys) {
    const value = before.get(key);
    if (typeof value === "string") document.set(key, value);
  }
  return document.toString();
}

function directoryOf({ stack, backend }: StackWorkspaceOptions, project: string): string {
  const hash = createHash("sha256")
    .update(`${normalizeBackend(backend)}\n${project}`)
    .digest("hex");
  return getStatePath("work", `${stack}-${hash.slice(0, 8)}`);
}

/** Settings that the engine will read, and where they are. */
interface Copied {
  readonly workspace: StackWorkspace;
  /** Stack's settings as the user wrote them, with absolute paths in provider settings. */
  readonly settings: string;
  /** Path of the copy. An existing copy contains the salt. */
  readonly file: string;
}

function copyOf(
  options: StackWorkspaceOptions,
): Copied & { readonly project: ReturnType<typeof parseYamlDocument> } {
  const { stack, projectDirectory: from = getPackageRoot() } = options;
  // The engine starts the provider in the directory of the copy.
  const settings = resolveProviderPaths(readStackSettings(from, stack, options.settings), from);
  const { name, document } = readProjectFile(from);
  const directory = directoryOf(options, name);
  const file = join(directory, `Pulumi.${stack}.yaml`);
  return { workspace: { stack, project: name, directory }, settings, file, project: document };
}

/**
 * Prepares the private directory in which the engine works. Pulumi writes the salt of a stack's
 * secrets into the settings file. So the engine gets a copy of this file, and the user's file is
 * not changed. Keeps an existing copy unchanged, because the engine of another command may be about
 * to read this copy.
 */
export function prepareWorkDirectory(options: StackWorkspaceOptions): StackWorkspace {
  const { workspace, project, ...copied } = copyOf(options);
  if (!existsSync(copied.file)) writeSettings(copied);
  // The program runs inline, so options of the Node language host have no effect and are removed.
  project.delete("main");
  // The copy of the stack's settings is next to the copy of Pulumi.yaml.
  project.delete("stackConfigDir");
  if (typeof project.get("config") === "string") project.delete("config");
  project.set("runtime", "nodejs");
  const [target, text] = [join(workspace.directory, "Pulumi.yaml"), project.toString()];
  if (!existsSync(target) || readFileSync(target, "utf8") !== text)
    replacePrivateFile(target, text);
  return workspace;
}

/**
 * Writes the settings file atomically. An interrupted write would lose the salt, without which the
 * stack's secrets cannot be decrypted.
 */
function writeSettings({ settings, file }: Pick<Copied, "settings" | "file">): void {
  const kept = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  replacePrivateFile(file, copySecretsProvider(settings, kept));
}

/**
 * Time limit in milliseconds of the wait for the lock on the settings. Another command holds this
 * lock until its engine has read the settings.
 */
const readingMilliseconds = 120_000;

/**
 * Starts an engine with the stack's settings. Commands in several checkouts may run at the same
 * time with different settings. So each command locks the copy of the settings until the command's
 * engine has read this copy.
 *
 * @param begin starts the engine. Its result resolves when the engine has read its settings or has ended
 */
export async function withStackSettings<T>(
  options: StackWorkspaceOptions,
  signal: AbortSignal | undefined,
  begin: () => Promise<T>,
): Promise<T> {
  const copied = copyOf(options);
  const lock = join(copied.workspace.directory, "settings.lock");
  const purpose = `starting the engine for stack '${options.stack}'`;
  const wait = { waitMs: readingMilliseconds, signal, code: "STACK_LOCKED" } as const;
  return withLock(lock, { purpose, ...wait }, () => {
    writeSettings(copied);
    return begin();
  });
}
