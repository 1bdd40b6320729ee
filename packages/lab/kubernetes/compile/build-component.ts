import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { goBuildGcVariables } from "../../../../base/go-build.js";
import type { Progress, Step } from "../../../../base/progress.js";
import { withStep } from "../../../../base/progress.js";
import { run } from "../../../../base/run-command.js";
import { Failure } from "../../../../base/failures/failure.js";
import type { Component, CSource, ModuleSource, ProgramSource } from "../catalog/component.js";
import {
  getGoBuildArguments,
  listModuleVersions,
  getNewerVersion,
  renderModuleGoMod,
  renderProgramGoMod,
} from "./go-mod-files.js";
import type { GoModFile } from "./go-mod-files.js";
import { startHeartbeat } from "../heartbeat.js";
import { kubernetesModule, minimumGo } from "../catalog/versions.js";

export interface BuildComponentOptions {
  /** Folder of all finished components. */
  readonly cache: string;
  /**
   * Folder of Go's module and build caches (several GB), with which an interrupted build continues.
   */
  readonly goCache: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/** Component in the cache. */
export interface BuiltComponent {
  readonly component: Component;
  /** Folder with one executable per program. */
  readonly directory: string;
  /** Digest of all inputs of the executables. */
  readonly key: string;
  /** Duration of the build in seconds, or 0 if the component was in the cache. */
  readonly seconds: number;
}

/** Built components by name. */
export type BuiltComponents = ReadonlyMap<string, BuiltComponent>;

const programs = join(__dirname, "../programs");
const goCacheOf = (cache: string) => join(cache, "go");

/**
 * Builds these components.
 *
 * @param cache folder for all build results
 */
export async function buildComponents(
  components: readonly Component[],
  { cache, ...options }: Omit<BuildComponentOptions, "goCache">,
): Promise<BuiltComponents> {
  const built = new Map<string, BuiltComponent>();
  if (components.length > 0) await requireGo();
  for (const component of components) {
    options.signal?.throwIfAborted();
    const folders = { cache: join(cache, "components"), goCache: goCacheOf(cache) };
    built.set(component.name, await buildComponent(component, { ...options, ...folders }));
  }
  return built;
}

/** Returns the names of the components in maps from a path to `component/program`. */
export const listComponentNames = (
  files: readonly Readonly<Record<string, string>>[],
): Set<string> =>
  new Set(files.flatMap((paths) => Object.values(paths).map((name) => name.split("/")[0] ?? "")));

/**
 * Deletes the caches of Go (15 GB), which only an interrupted build needs. Keeps the executables.
 */
export function deleteGoCache(cache: string): void {
  rmSync(goCacheOf(cache), { recursive: true, force: true });
}

/**
 * Returns a digest of everything that determines the executables: build options and the lab's own
 * sources. The digest has 12 hex digits.
 */
export function computeComponentKey(component: Component): string {
  const { name, version, source, programs: mains, tags, link, cgo, copies } = component;
  const hash = createHash("sha256");
  hash.update(JSON.stringify({ name, version, source, mains, tags, link, cgo, copies }));
  if (component.source.kind === "program") {
    const directory = join(programs, component.source.directory);
    for (const file of readdirSync(directory).sort()) {
      hash.update(file).update(readFileSync(join(directory, file)));
    }
  }
  return hash.digest("hex").slice(0, 12);
}

/**
 * Returns a component from the cache, or builds it. The folder of an unfinished build ends with
 * `.part`. After an interruption, the next call deletes this folder and builds the component again.
 * Go's caches still contain the packages that were compiled before the interruption.
 */
export async function buildComponent(
  component: Component,
  options: BuildComponentOptions,
): Promise<BuiltComponent> {
  const key = computeComponentKey(component);
  const directory = join(options.cache, `${component.name}-${component.version}-${key}`);
  if (existsSync(directory)) return { component, directory, key, seconds: 0 };
  const part = `${directory}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(join(part, "source"), { recursive: true });
  const started = Date.now();
  const title = `Build ${component.name} ${component.version}`;
  await withStep(options.progress, title, component.expectedSeconds, async (step) => {
    const beat = startHeartbeat(step);
    try {
      await compile(component, part, { ...options, step: beat });
    } finally {
      beat.stop();
    }
  });
  rmSync(join(part, "source"), { recursive: true });
  renameSync(part, directory);
  return { component, directory, key, seconds: Math.round((Date.now() - started) / 1000) };
}

type CompileOptions = BuildComponentOptions & { readonly step: Pick<Step, "update"> };

async function compile(component: Component, part: string, options: CompileOptions): Promise<void> {
  const source = join(part, "source");
  switch (component.source.kind) {
    case "c":
      await compileC(component, component.source, part, options);
      return;
    case "program":
      cpSync(join(programs, component.source.directory), source, { recursive: true });
      writeFileSync(
        join(source, "go.mod"),
        renderProgramGoMod(
          component.name,
          component.source.require,
          await sharedModules(component.source, options),
        ),
      );
      break;
    case "module": {
      const upstream = await moduleDirectory(component.source, component.version, options);
      const file = await goModOf(upstream);
      const shared = await sharedModules(component.source, options);
      const text = renderModuleGoMod(component, component.source, file, shared);
      writeFileSync(join(source, "go.mod"), text);
      copyOf(component, upstream, part);
      break;
    }
  }
  if (Object.keys(component.programs).length === 0) return;
  let packages = 0;
  // `nice` gives other processes on this machine priority.
  await run("nice", ["go", ...getGoBuildArguments(component, part)], {
    cwd: source,
    env: goEnvironment(options, component.cgo === true),
    signal: options.signal,
    // When `go build -v` begins to compile a package, it prints the path of the package, which
    // contains no space.
    isProgress: (line) => !line.includes(" "),
    onLine: (line) => {
      if (line.startsWith("go: ")) options.step.update(line.slice(4));
      else options.step.update(`${++packages} packages compiled, now ${line}`);
    },
  });
}

const goModOf = async (directory: string): Promise<GoModFile> =>
  JSON.parse(
    (await run("go", ["mod", "edit", "-json", join(directory, "go.mod")])).stdout,
  ) as GoModFile;

/**
 * Returns the shared versions, as a map from a module to its version. The map is empty if the
 * component shares none.
 */
async function sharedModules(
  { sharedWith }: ModuleSource | ProgramSource,
  options: CompileOptions,
): Promise<ReadonlyMap<string, string>> {
  if (sharedWith === undefined) return new Map();
  const kubernetes = { kind: "module", module: kubernetesModule } as const;
  const directory = await moduleDirectory(kubernetes, `v${sharedWith}`, options);
  return listModuleVersions(await goModOf(directory), sharedWith);
}

/** Copies files of the module and makes them writable, because Go's module cache is read-only. */
function copyOf({ copies = {} }: Component, upstream: string, part: string): void {
  for (const [name, path] of Object.entries(copies)) {
    cpSync(join(upstream, path), join(part, name), { recursive: true });
    chmodTree(join(part, name));
  }
}

function chmodTree(path: string): void {
  chmodSync(path, 0o755);
  if (!statSync(path).isDirectory()) return;
  for (const entry of readdirSync(path)) chmodTree(join(path, entry));
}

/**
 * Returns the environment of `go`. With `-mod=mod`, go adds missing requirements to go.mod and
 * checks them with the checksum database. With `-modcacherw`, the module cache can be deleted. The
 * user's own caches of Go are not used.
 */
function goEnvironment(
  { goCache }: Pick<BuildComponentOptions, "goCache">,
  cgo: boolean,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...goBuildGcVariables,
    CGO_ENABLED: cgo ? "1" : "0",
    GOCACHE: join(goCache, "build"),
    GOMODCACHE: join(goCache, "modules"),
    GOFLAGS: "-mod=mod -modcacherw -buildvcs=false",
    GOOS: "linux",
    GOARCH: "amd64",
    GOWORK: "off",
  };
}

/** Downloads a module, if it is not in the cache yet, and returns its folder. */
async function moduleDirectory(
  source: ModuleSource | CSource,
  version: string,
  options: CompileOptions,
): Promise<string> {
  const module = `${source.module}@${source.moduleVersion ?? version}`;
  options.step.update(`downloading ${module}`);
  const { stdout } = await run("go", ["mod", "download", "-json", module], {
    env: goEnvironment(options, false),
    signal: options.signal,
    accept: [0, 1],
  });
  const answer = JSON.parse(stdout) as { Dir?: string; Error?: string };
  if (!answer.Dir) {
    throw new Failure(
      "FAILED",
      `The Go module ${module} cannot be downloaded: ${answer.Error ?? "no reason given"}.`,
      "Check GOPROXY (go env GOPROXY) and the network, and run this again; what is built is kept.",
    );
  }
  return answer.Dir;
}

async function compileC(
  component: Component,
  source: CSource,
  part: string,
  options: CompileOptions,
): Promise<void> {
  const upstream = await moduleDirectory(source, component.version, options);
  const output = join(part, Object.keys(component.programs).join(""));
  const version = `-DVERSION=v${component.version}`;
  const flags = ["-Os", "-Wall", "-static", "-s", version];
  await run("gcc", [...flags, "-o", output, join(upstream, source.file)], {
    signal: options.signal,
  });
}

/** Throws a Failure if Go is missing or too old. */
export async function requireGo(): Promise<void> {
  const hint = `Install Go ${minimumGo} or later (https://go.dev/dl/), put it on PATH and run this again.`;
  let version: string;
  try {
    version = (await run("go", ["env", "GOVERSION"])).stdout.trim().replace(/^go/, "");
  } catch {
    throw new Failure(
      "FAILED",
      "The lab builds Kubernetes from Go modules and there is no Go here.",
      hint,
    );
  }
  const plain = version.split(/[^0-9.]/)[0] ?? "";
  if (getNewerVersion(plain, minimumGo) !== plain) {
    throw new Failure(
      "FAILED",
      `The lab builds Kubernetes from Go modules; Go ${version} is too old for that.`,
      hint,
    );
  }
}
