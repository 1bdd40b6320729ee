import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { getPackageRoot } from "../../base/paths.js";
import { Failure } from "../../base/failures/failure.js";
import { parseProjectFile } from "../pulumi/project-files.js";
import { findProgramModulePath } from "../pulumi/workspace.js";

/** Pulumi project in which a command works. */
export interface PulumiProject {
  /** Directory with Pulumi.yaml and the settings of the stacks. */
  readonly directory: string;
  /** Name of the project. Absent if the project uses the program of this package. */
  readonly name?: string;
  /** Path of the project's program. Absent if the project uses the program of this package. */
  readonly program?: string;
}

const fileName = "Pulumi.yaml";

/**
 * Returns the nearest directory with Pulumi.yaml: `from` or a directory above it. Pulumi searches
 * in the same way.
 */
function nearest(from: string): string | undefined {
  if (existsSync(join(from, fileName))) return from;
  const parent = dirname(from);
  return parent === from ? undefined : nearest(parent);
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

const isSame = (one: string, other: string): boolean =>
  existsSync(one) && existsSync(other) && realpathSync(one) === realpathSync(other);

/**
 * Returns the value of `main` in the package.json of a directory. Returns undefined if there is no
 * such value.
 */
function packageMain(directory: string): string | undefined {
  const file = join(directory, "package.json");
  if (!isFile(file)) return undefined;
  const { main } = readPackage(file);
  return typeof main === "string" && main !== "" ? main : undefined;
}

function readPackage(file: string): { readonly main?: unknown } {
  const text = readFileSync(file, "utf8");
  try {
    return (JSON.parse(text) ?? {}) as { main?: unknown };
  } catch {
    throw new Failure(
      "INVALID_USAGE",
      `${file} is not JSON.`,
      "Correct it and run the same command again.",
    );
  }
}

const extensions = ["", ".ts", ".js", ".mjs", ".cjs", ".mts", ".cts"];

const fileOf = (path: string): string | undefined =>
  extensions.map((extension) => `${path}${extension}`).find(isFile);

const indexOf = (directory: string): string | undefined => fileOf(join(directory, "index"));

/**
 * Returns the path of the program in a directory, by the rules of Node. The file that `main` names
 * may not exist yet, because it must first be compiled.
 */
function programIn(directory: string): string | undefined {
  const main = packageMain(directory);
  if (main === undefined) return indexOf(directory);
  const named = join(directory, main);
  return fileOf(named) ?? indexOf(named) ?? indexOf(directory) ?? named;
}

const isNamed = (main: unknown): boolean => main !== undefined && main !== null && main !== "";

const languageOf = (runtime: unknown): unknown =>
  typeof runtime === "string" ? runtime : (runtime as { name?: unknown } | undefined)?.name;

/** Returns the parsed content of Pulumi.yaml. */
const readProject = (directory: string): Readonly<Record<string, unknown>> =>
  (parseProjectFile(directory).toJS() ?? {}) as Record<string, unknown>;

/**
 * Returns the name and the path of the project's own program. Returns an empty object if the
 * project contains only settings, or if `main` is the program of this package.
 */
function ownProgram(
  directory: string,
  { name, main, runtime }: Readonly<Record<string, unknown>>,
): Pick<PulumiProject, "name" | "program"> {
  const own = (program: string) => ({ name: String(name), program });
  if (languageOf(runtime) !== "nodejs") return own(directory);
  const named = isNamed(main) ? resolve(directory, String(main)) : undefined;
  const entry =
    named === undefined ? programIn(directory) : (fileOf(named) ?? programIn(named) ?? named);
  return entry === undefined || isPackageProgram(entry) ? {} : own(entry);
}

/**
 * Returns whether a file is the program of this package, or program.cjs, through which Pulumi loads
 * the program.
 */
const isPackageProgram = (entry: string): boolean =>
  [findProgramModulePath(), join(getPackageRoot(), "program.cjs")].some((program) =>
    isSame(entry, program),
  );

const ofPackage = (): PulumiProject => ({ directory: getPackageRoot() });

/**
 * Returns the project of a directory. Returns this package itself if `cwd` is absent and the
 * current directory has no project. This happens in a checkout of the repository.
 *
 * @param cwd value of `--cwd`. Default: the current directory
 */
export function findPulumiProject(cwd?: string): PulumiProject {
  const from = resolve(cwd ?? ".");
  // If the user passes an empty shell variable after `--cwd`, the command must not select the
  // current directory.
  const directory = cwd === "" ? undefined : nearest(from);
  if (directory === undefined) {
    if (cwd === undefined) return ofPackage();
    throw new Failure(
      "INVALID_USAGE",
      cwd === ""
        ? "--cwd: '' is not a directory."
        : `--cwd: there is no ${fileName} in ${from} or in a directory above it.`,
      "Name the directory of your project; without `--cwd` it is the current one.",
    );
  }
  if (isSame(directory, getPackageRoot())) return ofPackage();
  return { directory, ...ownProgram(directory, readProject(directory)) };
}

/**
 * Throws if the project has its own program. This command runs only the program of this package.
 * The user can run the project's program with `pulumi`.
 */
export function requirePackageProgram(
  command: string,
  { stack, cwd }: { readonly stack: string; readonly cwd?: string },
): void {
  const { directory, program } = findPulumiProject(cwd);
  if (program === undefined) return;
  const missing = existsSync(program) ? "" : ", which is not there";
  const instead =
    missing === ""
      ? ""
      : " If the project needs no program, delete `main` from package.json or Pulumi.yaml.";
  throw new Failure(
    "INVALID_USAGE",
    `\`${command}\` runs the program of stackadm, but the project in ${directory} has its own program: ${program}${missing}.`,
    `Run \`pulumi ${command === "preview" ? command : "up"} --stack ${stack}\` there, after \`eval "$(stackadm env --stack ${stack})"\`. The commands that run no program work here: status, outputs, kubeconfig, doctor, refresh, unlock and destroy.${instead}`,
  );
}
