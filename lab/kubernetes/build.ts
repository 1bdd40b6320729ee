import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { withLock, type LockHolder } from "../../base/lock.js";
import { cacheDirectory } from "../../base/paths.js";
import { withStep, type Progress, type Step } from "../../base/progress.js";
import { debianPackages } from "../host/debian-packages.js";
import { hostAptSources, mirrorLines } from "../host/packages.js";
import { inputKey } from "../key.js";
import { machinePackages, suite } from "../packages.js";
import { writeAptRepository } from "./apt-repository.js";
import { buildComponent, requireGo, type BuiltComponent } from "./build-component.js";
import type { Release } from "./component.js";
import { heartbeat, type Heartbeat } from "./heartbeat.js";
import { ensureBuildTools } from "./host-tools.js";
import { debPackages } from "./packages.js";
import { signingKey } from "./signing-key.js";
import * as sites from "./site.js";
import { areStored, storeOf, writeImages } from "./site-images.js";
import { release as releaseOf } from "./versions.js";

export { supportedKubernetesVersions } from "./versions.js";

export interface KubernetesOptions {
  /** Without `v`, one of `supportedKubernetesVersions`. */
  readonly version: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/** Where the apt repository and the registry's storage for one Kubernetes version lie. */
export interface KubernetesSite {
  readonly version: string;
  /** Holds `apt/` (repositories of all minors) and `registry/` (storage folder of docker-registry). */
  readonly directory: string;
  /** Below `apt/`, such as v1.36/deb. */
  readonly aptPath: string;
  /** The repository's armored public key. */
  readonly keyFile: string;
  /** 40 hex digits. */
  readonly keyFingerprint: string;
}

/**
 * Everything nodes of a Kubernetes version install: built from Go modules at the first call (about 16 minutes on 2 cores),
 * from the cache afterwards. Can be interrupted at any time and continues where it was. A second process waits.
 */
export async function ensureKubernetes(options: KubernetesOptions): Promise<KubernetesSite> {
  const release = releaseOf(options.version);
  const cache = buildCache();
  const ready = readySite(release, cache);
  if (ready) return ready;
  await requireGo();
  await ensureBuildTools(options.progress, options.signal);
  return building(
    `Kubernetes ${release.version}`,
    options,
    async () => readySite(release, cache) ?? (await buildSite(release, cache, options)),
  );
}

/** Where everything that is built is kept. */
export const buildCache = (): string => cacheDirectory("lab", "kubernetes");

/** Does `work` while no other process builds. */
export async function building<T>(
  what: string,
  { progress, signal }: Pick<KubernetesOptions, "progress" | "signal">,
  work: () => Promise<T>,
): Promise<T> {
  const wait = waiting(progress);
  const lock = {
    purpose: `building ${what} for the lab`,
    waitMs: 45 * 60_000,
    onWait: wait.begin,
    ...(signal && { signal }),
  };
  try {
    return await withLock(join(buildCache(), "lock"), lock, () => {
      wait.end();
      return work();
    });
  } finally {
    wait.end();
  }
}

interface Waiting {
  readonly begin: (holder: LockHolder) => void;
  readonly end: () => void;
}

/** A step for the time in which another process has the lock; none when it is free. */
function waiting(progress: Progress): Waiting {
  let current: { readonly step: Step; readonly beat: Heartbeat } | undefined;
  return {
    begin: ({ pid, purpose }) => {
      const step = progress.step(`Wait for process ${pid}`);
      const beat = heartbeat(step);
      current = { step, beat };
      beat.update(purpose);
    },
    end: () => {
      current?.beat.stop();
      current?.step.done();
      current = undefined;
    },
  };
}

function aptPathOf(release: Release): string {
  return `v${release.minor}/deb`;
}

/** The site if it is complete and made of what the tables say today. */
function readySite(release: Release, cache: string): KubernetesSite | undefined {
  const site = join(cache, "site");
  const apt = sites.readSiteManifest(site, release.version)?.apt;
  if (!apt || !readyImages(release, site)) return undefined;
  const offers = (apt.distribution ?? []).join(" ") === machinePackages.join(" ");
  const facts = siteFacts(release, site, apt.keyFingerprint);
  return offers && existsSync(facts.keyFile) ? facts : undefined;
}

/** The images if all of them are there and made of what the tables say today. */
function readyImages(release: Release, site: string): readonly sites.SiteImage[] | undefined {
  const manifest = sites.readSiteManifest(site, release.version);
  const current = manifest?.key === sites.siteKey(release) && areStored(manifest.images, site);
  return current ? manifest.images : undefined;
}

function siteFacts(release: Release, directory: string, keyFingerprint: string): KubernetesSite {
  const aptPath = aptPathOf(release);
  const keyFile = join(directory, "apt", aptPath, "Release.key");
  return { version: release.version, directory, aptPath, keyFile, keyFingerprint };
}

async function buildSite(
  release: Release,
  cache: string,
  options: KubernetesOptions,
): Promise<KubernetesSite> {
  const { progress, signal } = options;
  const site = join(cache, "site");
  mkdirSync(join(site, "registry"), { recursive: true });
  const key = await signingKey(join(cache, "key"));
  const built = new Map<string, BuiltComponent>();
  const goCache = join(cache, "go-build");
  const build = async (names: readonly string[]) => {
    for (const component of release.components.filter(({ name }) => names.includes(name))) {
      signal?.throwIfAborted();
      const directory = join(cache, "components");
      const result = await buildComponent(component, { ...options, cache: directory, goCache });
      built.set(component.name, result);
    }
  };
  const node = componentsOf(debPackages.map(({ programs }) => programs));
  const rest = release.components.map(({ name }) => name).filter((name) => !node.includes(name));
  await build(node);
  const distribution = await distributionPackages(cache, options);
  await withStep(progress, "Write the apt repository", 8, (step) => {
    const directory = join(site, "apt", aptPathOf(release));
    const made = { release, built, key, distribution };
    return writeAptRepository({ ...made, directory, step, ...(signal && { signal }) });
  });
  await build(rest);
  const writeAll = (step: Step) =>
    writeImages(release.images, built, site, {
      cache: join(cache, "layers"),
      step,
      ...(signal && { signal }),
    });
  const images =
    readyImages(release, site) ?? (await withStep(progress, "Write the images", 90, writeAll));
  sites.writeSiteManifest(site, {
    version: release.version,
    key: sites.siteKey(release),
    apt: {
      ...{ path: aptPathOf(release), keyFingerprint: key.fingerprint },
      distribution: machinePackages,
    },
    components: sites.siteComponents(built),
    images,
  });
  storeOf(site).prune(sites.blobsInUse(site));
  // 8 GB that only an interrupted build needs; the executables are kept
  rmSync(goCache, { recursive: true, force: true });
  return siteFacts(release, site, key.fingerprint);
}

/** What machines install of the distribution itself: from the host's mirrors at the first call, none where it has no such mirror. */
async function distributionPackages(
  cache: string,
  { progress, signal }: KubernetesOptions,
): Promise<string[]> {
  const mirrors = mirrorLines(await hostAptSources(), suite);
  if (mirrors.length === 0) {
    progress.note(
      `The apt of this host has no mirror of Debian ${suite}: the lab's repository offers no ${machinePackages[0] ?? ""}.`,
    );
    return [];
  }
  return withStep(progress, "Download packages for machines", 15, (step) =>
    debianPackages({
      folder: join(cache, "distribution", inputKey(suite, machinePackages)),
      packages: machinePackages,
      mirrors,
      step,
      ...(signal && { signal }),
    }),
  );
}

/** Names of the components that programs (`component/program`) come from, each once. */
function componentsOf(programs: readonly Readonly<Record<string, string>>[]): string[] {
  const names = programs.flatMap((files) => Object.values(files));
  return [...new Set(names.map((name) => name.split("/")[0] ?? ""))];
}
