import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseDocument } from "yaml";
import { packageRoot } from "../../base/paths.js";
import { UserError } from "../../base/user-error.js";
import { programModule } from "../cluster/workspace.js";

/** The Pulumi project that a command is about. */
export interface Project {
  /** Where Pulumi.yaml and the settings of the stacks are. */
  readonly directory: string;
  /** Its name, where it has a program of its own. */
  readonly name?: string;
  /** That program. Absent: it is the package's. */
  readonly program?: string;
  /** URL of the backend that it names. */
  readonly backend?: string;
}

const fileName = "Pulumi.yaml";

/** The nearest directory with Pulumi.yaml, from here upwards, as Pulumi looks for it. */
function nearest(from: string): string | undefined {
  if (existsSync(join(from, fileName))) return from;
  const parent = dirname(from);
  return parent === from ? undefined : nearest(parent);
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

const isSame = (one: string, other: string): boolean =>
  existsSync(one) && existsSync(other) && realpathSync(one) === realpathSync(other);

/** What package.json names as the module of a directory, if there is one. */
function packageMain(directory: string): string | undefined {
  const file = join(directory, "package.json");
  if (!isFile(file)) return undefined;
  const { main } = readPackage(file);
  return typeof main === "string" && main !== "" ? main : undefined;
}

function readPackage(file: string): { readonly main?: unknown } {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) ?? {}) as { main?: unknown };
  } catch {
    throw new UserError(`${file} is not JSON.`, "Correct it and run this again.", 2);
  }
}

const extensions = ["", ".ts", ".js", ".mjs", ".cjs", ".mts", ".cts"];

const fileOf = (path: string): string | undefined =>
  extensions.map((extension) => `${path}${extension}`).find(isFile);

const indexOf = (directory: string): string | undefined => fileOf(join(directory, "index"));

/** The program in a directory, as Node finds it. What is named and not there is still to be compiled: it is one all the same. */
function programIn(directory: string): string | undefined {
  const main = packageMain(directory);
  if (main === undefined) return indexOf(directory);
  const named = join(directory, main);
  return fileOf(named) ?? indexOf(named) ?? indexOf(directory) ?? named;
}

const isNamed = (main: unknown): boolean => main !== undefined && main !== null && main !== "";

const languageOf = (runtime: unknown): unknown =>
  typeof runtime === "string" ? runtime : (runtime as { name?: unknown } | undefined)?.name;

/** What Pulumi.yaml says. */
function readProject(directory: string): Readonly<Record<string, unknown>> {
  const file = join(directory, fileName);
  const document = parseDocument(readFileSync(file, "utf8"));
  const [wrong] = document.errors;
  if (wrong) {
    const [what = ""] = wrong.message.split(/:?\n/);
    throw new UserError(`${file} is not YAML: ${what}.`, "Correct it and run this again.", 2);
  }
  return (document.toJS() ?? {}) as Record<string, unknown>;
}

const backendOf = ({ backend }: Readonly<Record<string, unknown>>): Pick<Project, "backend"> => {
  const { url } = (backend ?? {}) as { readonly url?: unknown };
  return typeof url === "string" && url !== "" ? { backend: url } : {};
};

/** What the project has of its own. Settings alone, without a program, are for the package's; so is a `main` that leads to it. */
function ownProgram(
  directory: string,
  { name, main, runtime }: Readonly<Record<string, unknown>>,
): Pick<Project, "name" | "program"> {
  const own = (program: string) => ({ name: String(name), program });
  if (languageOf(runtime) !== "nodejs") return own(directory);
  const named = isNamed(main) ? resolve(directory, String(main)) : undefined;
  const entry =
    named === undefined ? programIn(directory) : (fileOf(named) ?? programIn(named) ?? named);
  return entry === undefined || isSame(entry, programModule()) ? {} : own(entry);
}

const ofPackage = (): Project => ({
  directory: packageRoot(),
  ...backendOf(readProject(packageRoot())),
});

/**
 * The project of the directory in which the command runs, or of the one that is named; where there is none, the package itself,
 * as in a checkout.
 *
 * @param cwd what `--cwd` names
 */
export function findProject(cwd?: string): Project {
  const from = resolve(cwd ?? ".");
  // An empty variable in a script must not mean the current directory.
  const directory = cwd === "" ? undefined : nearest(from);
  if (directory === undefined) {
    if (cwd === undefined) return ofPackage();
    throw new UserError(
      cwd === ""
        ? "--cwd: '' is no directory."
        : `--cwd: there is no ${fileName} in ${from}, nor in a directory above it.`,
      "Name the directory of your project; without `--cwd` it is the current one.",
      2,
    );
  }
  if (isSame(directory, packageRoot())) return ofPackage();
  const said = readProject(directory);
  return { directory, ...ownProgram(directory, said), ...backendOf(said) };
}

/** Refuses what runs the program, where the project has one of its own: that is run by Pulumi itself. */
export function requireOurProgram(
  command: string,
  { stack, cwd }: { readonly stack: string; readonly cwd?: string },
): void {
  const { directory, program } = findProject(cwd);
  if (program === undefined) return;
  const missing = existsSync(program) ? "" : ", which is not there";
  const instead =
    missing === ""
      ? ""
      : " Where there is to be none, take `main` out of package.json or Pulumi.yaml.";
  throw new UserError(
    `\`${command}\` runs the program of stackadm, and the project in ${directory} has one of its own: ${program}${missing}.`,
    `Run \`pulumi ${command === "preview" ? command : "up"} --stack ${stack}\` there, after \`eval "$(npx stackadm env --stack ${stack})"\`. The commands that run no program work here: status, outputs, kubeconfig, doctor, refresh, unlock and destroy.${instead}`,
    2,
  );
}
