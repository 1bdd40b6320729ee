import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isMap, parseDocument } from "yaml";
import { writePrivate } from "../../base/files.js";
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

/** The stack's settings file; a stack without one is a mistake that is told before anything starts. */
export function readStackFile(projectDirectory: string, stack: string): string {
  if (!stackName.test(stack))
    throw new UserError(
      `${JSON.stringify(stack)} is not the name of a stack.`,
      "Write at most 100 letters, digits, dashes, underscores and dots, with a letter, a digit or an underscore first.",
      2,
    );
  const path = join(projectDirectory, `Pulumi.${stack}.yaml`);
  if (!existsSync(path))
    throw new UserError(
      `There is no ${path}.`,
      `Copy Pulumi.dev.yaml to Pulumi.${stack}.yaml and change what differs.`,
      2,
    );
  const settings = readFileSync(path, "utf8");
  const [wrong] = parseDocument(settings).errors;
  if (!wrong) return settings;
  const [what = ""] = wrong.message.split(/:?\n/);
  throw new UserError(`${path} is not YAML: ${what}.`, "Correct it and run this again.", 2);
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

/**
 * Prepares the private directory in which the engine works. Pulumi writes the salt of a stack's secrets into its
 * settings file; in the checkout that would be a change nobody made, so the file is copied here and the salt kept here.
 */
export function prepareWorkspace(options: WorkspaceOptions): Workspace {
  const from = options.projectDirectory ?? packageRoot();
  const settings = options.settings ?? readStackFile(from, options.stack);
  const project = parseDocument(readFileSync(join(from, "Pulumi.yaml"), "utf8"));
  const name = project.get("name");
  if (typeof name !== "string") throw new UserError(`${from}/Pulumi.yaml has no name.`);
  const directory = directoryOf(options, name);
  const target = join(directory, `Pulumi.${options.stack}.yaml`);
  const earlier = [target, earlierFile(options)].find((path) => existsSync(path));
  const kept = earlier === undefined ? undefined : readFileSync(earlier, "utf8");
  // Whole, or a stop in the middle would lose the salt, and with it every secret of the stack.
  writePrivate(target, withSecretsProvider(settings, kept));
  // The program runs inline: the options of the Node language host do not apply.
  project.delete("main");
  project.set("runtime", "nodejs");
  writePrivate(join(directory, "Pulumi.yaml"), project.toString());
  return { stack: options.stack, project: name, directory };
}
