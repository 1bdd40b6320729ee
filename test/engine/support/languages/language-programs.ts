import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { goBuildDwarfFlags, goBuildGcVariables } from "../../../../base/go-build.js";
import { getCachePath } from "../../../../base/paths.js";
import { silentProgress } from "../../../../base/progress.js";
import { run } from "../../../../base/run-command.js";
import { engineVersion } from "../../../../base/versions/pulumi-versions.js";
import { makeWithGo, type GoBuild } from "../../../../packages/toolchain/make.js";

const folder = (...names: string[]): string => join(__dirname, ...names);
const cache = (...names: string[]): string => getCachePath("test-tools", ...names);

const make = (build: Omit<GoBuild, "ldflags" | "expectedSeconds">): Promise<string> => {
  mkdirSync(cache(), { recursive: true });
  const options = { cache: cache(), progress: silentProgress };
  return makeWithGo({ ...build, ldflags: "-s -w", expectedSeconds: 240 }, options);
};

/** Builds Pulumi's language host for YAML. Returns the directory of the executable. */
export const makeYamlHost = async (): Promise<string> =>
  dirname(
    await make({
      name: "pulumi-language-yaml",
      version: "1.25.0",
      sources: [folder("yaml")],
      package: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    }),
  );

/**
 * Generates the SDKs of a package for Go and Python with Pulumi's generators, in the folders `go`
 * and `python` of `directory`.
 */
export async function generateSdks(schema: string, directory: string): Promise<void> {
  const generate = await make({
    name: "generate-sdk",
    version: engineVersion,
    sources: [folder("go")],
    package: ".",
  });
  const file = join(directory, "schema.json");
  writeFileSync(file, schema);
  await run(generate, [file, directory]);
}

/** Program in another language, which is started with the directory of its project. */
export interface LanguageProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Compiles a Go program, which runs `pulumi up` through Pulumi's Automation API for Go.
 *
 * @param directory directory with the generated SDKs
 */
export async function compileGoProgram(text: string, directory: string): Promise<LanguageProgram> {
  const source = join(directory, "go-program");
  const local = "example.com/pulumi-stackadm/sdk/go";
  mkdirSync(source);
  for (const name of ["go.mod", "go.sum"]) cpSync(folder("go", name), join(source, name));
  cpSync(folder("programs", "run.go"), join(source, "run.go"));
  writeFileSync(join(source, "main.go"), text.replace("pulumi.Run(", "runInline("));
  const env = {
    ...process.env,
    ...goBuildGcVariables,
    CGO_ENABLED: "0",
    GOWORK: "off",
    GOFLAGS: "-mod=mod -modcacherw",
    GOMODCACHE: cache("go-modules"),
  };
  const go = (...args: string[]) => run("nice", ["go", ...args], { cwd: source, env });
  await go("mod", "edit", `-require=${local}@v0.0.0`, `-replace=${local}=${join(directory, "go")}`);
  const command = join(source, "program");
  await go("build", "-trimpath", "-ldflags", "-s -w", ...goBuildDwarfFlags, "-o", command, ".");
  return { command, args: [], env: {} };
}

/** Installs Pulumi's SDK for Python. Returns its directory. */
async function installPythonSdk(): Promise<string> {
  const directory = cache(`python-${engineVersion}`);
  if (existsSync(directory)) return directory;
  const part = `${directory}.part`;
  rmSync(part, { recursive: true, force: true });
  await pip("--target", part, `pulumi==${engineVersion}`, "parver");
  renameSync(part, directory);
  return directory;
}

const pip = (...args: string[]) =>
  run("python3", [
    ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
    ...["--root-user-action", "ignore", ...args],
  ]);

/** Prepares a Python program, which runs `pulumi up` through the Automation API for Python. */
export async function preparePythonProgram(
  text: string,
  directory: string,
): Promise<LanguageProgram> {
  const [program, sdk] = [join(directory, "__main__.py"), join(directory, "python-sdk")];
  writeFileSync(program, text);
  const paths = [sdk, await installPythonSdk()];
  await pip("--target", sdk, "--no-deps", join(directory, "python"));
  return {
    command: "python3",
    args: [folder("programs", "run.py"), program],
    env: { PYTHONPATH: paths.join(delimiter) },
  };
}
