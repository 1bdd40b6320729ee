import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Python program that writes a zip file. It reads the names and contents of the files from its
 * standard input, and writes no entries for directories.
 */
const writeZip = `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as file:
    for name, content in json.load(sys.stdin):
        file.writestr(name, content)`;

/**
 * Go module in a directory. Go uses this directory as its module proxy. Needs `python3`, which
 * writes the module's zip file.
 */
export class LocalModule {
  readonly name = "example.test/data";
  readonly version = "v1.0.0";
  /**
   * Environment variables that make Go find the module in the directory and contact no other host.
   */
  readonly environment: Readonly<Record<string, string>>;

  constructor(
    private readonly folder: string,
    files: Readonly<Record<string, string>>,
  ) {
    const { name, version } = this;
    const goMod = `module ${name}\n\ngo 1.22\n`;
    const versions = join(folder, name, "@v");
    mkdirSync(versions, { recursive: true });
    writeFileSync(join(versions, `${version}.info`), JSON.stringify({ Version: version }));
    writeFileSync(join(versions, `${version}.mod`), goMod);
    const contents = Object.entries({ ...files, "go.mod": goMod }).map(([path, content]) => [
      `${name}@${version}/${path}`,
      content,
    ]);
    execFileSync("python3", ["-c", writeZip, join(versions, `${version}.zip`)], {
      input: JSON.stringify(contents),
    });
    this.environment = { GOPROXY: `file://${folder}`, GONOSUMDB: name, GOTOOLCHAIN: "local" };
  }

  /**
   * Returns the content of go.sum for a main module that requires this module. `directory` contains
   * the go.mod of the main module.
   */
  sums(directory: string): string {
    const { name, version } = this;
    const modules = join(this.folder, "modules");
    const env = { ...process.env, ...this.environment, GOFLAGS: "-mod=mod -modcacherw" };
    const told = execFileSync("go", ["mod", "download", "-json", `${name}@${version}`], {
      cwd: directory,
      env: { ...env, GOMODCACHE: modules },
    }).toString();
    const { Sum: sum, GoModSum: goModSum } = JSON.parse(told) as Readonly<Record<string, string>>;
    return `${name} ${version} ${sum ?? ""}\n${name} ${version}/go.mod ${goModSum ?? ""}\n`;
  }
}

/**
 * Runs `work` with changed environment variables of this process. Restores the variables
 * afterwards.
 */
export async function withEnvironment<T>(
  variables: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    return await work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  }
}
