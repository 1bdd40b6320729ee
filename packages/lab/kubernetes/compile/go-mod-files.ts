import { goBuildDwarfFlags } from "../../../../base/go-build.js";
import type { Component, ModuleSource } from "../catalog/component.js";

/** Output of `go mod edit -json`, with the fields that are used here. */
export interface GoModFile {
  readonly Go?: string;
  readonly Require?: readonly { readonly Path: string; readonly Version: string }[] | null;
  readonly Replace?: readonly GoReplace[] | null;
}

export interface GoReplace {
  readonly Old: { readonly Path: string; readonly Version?: string };
  readonly New: { readonly Path: string; readonly Version?: string };
}

const oldestLanguage = "1.24.0";

/**
 * Returns the versions of the modules in Kubernetes' go.mod, as a map from a module to its version.
 * Modules from Kubernetes' staging folder get the version under which they are published.
 */
export function listModuleVersions(kubernetes: GoModFile, version: string): Map<string, string> {
  const staging = `v0.${version.split(".").slice(1).join(".")}`;
  const own = new Set((kubernetes.Replace ?? []).map(({ Old }) => Old.Path));
  const required = kubernetes.Require ?? [];
  return new Map(required.map(({ Path, Version }) => [Path, own.has(Path) ? staging : Version]));
}

/**
 * Versions that every build uses instead of its required versions. A map from a module to its
 * version.
 */
type Shared = ReadonlyMap<string, string>;

/**
 * Renders the go.mod of a main module that builds the programs of another module. Go ignores the
 * replacements of that other module. So replacements by published modules are copied into this
 * file. All other replacements are dropped.
 */
export function renderModuleGoMod(
  component: Component,
  source: ModuleSource,
  upstream: GoModFile,
  shared: Shared = new Map(),
): string {
  const own = source.replace ?? {};
  const replaces = (upstream.Replace ?? []).flatMap(({ Old, New }): string[] => {
    if (!New.Version || Old.Path in own || shared.has(Old.Path)) return [];
    return [`${[Old.Path, Old.Version].filter(Boolean).join(" ")} => ${New.Path} ${New.Version}`];
  });
  return renderGoMod({
    name: component.name,
    language: getNewerVersion(upstream.Go ?? oldestLanguage, oldestLanguage),
    require: [`${source.module} ${source.moduleVersion ?? component.version}`],
    replace: [...replaces, ...Object.entries(own).map(([path, target]) => `${path} => ${target}`)],
    shared: new Map([...shared].filter(([path]) => !(path in own))),
  });
}

/** Renders go.mod of one of the lab's own programs. */
export const renderProgramGoMod = (
  name: string,
  require: readonly string[],
  shared: Shared = new Map(),
): string => renderGoMod({ name, language: "1.26.0", require, replace: [], shared });

interface GoModParts {
  readonly name: string;
  readonly language: string;
  readonly require: readonly string[];
  readonly replace: readonly string[];
  readonly shared: Shared;
}

/**
 * Renders a go.mod. Each shared module is required in a very late version, which is replaced by the
 * shared version. So Go selects the same version in every build. Go's build cache distinguishes
 * packages by the selected version, so that all builds share compiled packages.
 */
function renderGoMod(parts: GoModParts): string {
  const shared = [...parts.shared].map(([path, version]) => ({
    require: `${path} ${getPlaceholderVersion(path, version)}`,
    replace: `${path} => ${path} ${version}`,
  }));
  return [
    `module stackadm.test/${parts.name}`,
    "",
    `go ${parts.language}`,
    "",
    ...[...parts.require, ...shared.map(({ require }) => require)].map((one) => `require ${one}`),
    "",
    ...[...parts.replace, ...shared.map(({ replace }) => replace)].map((one) => `replace ${one}`),
    "",
  ].join("\n");
}

/**
 * Returns a version later than any required version, with the same major. The major comes from the
 * path, or from an `+incompatible` version, or else is 1.
 */
function getPlaceholderVersion(path: string, version: string): string {
  const inPath = /^gopkg\.in\/.*\.v(\d+)$/.exec(path) ?? /\/v(\d+)$/.exec(path);
  const beyond = /^v(\d+)\..*\+incompatible$/.exec(version);
  return `v${(inPath ?? beyond)?.[1] ?? "1"}.999.0${beyond ? "+incompatible" : ""}`;
}

/** Returns the later of two Go language versions, compared number by number. */
export function getNewerVersion(one: string, other: string): string {
  const numbers = (version: string) => version.split(".").map(Number);
  const [a, b] = [numbers(one), numbers(other)];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference > 0 ? one : other;
  }
  return one;
}

/** Returns the name that `go build` gives an executable: the last element of its package's path. */
export function getExecutableName(mainPackage: string): string {
  return mainPackage.split("/").at(-1) ?? "";
}

/**
 * Build tags of Kubernetes. All components use these tags. Other tags may select other files of a
 * shared package, and Go would compile the package twice.
 */
const tags = ["selinux", "notest", "grpcnotrace"];

/**
 * Returns the arguments of `go build` for all programs of a component, into the folder `output`.
 * One run builds several programs under the names that Go gives them. versions.test.ts checks that
 * the catalog uses these names.
 */
export function getGoBuildArguments(component: Component, output: string): string[] {
  const link = Object.entries(component.link ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  const ldflags = ["-s", "-w", ...(component.cgo ? ["-extldflags=-static"] : []), ...link];
  const names = Object.keys(component.programs);
  return [
    ...["build", "-p", "2", "-v", "-trimpath", "-ldflags", ldflags.join(" "), ...goBuildDwarfFlags],
    ...["-tags", [...tags, ...(component.tags ?? [])].join(",")],
    ...["-o", names.length === 1 ? `${output}/${names.join("")}` : `${output}/`],
    ...Object.values(component.programs),
  ];
}
