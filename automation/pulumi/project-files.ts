import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap } from "yaml";
import { Failure } from "../../base/failures/failure.js";
import { describeYamlError, parseYamlDocument, toYaml } from "../../base/yaml.js";

type YamlDocument = ReturnType<typeof parseYamlDocument>;
type YamlObject = Readonly<Record<string, unknown>>;

/** Content of a project's Pulumi.yaml that decides where and how settings are read. */
export interface ProjectFile {
  readonly name: string;
  /** Whole content of Pulumi.yaml. */
  readonly document: YamlDocument;
  /** Directory with the settings files of the stacks. */
  readonly stackDirectory: string;
}

const isObject = (value: unknown): value is YamlObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const correctFile = "Correct it and run the same command again.";

/** Returns the first error of a document. An alias without an anchor shows only in its value. */
function findError(document: YamlDocument): unknown {
  const [wrong] = document.errors;
  if (wrong !== undefined) return wrong;
  try {
    document.toJS();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Returns a YAML file as a document. Throws if the text is not YAML. */
function parseFile(text: string, path: string): YamlDocument {
  const document = parseYamlDocument(text);
  const wrong = findError(document);
  if (wrong === undefined) return document;
  throw new Failure(
    "INVALID_USAGE",
    `${path} is not YAML: ${describeYamlError(wrong)}.`,
    correctFile,
  );
}

/** Returns the content of the Pulumi.yaml in a directory. Throws if the file is not YAML. */
export function parseProjectFile(directory: string): YamlDocument {
  const path = join(directory, "Pulumi.yaml");
  return parseFile(readFileSync(path, "utf8"), path);
}

/**
 * Returns the directory with the settings files of the stacks. `stackConfigDir` names it relative
 * to Pulumi.yaml. `config` with a text is the former name of this key.
 */
function stackDirectoryOf(directory: string, document: YamlDocument): string {
  const config: unknown = document.get("config");
  const named: unknown = typeof config === "string" ? config : document.get("stackConfigDir");
  return typeof named === "string" ? join(directory, named) : directory;
}

/** Returns a project's Pulumi.yaml. Throws if the file is not YAML or names no project. */
export function readProjectFile(directory: string): ProjectFile {
  const document = parseProjectFile(directory);
  const name: unknown = document.get("name");
  if (typeof name !== "string")
    throw new Failure(
      "INVALID_USAGE",
      `${join(directory, "Pulumi.yaml")} has no name.`,
      "Write `name: <name of the project>` into it and run the same command again.",
    );
  return { name, document, stackDirectory: stackDirectoryOf(directory, document) };
}

/** Returns the URL of the backend in a project's Pulumi.yaml, if the file names one. */
export function readProjectBackend(directory: string): string | undefined {
  const { backend } = (parseProjectFile(directory).toJS() ?? {}) as { readonly backend?: unknown };
  const url: unknown = isObject(backend) ? backend["url"] : undefined;
  return typeof url === "string" && url !== "" ? url : undefined;
}

/**
 * Matches names of stacks that Pulumi accepts, and that cannot be mistaken for a path or an option.
 */
const stackName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

/** Throws if a text is not the name of a stack. */
function requireStackName(stack: string): void {
  if (stackName.test(stack)) return;
  throw new Failure(
    "INVALID_USAGE",
    `${JSON.stringify(stack)} is not the name of a stack.`,
    "Write at most 100 letters, digits, dashes, underscores and dots, beginning with a letter, a digit or an underscore.",
  );
}

const settingsPath = ({ stackDirectory }: ProjectFile, stack: string): string =>
  join(stackDirectory, `Pulumi.${stack}.yaml`);

/** Returns whether the project has a settings file for the stack. */
export const hasStackSettings = (directory: string, stack: string): boolean =>
  existsSync(settingsPath(readProjectFile(directory), stack));

function readSettingsFile(path: string, stack: string): string {
  if (existsSync(path)) return readFileSync(path, "utf8");
  throw new Failure(
    "INVALID_USAGE",
    `There is no ${path}.`,
    `Copy Pulumi.dev.yaml to Pulumi.${stack}.yaml and change its values, or name the directory of another project with --cwd.`,
  );
}

/**
 * Returns the text of the stack's settings with the values that Pulumi.yaml gives to all stacks of
 * the project. The engine applies these values in the same way. Throws if a file is missing, is not
 * YAML, or has values that only the engine can read.
 *
 * @param given text of the stack's settings, in place of the file
 */
export function readStackSettings(directory: string, stack: string, given?: string): string {
  requireStackName(stack);
  const project = readProjectFile(directory);
  const path = settingsPath(project, stack);
  const text = given ?? readSettingsFile(path, stack);
  const document = parseFile(text, path);
  if (document.contents !== null && !isMap(document.contents)) return text;
  if (document.has("environment"))
    throw new Failure(
      "INVALID_USAGE",
      `${path}: environment: only \`pulumi\` reads the values of Pulumi ESC, so this command would work with other settings.`,
      "Write the values into the file and delete `environment`, or use `pulumi` in place of this command.",
    );
  const values = findProjectValues(project, directory);
  if (values.length === 0) return text;
  const settings = (document.toJS() ?? {}) as YamlObject;
  const merged = values.reduce((all, value) => setMissing(all, value, value.path), settings);
  return merged === settings ? text : toYaml(merged);
}

/** Value that Pulumi.yaml gives to all stacks of the project. */
interface ProjectValue {
  /** Key below `config` in Pulumi.yaml. */
  readonly key: string;
  /** Place of the value in the settings of a stack. */
  readonly path: readonly string[];
  readonly value: unknown;
  /** Path of Pulumi.yaml. */
  readonly file: string;
}

/**
 * Returns the values below `config` in Pulumi.yaml. A key without a namespace belongs to the
 * project. A key with dots is the path of a nested value. An object is a declaration, whose
 * `default` or `value` is the value.
 */
function findProjectValues(
  { name, document }: ProjectFile,
  directory: string,
): readonly ProjectValue[] {
  const { config } = document.toJS() as { readonly config?: unknown };
  const file = join(directory, "Pulumi.yaml");
  if (!isObject(config)) return [];
  return Object.entries(config).flatMap(([key, written]) => {
    const value = isObject(written) ? (written["default"] ?? written["value"]) : written;
    if (value === undefined || value === null) return [];
    const [namespace = "", path = ""] = key.includes(":") ? key.split(/:(.*)/s) : [name, key];
    if (/[[\]"]/.test(path)) throw wrongValue(file, key, "stackadm reads no brackets in this key");
    const [first = "", ...rest] = path.split(".");
    return [{ key, path: ["config", `${namespace}:${first}`, ...rest], value, file }];
  });
}

const wrongValue = (file: string, key: string, what: string): Failure =>
  new Failure(
    "INVALID_USAGE",
    `${file}: config: ${key}: ${what}.`,
    "Delete the key, and write its value into the settings file of each stack.",
  );

/** Returns `target` with the value at a path. Does not change a value that `target` already has. */
function setMissing(
  target: YamlObject,
  given: ProjectValue,
  [key = "", ...rest]: readonly string[],
): YamlObject {
  const present = target[key];
  if (rest.length === 0)
    return Object.hasOwn(target, key) && present !== null
      ? target
      : { ...target, [key]: given.value };
  if (present !== undefined && present !== null && !isObject(present))
    throw wrongValue(given.file, given.key, `'${key}' is not an object in the stack's settings`);
  const changed = setMissing(present ?? {}, given, rest);
  return changed === present ? target : { ...target, [key]: changed };
}
