import type { Component, ModuleSource } from "./component.js";

/** What `go mod edit -json` says of a go.mod, as far as it is used here. */
export interface GoModFile {
  readonly Go?: string;
  readonly Replace?: readonly GoReplace[] | null;
}

export interface GoReplace {
  readonly Old: { readonly Path: string; readonly Version?: string };
  readonly New: { readonly Path: string; readonly Version?: string };
}

const oldestLanguage = "1.24.0";

/**
 * go.mod of a main module that builds another module's programs as that module would. Replacements only count
 * in the main module, so they are repeated here: those that name a published module as they are, `./staging/...`
 * as the published module of `stagingVersion`; any other local path falls back to the version that is required.
 */
export function renderModuleGoMod(
  component: Component,
  source: ModuleSource,
  upstream: GoModFile,
): string {
  const replaces = (upstream.Replace ?? []).flatMap(({ Old, New }): string[] => {
    const old = [Old.Path, Old.Version].filter(Boolean).join(" ");
    if (New.Version) return [`replace ${old} => ${New.Path} ${New.Version}`];
    if (source.stagingVersion && New.Path.startsWith("./staging/")) {
      return [`replace ${old} => ${Old.Path} ${source.stagingVersion}`];
    }
    return [];
  });
  const own = Object.entries(source.replace ?? {});
  const ownPaths = own.map(([path]) => path);
  return renderGoMod({
    name: component.name,
    language: newer(upstream.Go ?? oldestLanguage, oldestLanguage),
    require: [`${source.module} ${source.moduleVersion ?? component.version}`],
    replace: [
      ...replaces.filter((line) => !ownPaths.includes(line.split(" ")[1] ?? "")),
      ...own.map(([path, target]) => `replace ${path} => ${target}`),
    ],
  });
}

/** go.mod of one of the lab's own programs. */
export function renderProgramGoMod(name: string, require: readonly string[]): string {
  return renderGoMod({ name, language: "1.26.0", require, replace: [] });
}

interface GoModParts {
  readonly name: string;
  readonly language: string;
  readonly require: readonly string[];
  readonly replace: readonly string[];
}

function renderGoMod(parts: GoModParts): string {
  return [
    `module stackadm.test/${parts.name}`,
    "",
    `go ${parts.language}`,
    "",
    ...parts.require.map((line) => `require ${line}`),
    "",
    ...parts.replace,
    "",
  ].join("\n");
}

/** The later of two Go language versions, compared number by number. */
export function newer(one: string, other: string): string {
  const numbers = (version: string) => version.split(".").map(Number);
  const [a, b] = [numbers(one), numbers(other)];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference > 0 ? one : other;
  }
  return one;
}

/** The name `go build` gives an executable: the last element of its package's path. */
export function executableName(mainPackage: string): string {
  return mainPackage.split("/").at(-1) ?? "";
}

/**
 * Arguments of `go build` for every program of a component, into the folder `output`. Several at once share one
 * run, and then have the names that Go gives them (versions.test.ts holds the table to it).
 */
export function goBuildArguments(component: Component, output: string): string[] {
  const link = Object.entries(component.link ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  const ldflags = ["-s", "-w", ...(component.cgo ? ["-extldflags=-static"] : []), ...link];
  const names = Object.keys(component.programs);
  return [
    ...["build", "-p", "2", "-v", "-trimpath", "-ldflags", ldflags.join(" ")],
    ...(component.tags ? ["-tags", component.tags.join(",")] : []),
    ...["-o", names.length === 1 ? `${output}/${names.join("")}` : `${output}/`],
    ...Object.values(component.programs),
  ];
}
