import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../../../../base/atomic-files.js";
import { ensureCommands } from "../../../../base/host-packages.js";
import { withStep, type Progress } from "../../../../base/progress.js";
import { run } from "../../../../base/run-command.js";
import type { RegistryImage } from "../catalog/component.js";
import { computeDigest } from "../digest.js";
import { mirrorTools } from "../host-tools.js";
import {
  parseFailureReason,
  findUnavailabilityReason,
  type MirrorSettings,
} from "./mirror-settings.js";
import type { RegistryStore } from "../registry/registry-store.js";
import type { SiteImage } from "../site/site-manifest.js";
import { hasAllImages, openRegistryStore } from "../site/site-images.js";

export interface MirrorImagesOptions {
  /** Settings of the mirror. If undefined, nothing is mirrored. */
  readonly settings: MirrorSettings | undefined;
  /** Folder that records which images were mirrored, so that they are not fetched again. */
  readonly cache: string;
  /** Site whose registry gets the images. */
  readonly site: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/** Returns the images that are not among the mirrored images. */
export const listUnmirroredImages = (
  images: readonly RegistryImage[],
  mirrored: readonly SiteImage[],
): readonly RegistryImage[] =>
  images.filter(({ upstream }) => !mirrored.some((one) => one.upstream === upstream));

/**
 * Copies upstream's images unchanged into the registry's store, with one entry for each tag. Leaves
 * out images that cannot be fetched, and reports them. Uses podman's settings for registries:
 * mirrors, authorities, proxies, policy.
 */
export async function mirrorImages(
  images: readonly RegistryImage[],
  options: MirrorImagesOptions,
): Promise<SiteImage[]> {
  const { settings, progress } = options;
  if (!settings || images.length === 0) return [];
  const known = images.map((image) => recorded(image, options));
  const wanted = images.filter((_, index) => known[index] === undefined);
  const lacking = await unreachable(wanted, options);
  const reachable = wanted.filter(({ upstream }) => !lacking.has(hostOf(upstream)));
  const fetched = reachable.length === 0 ? [] : await fetchAll(reachable, options);
  const silent = [...lacking].map(([host, why]) => `${host} (${why})`).join(", ");
  if (silent) progress.note(`Images are not mirrored from ${silent}; the lab builds its own.`);
  return [...known.flatMap((one) => one ?? []), ...fetched];
}

/**
 * Reports whether a site may contain these images. Mirrored images are allowed only if the settings
 * allow mirroring.
 */
export const canContainImages = (
  images: readonly SiteImage[],
  settings: MirrorSettings | undefined,
): boolean => settings !== undefined || !images.some(({ mirrored }) => mirrored);

const hostOf = (reference: string): string => reference.split("/")[0] ?? "";

/**
 * Tries to read one image from each registry. Returns the registries that fail, with the reasons.
 */
async function unreachable(
  images: readonly RegistryImage[],
  { progress, signal }: MirrorImagesOptions,
): Promise<ReadonlyMap<string, string>> {
  if (images.length === 0) return new Map();
  const first = new Map([...images].reverse().map(({ upstream }) => [hostOf(upstream), upstream]));
  // Uses podman, because skopeo may not be installed yet. Both commands read the same settings.
  const ask = (upstream: string) => (within: AbortSignal) =>
    run("podman", ["manifest", "inspect", upstream], { signal: within });
  const answers = await withStep(progress, "Look for upstream's images", 3, () =>
    Promise.all(
      [...first].map(async ([host, upstream]) => [
        host,
        await findUnavailabilityReason(ask(upstream), signal),
      ]),
    ),
  );
  return new Map(answers.flatMap(([host = "", why]) => (why === undefined ? [] : [[host, why]])));
}

async function fetchAll(
  images: readonly RegistryImage[],
  options: MirrorImagesOptions,
): Promise<SiteImage[]> {
  const { progress, signal } = options;
  const failed: string[] = [];
  try {
    await ensureCommands(mirrorTools, progress, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    progress.note(`${parseFailureReason(error)} The lab builds its own images.`);
    return [];
  }
  const fetched = await withStep(progress, "Mirror upstream's images", 150, async (step) => {
    const done: SiteImage[] = [];
    for (const [index, image] of images.entries()) {
      step.update(`${image.upstream} (${index + 1} of ${images.length})`);
      try {
        done.push(...(await fetchImage(image, options)));
      } catch (error) {
        signal?.throwIfAborted();
        failed.push(`${image.upstream}: ${parseFailureReason(error)}`);
      }
    }
    return done;
  });
  for (const one of failed) progress.note(`The lab builds its own in place of ${one}`);
  return fetched;
}

/** Returns the path of the file that records the mirrored content of an image. */
const recordOf = ({ upstream, tags }: RegistryImage, cache: string): string =>
  join(cache, `image-${computeDigest(JSON.stringify([upstream, tags])).slice(0, 12)}.json`);

function recorded(
  image: RegistryImage,
  { cache, site }: MirrorImagesOptions,
): readonly SiteImage[] | undefined {
  const file = recordOf(image, cache);
  if (!existsSync(file)) return undefined;
  const stored = JSON.parse(readFileSync(file, "utf8")) as readonly SiteImage[];
  return hasAllImages(stored, site) ? stored : undefined;
}

async function fetchImage(
  image: RegistryImage,
  options: MirrorImagesOptions,
): Promise<SiteImage[]> {
  const { cache, site, signal } = options;
  const name = image.upstream.replace(/:[^:/]*$/, "");
  const fetched: SiteImage[] = [];
  for (const tag of image.tags) {
    const folder = join(cache, "image");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const platform = ["--override-os", "linux", "--override-arch", "amd64"];
    const copy = ["--command-timeout", "15m", "copy", "--preserve-digests", "--retry-times", "2"];
    const places = [`docker://${name}:${tag}`, `dir:${folder}`];
    await run("skopeo", [...platform, ...copy, ...places], { signal });
    const repositories = [image.repository, ...(image.aliases ?? [])];
    const blobs = await moveImageIntoStore(folder, repositories, tag, openRegistryStore(site));
    fetched.push({
      upstream: `${name}:${tag}`,
      repositories,
      tags: [tag],
      ...blobs,
      mirrored: true,
    });
    rmSync(folder, { recursive: true });
  }
  replaceFile(recordOf(image, cache), JSON.stringify(fetched));
  return fetched;
}

interface PublishedManifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

/** Moves an image from skopeo's `dir:` format into the store. Keeps its manifest byte for byte. */
async function moveImageIntoStore(
  folder: string,
  repositories: readonly string[],
  tag: string,
  store: RegistryStore,
): Promise<Pick<SiteImage, "manifest" | "blobs">> {
  const manifest = readFileSync(join(folder, "manifest.json"), "utf8");
  const { config, layers } = JSON.parse(manifest) as PublishedManifest;
  const hex = ({ digest }: { readonly digest: string }) => digest.replace("sha256:", "");
  const configText = readFileSync(join(folder, hex(config)), "utf8");
  const blobs = [];
  for (const digest of new Set([config, ...layers].map(hex))) {
    const blob = await store.addFile(join(folder, digest));
    if (blob.digest !== digest) throw new Error(`the blob sha256:${digest} is another one`);
    blobs.push(blob);
  }
  const image = {
    manifest,
    digest: computeDigest(manifest),
    config: configText,
    configDigest: hex(config),
  };
  for (const name of repositories) store.publish(name, [tag], image, blobs);
  return { manifest: image.digest, blobs: blobs.map(({ digest }) => digest) };
}
