import type { BuiltComponent } from "../compile/build-component.js";
import { describeDeviation, describeSource, type RegistryImage } from "../catalog/component.js";
import { computeDigest } from "../digest.js";

/** Blob in a registry's store. */
export interface Blob {
  /** SHA-256 of the content, hex. */
  readonly digest: string;
  /** Size in bytes. */
  readonly size: number;
}

export interface RenderedImage {
  readonly config: string;
  readonly manifest: string;
  /** SHA-256 of the manifest in hex. Tags point to this digest. */
  readonly digest: string;
  /** SHA-256 of the configuration, hex. */
  readonly configDigest: string;
}

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Time of creation in all images, so that equal content gives an equal digest. */
const created = "2026-01-01T00:00:00Z";

/**
 * Renders configuration and manifest of an image (OCI image specification 1.1). The layers are
 * uncompressed. So a layer's digest is also its diff ID, and nodes need no CPU time to decompress.
 */
export function renderImage(
  image: RegistryImage,
  layers: readonly Blob[],
  labels: Readonly<Record<string, string>>,
): RenderedImage {
  const config = JSON.stringify({
    created,
    architecture: "amd64",
    os: "linux",
    config: {
      Env: [`PATH=${path}`],
      ...(image.entrypoint && { Entrypoint: image.entrypoint }),
      ...(image.command && { Cmd: image.command }),
      ...(image.user && { User: image.user }),
      WorkingDir: "/",
      Labels: labels,
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => `sha256:${digest}`) },
    history: layers.map(() => ({ created, created_by: "stackadm lab" })),
  });
  const configDigest = computeDigest(config);
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: {
      mediaType: "application/vnd.oci.image.config.v1+json",
      digest: `sha256:${configDigest}`,
      size: Buffer.byteLength(config),
    },
    layers: layers.map(({ digest, size }) => ({
      mediaType: "application/vnd.oci.image.layer.v1.tar",
      digest: `sha256:${digest}`,
      size,
    })),
  });
  return { config, manifest, digest: computeDigest(manifest), configDigest };
}

/**
 * Returns labels that describe the image's origin: upstream's name, sources, and differences from
 * upstream.
 */
export function getImageLabels(
  image: RegistryImage,
  built: ReadonlyMap<string, BuiltComponent>,
): Record<string, string> {
  const components = [
    ...new Set(Object.values(image.files).map((name) => name.split("/")[0] ?? "")),
  ].flatMap((name) => built.get(name)?.component ?? []);
  const deviations = new Set([...components.map(describeDeviation), image.deviation]);
  const all = [...deviations].filter((text) => text !== undefined).join("; ");
  return {
    "org.opencontainers.image.vendor": "stackadm lab",
    "org.opencontainers.image.title": image.upstream,
    "org.opencontainers.image.description":
      "Built by the stackadm lab from upstream's sources; not upstream's own image.",
    "stackadm.lab/made-from": components.map(describeSource).join(", "),
    ...(all && { "stackadm.lab/differs": all }),
  };
}

/**
 * Returns the real path of a file on Debian, where /bin, /sbin and /lib are links into /usr. A
 * layer with a folder /bin would replace the link.
 */
export function resolveDebianPath(target: string): string {
  return target.replace(/^\/(bin|sbin|lib|lib64)\//, "/usr/$1/");
}
