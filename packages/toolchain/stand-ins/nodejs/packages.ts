/** Lists a program's packages, and the packages that need a Pulumi plugin. */
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";

const manifest = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  devDependencies: z.record(z.string(), z.string()).optional(),
  pulumi: z
    .object({
      resource: z.boolean().optional(),
      name: z.string().optional(),
      version: z.string().optional(),
      server: z.string().optional(),
    })
    .optional()
    .catch(undefined),
});
export type PackageJson = z.infer<typeof manifest>;

export interface PulumiPlugin {
  readonly name: string;
  /** Version with a leading v. */
  readonly version: string;
  readonly server?: string | undefined;
}

export interface Dependency {
  readonly name: string;
  readonly version: string;
}

/** Reads a package.json. Returns undefined if the file is missing or invalid. */
export function readPackageJson(directory: string): PackageJson | undefined {
  try {
    return manifest.parse(JSON.parse(readFileSync(join(directory, "package.json"), "utf8")));
  } catch {
    return undefined;
  }
}

/**
 * Returns the Pulumi plugins of all packages in the node_modules directories that a program in
 * `directory` can use. Returns each name and version once.
 */
export function listRequiredPlugins(directory: string): PulumiPlugin[] {
  const plugins = new Map<string, PulumiPlugin>();
  for (const path of installed(directory)) {
    const plugin = getPackagePlugin(readPackageJson(path));
    if (plugin) plugins.set(`${plugin.name}@${plugin.version}`, plugin);
  }
  return [...plugins.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * Returns the Pulumi plugin of a package. The name and the version are in the package's `pulumi`
 * object. Otherwise, they are those of the package itself (without `@pulumi/`).
 */
export function getPackagePlugin(found: PackageJson | undefined): PulumiPlugin | undefined {
  const about = found?.pulumi;
  if (about?.resource !== true) return undefined;
  const name = about.name ?? found?.name?.replace(/^@pulumi\//, "").replace(/^@/, "");
  const version = about.version ?? found?.version;
  if (!name || !version) return undefined;
  return { name, version: `v${version.replace(/^v/, "")}`, server: about.server };
}

/**
 * Returns the packages in the program's package.json or, with `transitive`, all installed packages.
 */
export function listDependencies(directory: string, transitive: boolean): Dependency[] {
  if (transitive) {
    return installed(directory).flatMap((path) => {
      const found = readPackageJson(path);
      return found?.name ? [{ name: found.name, version: found.version ?? "" }] : [];
    });
  }
  const program = readPackageJson(findPackageDirectory(directory) ?? directory);
  const named = { ...program?.dependencies, ...program?.devDependencies };
  return Object.entries(named).map(([name, range]) => {
    const path = nodeModules(directory)
      .map((modules) => join(modules, name))
      .find((candidate) => existsSync(candidate));
    return { name, version: (path && readPackageJson(path)?.version) ?? range };
  });
}

/**
 * Returns the directory that contains the program's package.json. Searches `directory` and its
 * parents.
 */
export function findPackageDirectory(directory: string): string | undefined {
  return parents(directory).find((path) => existsSync(join(path, "package.json")));
}

function parents(directory: string): string[] {
  const up = dirname(directory);
  return up === directory ? [directory] : [directory, ...parents(up)];
}

function nodeModules(directory: string): string[] {
  return parents(directory)
    .map((path) => join(path, "node_modules"))
    .filter((path) => existsSync(path));
}

function installed(directory: string): string[] {
  const seen = new Set<string>();
  const found: string[] = [];
  const waiting = nodeModules(directory);
  for (let modules = waiting.pop(); modules !== undefined; modules = waiting.pop()) {
    for (const path of packagesIn(modules)) {
      const real = realpathSync(path);
      if (seen.has(real)) continue;
      seen.add(real);
      found.push(path);
      const nested = join(path, "node_modules");
      if (existsSync(nested)) waiting.push(nested);
    }
  }
  return found;
}

function packagesIn(modules: string): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => {
      const path = join(modules, name);
      if (!name.startsWith("@")) return [path];
      return readdirSync(path).map((inner) => join(path, inner));
    })
    .filter((path) => existsSync(join(path, "package.json")));
}
