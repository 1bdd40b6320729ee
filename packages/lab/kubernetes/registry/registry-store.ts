import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { replaceFile } from "../../../../base/atomic-files.js";
import { computeFileDigest } from "../digest.js";
import type { Blob, RenderedImage } from "./oci.js";

/** Paths inside the storage folder of a registry: docker-registry 2, driver "filesystem". */
export const storePaths = {
  blob: (digest: string) =>
    join("docker/registry/v2/blobs/sha256", digest.slice(0, 2), digest, "data"),
  repository: (name: string) => join("docker/registry/v2/repositories", name),
  layerLink: (name: string, digest: string) =>
    join(storePaths.repository(name), "_layers/sha256", digest, "link"),
  revisionLink: (name: string, digest: string) =>
    join(storePaths.repository(name), "_manifests/revisions/sha256", digest, "link"),
  tagLink: (name: string, tag: string) =>
    join(storePaths.repository(name), "_manifests/tags", tag, "current/link"),
  tagIndexLink: (name: string, tag: string, digest: string) =>
    join(storePaths.repository(name), "_manifests/tags", tag, "index/sha256", digest, "link"),
} as const;

/**
 * Writer of the storage folder of a registry. Writes complete blobs first and tags last, so that a
 * registry that serves the folder never has an incomplete image.
 */
export class RegistryStore {
  constructor(private readonly directory: string) {}

  /** Moves a file into the store. */
  async addFile(file: string): Promise<Blob> {
    const digest = await computeFileDigest(file);
    const size = statSync(file).size;
    const target = join(this.directory, storePaths.blob(digest));
    mkdirSync(dirname(target), { recursive: true });
    renameSync(file, target);
    return { digest, size };
  }

  /** Reports whether the store has a blob (SHA-256, hex). */
  has(digest: string): boolean {
    return existsSync(join(this.directory, storePaths.blob(digest)));
  }

  /** Publishes an image under a repository's tags. Its layers must already be stored. */
  publish(
    repository: string,
    tags: readonly string[],
    image: RenderedImage,
    layers: readonly Blob[],
  ): void {
    const config = image.configDigest;
    this.write(storePaths.blob(config), image.config);
    this.write(storePaths.blob(image.digest), image.manifest);
    for (const digest of [config, ...layers.map((layer) => layer.digest)]) {
      this.write(storePaths.layerLink(repository, digest), `sha256:${digest}`);
    }
    const link = `sha256:${image.digest}`;
    this.write(storePaths.revisionLink(repository, image.digest), link);
    for (const tag of tags) {
      this.write(storePaths.tagIndexLink(repository, tag, image.digest), link);
      this.write(storePaths.tagLink(repository, tag), link);
    }
  }

  /**
   * Returns the SHA-256 of the manifest to which a tag points, or undefined if the tag does not
   * exist.
   */
  tagged(repository: string, tag: string): string | undefined {
    const path = join(this.directory, storePaths.tagLink(repository, tag));
    return existsSync(path) ? readFileSync(path, "utf8").replace("sha256:", "") : undefined;
  }

  /** Deletes every blob that is not in `keep` (SHA-256, hex). Returns the number of bytes freed. */
  prune(keep: ReadonlySet<string>): number {
    const root = join(this.directory, "docker/registry/v2/blobs/sha256");
    let freed = 0;
    for (const prefix of existsSync(root) ? readdirSync(root) : []) {
      for (const digest of readdirSync(join(root, prefix))) {
        if (keep.has(digest)) continue;
        const data = join(root, prefix, digest, "data");
        freed += existsSync(data) ? statSync(data).size : 0;
        rmSync(join(root, prefix, digest), { recursive: true });
      }
    }
    return freed;
  }

  private write(path: string, content: string): void {
    replaceFile(join(this.directory, path), content);
  }
}
