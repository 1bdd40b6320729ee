import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../../../../base/atomic-files.js";
import type { BuiltComponent } from "../compile/build-component.js";
import { computeComponentKey } from "../compile/build-component.js";
import { describeDeviation, describeSource, type KubernetesRelease } from "../catalog/component.js";
import { computeDigest } from "../digest.js";
import { debianLayerPackages } from "../registry/image-layers.js";
import { debPackages } from "../catalog/deb-package-table.js";

/** Image in the registry. */
export interface SiteImage {
  readonly upstream: string;
  readonly repositories: readonly string[];
  readonly tags: readonly string[];
  /** SHA-256 of the manifest in hex. `blobs`: SHA-256 of the configuration and of each layer. */
  readonly manifest: string;
  readonly blobs: readonly string[];
  readonly differs?: string;
  /** Whether the image is upstream's own image, as it was published. @default built by the lab */
  readonly mirrored?: boolean;
}

/**
 * Content of `site/site-v<version>.json`: the built parts, their sources, and their differences
 * from upstream.
 */
export interface SiteManifest {
  readonly version: string;
  /** Digest of the inputs. A rebuild is needed only if the digest changes. */
  readonly key: string;
  readonly apt: {
    readonly path: string;
    readonly keyFingerprint: string;
    /** Fingerprint of the key that signs Docker's repository. */
    readonly dockerKeyFingerprint?: string;
    /**
     * Packages in the repository that upstream published and that the lab did not build. A map from
     * a file name to the SHA-256 of the file.
     */
    readonly mirrored?: Readonly<Record<string, string>>;
  };
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly madeFrom: string;
    readonly differs?: string;
  }[];
  readonly images: readonly SiteImage[];
}

/** Returns a digest of everything that determines a site's content. */
export function computeSiteKey(release: KubernetesRelease): string {
  return computeDigest(
    JSON.stringify([
      release.components.map((component) => [component.name, computeComponentKey(component)]),
      release.images,
      release.packageVersions,
      debPackages,
      debianLayerPackages,
    ]),
  );
}

export function describeSiteComponents(
  built: ReadonlyMap<string, BuiltComponent>,
): SiteManifest["components"] {
  return [...built.values()].map(({ component }) => {
    const { name, version } = component;
    const said = describeDeviation(component);
    return { name, version, madeFrom: describeSource(component), ...(said && { differs: said }) };
  });
}

const fileOf = (site: string, version: string) => join(site, `site-v${version}.json`);

export function readSiteManifest(site: string, version: string): SiteManifest | undefined {
  const file = fileOf(site, version);
  if (!existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, "utf8")) as SiteManifest;
}

export function writeSiteManifest(site: string, manifest: SiteManifest): void {
  replaceFile(fileOf(site, manifest.version), JSON.stringify(manifest, null, 2) + "\n");
}

/** Content of `site/images-<name>.json`: the images of an optional add-on. */
export interface AddedImages {
  /** Digest of the inputs. A rebuild is needed only if the digest changes. */
  readonly key: string;
  readonly images: readonly SiteImage[];
}

const addedFile = (site: string, name: string) => join(site, `images-${name}.json`);

export function readAddedImages(site: string, name: string): AddedImages | undefined {
  const file = addedFile(site, name);
  if (!existsSync(file)) return undefined;
  return JSON.parse(readFileSync(file, "utf8")) as AddedImages;
}

export function writeAddedImages(site: string, name: string, added: AddedImages): void {
  replaceFile(addedFile(site, name), JSON.stringify(added, null, 2) + "\n");
}

/**
 * Returns the digests of the blobs that are used by any version or optional add-on in this site.
 */
export function listBlobsInUse(site: string): Set<string> {
  const versions = readdirSync(site).flatMap(
    (name) => /^site-v(.+)\.json$/.exec(name)?.slice(1) ?? [],
  );
  const names = readdirSync(site).flatMap(
    (name) => /^images-(.+)\.json$/.exec(name)?.slice(1) ?? [],
  );
  const manifests = [
    ...versions.flatMap((version) => readSiteManifest(site, version) ?? []),
    ...names.flatMap((name) => readAddedImages(site, name) ?? []),
  ];
  return new Set(
    manifests.flatMap(({ images }) =>
      images.flatMap(({ manifest, blobs }) => [manifest, ...blobs]),
    ),
  );
}
