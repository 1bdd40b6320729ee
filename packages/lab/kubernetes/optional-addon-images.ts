import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureCommands } from "../../../base/host-packages.js";
import type { PinnedManifest } from "../../../base/versions/pod-network-manifests.js";
import { withStep, type Step } from "../../../base/progress.js";
import { getProgramFile } from "./apt/deb-files.js";
import { getBuildCacheFolder, building, type KubernetesSiteOptions } from "./build.js";
import {
  buildComponents,
  computeComponentKey,
  listComponentNames,
  deleteGoCache,
  type BuiltComponents,
} from "./compile/build-component.js";
import type { Component, RegistryImage } from "./catalog/component.js";
import { computeDigest } from "./digest.js";
import {
  optionalAddons,
  type OptionalAddon,
  type OptionalAddonName,
} from "./catalog/optional-addons.js";
import { buildTools } from "./host-tools.js";
import { debianLayerPackages } from "./registry/image-layers.js";
import { listUnmirroredImages, canContainImages, mirrorImages } from "./mirror/mirror-images.js";
import { readMirrorSettings } from "./mirror/mirror-settings.js";
import { readAddedImages, writeAddedImages, type SiteImage } from "./site/site-manifest.js";
import { hasAllImages, writeImages } from "./site/site-images.js";

type Options = Pick<KubernetesSiteOptions, "progress" | "mirror" | "signal">;

/** Manifests of an optional add-on. A map from the name of the deployed program to its manifest. */
export type OptionalAddonManifests = Readonly<Record<string, PinnedManifest>>;

const keyOf = ({ components, images }: OptionalAddon): string =>
  computeDigest(JSON.stringify([components.map(computeComponentKey), images, debianLayerPackages]));

/**
 * Adds the images of an optional add-on to the registry of all labs on this host. Returns the
 * manifests of the add-on. The first call mirrors or builds the images; later calls use the cache.
 * An interrupted call can be repeated.
 */
export async function ensureOptionalAddon(
  name: OptionalAddonName,
  options: Options,
): Promise<OptionalAddonManifests> {
  const extra = optionalAddons[name]();
  const settings = options.mirror ?? readMirrorSettings();
  await ensureCommands(buildTools, options.progress, { signal: options.signal });
  return building(name, options, async () => {
    const cache = getBuildCacheFolder();
    const site = join(cache, "site");
    const before = readAddedImages(site, name);
    const ready =
      before?.key === keyOf(extra) &&
      hasAllImages(before.images, site) &&
      canContainImages(before.images, settings);
    const mirror = { ...options, settings, site, cache: join(cache, "mirror") };
    const mirrored = ready
      ? before.images.filter((one) => one.mirrored)
      : await mirrorImages(extra.images, mirror);
    const left = listUnmirroredImages(extra.images, mirrored);
    const built = await buildComponents(componentsLeft(extra, left), { ...options, cache });
    if (!ready) await add(name, extra, left, { ...options, built, mirrored, site });
    deleteGoCache(cache);
    return manifestsOf(extra, built);
  });
}

/**
 * Returns the components that must be built. A component that is needed only for its manifests has
 * no programs in the result, so that nothing is compiled.
 */
function componentsLeft(
  { components, manifests }: OptionalAddon,
  images: readonly RegistryImage[],
): readonly Component[] {
  const needed = listComponentNames(images.map(({ files }) => files));
  const giving = listComponentNames([manifests]);
  return components.flatMap((component) => {
    if (needed.has(component.name)) return [component];
    return giving.has(component.name) ? [{ ...component, programs: {} }] : [];
  });
}

interface AddOptions extends Options {
  readonly built: BuiltComponents;
  readonly mirrored: readonly SiteImage[];
  readonly site: string;
}

async function add(
  name: OptionalAddonName,
  extra: OptionalAddon,
  left: readonly RegistryImage[],
  { built, mirrored, site, progress, signal }: AddOptions,
): Promise<void> {
  mkdirSync(join(site, "registry"), { recursive: true });
  const write = (step: Step) =>
    writeImages(left, built, site, {
      cache: join(getBuildCacheFolder(), "layers"),
      step,
      ...(signal && { signal }),
    });
  const own =
    left.length === 0 ? [] : await withStep(progress, `Write the images of ${name}`, 60, write);
  writeAddedImages(site, name, { key: keyOf(extra), images: [...mirrored, ...own] });
}

function manifestsOf({ manifests }: OptionalAddon, built: BuiltComponents): OptionalAddonManifests {
  const pinned = Object.entries(manifests).map(([kind, copy]) => {
    const source = getProgramFile(built, copy);
    const sha256 = computeDigest(readFileSync(source));
    return [kind, { source, sha256 }];
  });
  return Object.fromEntries(pinned) as OptionalAddonManifests;
}
