import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BuiltComponents } from "../compile/build-component.js";
import type { RegistryImage } from "../catalog/component.js";
import {
  ensureDebianLayer,
  ensureEmptyLayer,
  createProgramLayer,
  type LayerBuildContext,
} from "../registry/image-layers.js";
import { getImageLabels, renderImage, type Blob } from "../registry/oci.js";
import { RegistryStore } from "../registry/registry-store.js";
import type { SiteImage } from "./site-manifest.js";

/** Returns the registry's store in a site. */
export const openRegistryStore = (site: string): RegistryStore =>
  new RegistryStore(join(site, "registry"));

/** Reports whether the store has all of these images under all of their names. */
export function hasAllImages(images: readonly SiteImage[], site: string): boolean {
  const store = openRegistryStore(site);
  return images.every(
    ({ repositories, tags, manifest: digest, blobs }) =>
      [digest, ...blobs].every((blob) => store.has(blob)) &&
      repositories.every((name) => tags.every((tag) => store.tagged(name, tag) === digest)),
  );
}

/** Creates images from built components and adds them to the registry's store. */
export async function writeImages(
  images: readonly RegistryImage[],
  built: BuiltComponents,
  site: string,
  options: LayerBuildContext,
): Promise<SiteImage[]> {
  mkdirSync(options.cache, { recursive: true });
  const store = openRegistryStore(site);
  const bases = new Map<string, Blob>();
  const written: SiteImage[] = [];
  for (const image of images) {
    options.signal?.throwIfAborted();
    options.step.update(`${image.repository} (${written.length + 1} of ${images.length})`);
    const name = [image.base, ...(image.packages ?? [])].join(" ");
    const base = bases.get(name) ?? (await addCopy(store, await baseOf(image, options), options));
    bases.set(name, base);
    const own = await store.addFile(await createProgramLayer(image, built, options));
    written.push(publish(image, [base, own], built, store));
  }
  return written;
}

/** Returns the layer below an image's own layer, as a file in the cache. */
async function baseOf(image: RegistryImage, options: LayerBuildContext): Promise<string> {
  const debian = await ensureDebianLayer(options, image.packages);
  return image.base === "debian" ? debian : ensureEmptyLayer(debian, options);
}

function publish(
  image: RegistryImage,
  layers: readonly Blob[],
  built: BuiltComponents,
  store: RegistryStore,
): SiteImage {
  const labels = getImageLabels(image, built);
  const rendered = renderImage(image, layers, labels);
  const repositories = [image.repository, ...(image.aliases ?? [])];
  for (const name of repositories) store.publish(name, image.tags, rendered, layers);
  const differs = labels["stackadm.lab/differs"];
  return {
    upstream: image.upstream,
    repositories,
    tags: image.tags,
    manifest: rendered.digest,
    blobs: [rendered.configDigest, ...layers.map(({ digest }) => digest)],
    ...(differs !== undefined && { differs }),
  };
}

/** Adds a copy of a file to the store. The file is kept in the cache. */
async function addCopy(
  store: RegistryStore,
  file: string,
  options: LayerBuildContext,
): Promise<Blob> {
  const copy = join(options.cache, "copy.tar");
  copyFileSync(file, copy);
  return store.addFile(copy);
}
