import { existsSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { ensureCommands } from "../../../base/host-packages.js";
import { withLock, type LockHolder } from "../../../base/file-lock.js";
import { getCachePath } from "../../../base/paths.js";
import { withStep, type Progress, type Step } from "../../../base/progress.js";
import { writeDockerRepository, writeKubernetesRepository } from "./apt/apt-repository.js";
import { buildComponents, listComponentNames, deleteGoCache } from "./compile/build-component.js";
import type { Component, RegistryImage, KubernetesRelease } from "./catalog/component.js";
import { computeFileDigest } from "./digest.js";
import { startHeartbeat, type Heartbeat } from "./heartbeat.js";
import { buildTools } from "./host-tools.js";
import { listUnmirroredImages, canContainImages, mirrorImages } from "./mirror/mirror-images.js";
import { mirrorPackages, type MirroredPackages } from "./mirror/mirror-packages.js";
import { readMirrorSettings, type MirrorSettings } from "./mirror/mirror-settings.js";
import { debPackages } from "./catalog/deb-package-table.js";
import { ensureSigningKey } from "./apt/signing-key.js";
import * as sites from "./site/site-manifest.js";
import { hasAllImages, openRegistryStore, writeImages } from "./site/site-images.js";
import { getKubernetesRelease as releaseOf } from "./catalog/versions.js";

export { supportedKubernetesVersions } from "./catalog/versions.js";

export interface KubernetesSiteOptions {
  /** Version without `v`, one of `supportedKubernetesVersions`. */
  readonly version: string;
  readonly progress: Progress;
  /** Settings of the mirrors. @default the environment's */
  readonly mirror?: MirrorSettings;
  readonly signal?: AbortSignal;
}

/** Apt repository and registry storage for one Kubernetes version. */
export interface KubernetesSite {
  readonly version: string;
  /**
   * Folder with `packages/` (Kubernetes' repositories of all minors and Docker's repositories) and
   * `registry/` (storage of docker-registry).
   */
  readonly directory: string;
  /** Path of Kubernetes' repository below `packages/`, such as v1.36/deb. */
  readonly aptPath: string;
  /** Path of the repository's armored public key. */
  readonly keyFile: string;
  /** Fingerprints (40 hex digits) of the keys that sign Kubernetes' and Docker's repositories. */
  readonly keys: { readonly kubernetes: string; readonly containerd: string };
}

/**
 * Returns the packages and images that nodes of a Kubernetes version install. The first call
 * mirrors upstream's files if the settings say so, or builds them from Go modules (about 16 minutes
 * on 2 cores). Later calls use the cache. An interrupted call can be repeated and continues. A
 * second process waits.
 */
export async function ensureKubernetesSite(
  options: KubernetesSiteOptions,
): Promise<KubernetesSite> {
  const release = releaseOf(options.version);
  const cache = getBuildCacheFolder();
  const settings = options.mirror ?? readMirrorSettings();
  const find = () => readySite(release, cache, settings);
  const ready = find();
  if (ready) return ready;
  await ensureCommands(buildTools, options.progress, { signal: options.signal });
  return building(
    `Kubernetes ${release.version}`,
    options,
    async () => find() ?? (await fillSite(release, cache, { ...options, settings })),
  );
}

/** Returns the cache folder of the Kubernetes builds. */
export const getBuildCacheFolder = (): string => getCachePath("lab", "kubernetes");

/** Runs `work` while no other process builds. */
export async function building<T>(
  what: string,
  { progress, signal }: Pick<KubernetesSiteOptions, "progress" | "signal">,
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
    return await withLock(join(getBuildCacheFolder(), "lock"), lock, () => {
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

/** Returns functions that show a step while another process holds the lock. */
function waiting(progress: Progress): Waiting {
  let current: { readonly step: Step; readonly beat: Heartbeat } | undefined;
  return {
    begin: ({ pid, purpose }) => {
      const step = progress.step(`Wait for process ${pid}`);
      const beat = startHeartbeat(step);
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

function aptPathOf(release: KubernetesRelease): string {
  return `v${release.minor}/deb`;
}

/** Returns the site if it is complete and matches the current catalog. */
function readySite(
  release: KubernetesRelease,
  cache: string,
  settings: MirrorSettings | undefined,
): KubernetesSite | undefined {
  const site = join(cache, "site");
  const apt = sites.readSiteManifest(site, release.version)?.apt;
  if (!apt || !readyImages(release, site, settings)) return undefined;
  if (!settings && apt.mirrored) return undefined;
  const { keyFingerprint: kubernetes, dockerKeyFingerprint: containerd } = apt;
  if (containerd === undefined) return undefined;
  const facts = siteFacts(release, site, { kubernetes, containerd });
  const needed = [facts.keyFile, dockerFolder(site)];
  return needed.every((path) => existsSync(path)) ? facts : undefined;
}

/** Returns the images if all of them are stored and match the current catalog. */
function readyImages(
  release: KubernetesRelease,
  site: string,
  settings: MirrorSettings | undefined,
): readonly sites.SiteImage[] | undefined {
  const manifest = sites.readSiteManifest(site, release.version);
  const current =
    manifest?.key === sites.computeSiteKey(release) && hasAllImages(manifest.images, site);
  return current && canContainImages(manifest.images, settings) ? manifest.images : undefined;
}

/**
 * Returns the folder of the repositories in a site, with the paths of pkgs.k8s.io and
 * download.docker.com.
 */
const repositoriesIn = (site: string): string => join(site, "packages");
const dockerFolder = (site: string): string => join(repositoriesIn(site), "linux");

function siteFacts(
  release: KubernetesRelease,
  directory: string,
  keys: KubernetesSite["keys"],
): KubernetesSite {
  const aptPath = aptPathOf(release);
  const keyFile = join(repositoriesIn(directory), aptPath, "Release.key");
  return { version: release.version, directory, aptPath, keyFile, keys };
}

interface FillOptions extends Pick<KubernetesSiteOptions, "progress" | "signal"> {
  readonly settings: MirrorSettings | undefined;
}

/** Mirrors upstream's packages and images, if the settings say so, and builds the rest. */
async function fillSite(
  release: KubernetesRelease,
  cache: string,
  options: FillOptions,
): Promise<KubernetesSite> {
  const { progress, signal, settings } = options;
  const site = join(cache, "site");
  mkdirSync(join(site, "registry"), { recursive: true });
  const key = await ensureSigningKey(join(cache, "key"));
  const dockerKey = await ensureSigningKey(join(cache, "docker-key"), { subkey: true });
  const ready = readyImages(release, site, settings);
  const mirror = { ...options, site, cache: join(cache, "mirror") };
  const packages = await mirrorPackages(release, mirror);
  const mirrored =
    ready?.filter((one) => one.mirrored) ?? (await mirrorImages(release.images, mirror));
  const left = listUnmirroredImages(release.images, mirrored);
  const built = await buildComponents(componentsLeft(release, packages, left), {
    ...options,
    cache,
  });
  await withStep(progress, "Write the apt repositories", 10, async (step) => {
    const made = { release, built, mirrored: packages, step, ...(signal && { signal }) };
    const directory = join(repositoriesIn(site), aptPathOf(release));
    await writeKubernetesRepository({ ...made, key, directory });
    await writeDockerRepository({ ...made, key: dockerKey, directory: dockerFolder(site) });
  });
  const write = (step: Step) =>
    writeImages(left, built, site, {
      cache: join(cache, "layers"),
      step,
      ...(signal && { signal }),
    });
  const images = ready ?? [
    ...mirrored,
    ...(left.length === 0 ? [] : await withStep(progress, "Write the images", 90, write)),
  ];
  sites.writeSiteManifest(site, {
    version: release.version,
    key: sites.computeSiteKey(release),
    apt: {
      path: aptPathOf(release),
      keyFingerprint: key.fingerprint,
      dockerKeyFingerprint: dockerKey.fingerprint,
      ...(packages.size > 0 && { mirrored: await digestsOf(packages) }),
    },
    components: sites.describeSiteComponents(built),
    images,
  });
  openRegistryStore(site).prune(sites.listBlobsInUse(site));
  deleteGoCache(cache);
  return siteFacts(release, site, {
    kubernetes: key.fingerprint,
    containerd: dockerKey.fingerprint,
  });
}

/** Returns the components of the packages and images that are not mirrored. */
function componentsLeft(
  { components }: KubernetesRelease,
  packages: MirroredPackages,
  images: readonly RegistryImage[],
): readonly Component[] {
  const own = debPackages.filter(({ name }) => !packages.has(name));
  const needed = listComponentNames([
    ...own.map(({ programs }) => programs),
    ...images.map(({ files }) => files),
  ]);
  return components.filter(({ name }) => needed.has(name));
}

async function digestsOf(packages: MirroredPackages): Promise<Record<string, string>> {
  const files = [...packages.values()];
  const digests = await Promise.all(files.map(computeFileDigest));
  return Object.fromEntries(files.map((file, index) => [basename(file), digests[index] ?? ""]));
}
