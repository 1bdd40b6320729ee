import { kubernetesMinors, supportedMinors } from "./pinned-versions.js";

/** Registry that mirrors the public images. */
export interface ImageRegistry {
  /**
   * Host, port and optional path, without scheme or trailing slash: `registry.example:5001/k8s`.
   */
  readonly prefix: string;
}

/**
 * Default value of the prefix. With this value there is no mirror: nodes pull each image from its
 * own public registry.
 */
const upstreamPrefix = "registry.k8s.io";

/** Name of the image of an add-on's container. */
export type AddonImageName = keyof typeof imagesEverywhere | keyof typeof cloudProviderImages;

/**
 * Images in the published manifests of pod networks. Each pattern matches the end of a repository.
 */
const manifestImages = {
  calicoNode: /\/calico\/node$/,
  calicoCni: /\/calico\/cni$/,
  calicoKubeControllers: /\/calico\/kube-controllers$/,
  flannel: /\/flannel(-io)?\/flannel$/,
} as const;

/** Images of kubeadm that the user can replace. The values are kubeadm's names of these images. */
export const kubeadmImages = { etcd: "etcd", coreDns: "coredns", pause: "pause" } as const;
export type KubeadmImage = keyof typeof kubeadmImages;

/** Name of any image that the user can replace. */
export type ReplaceableImage = AddonImageName | keyof typeof manifestImages | KubeadmImage;

/**
 * Images that the user replaces. The references are used unchanged: the prefix of the mirror is not
 * added.
 */
export type OwnImages = { readonly [Name in ReplaceableImage]?: string | undefined };

/**
 * Images of cloud-provider-openstack, without a tag. The tag depends on the Kubernetes minor
 * version.
 */
const cloudProviderImages = {
  cloudControllerManager: "registry.k8s.io/provider-os/openstack-cloud-controller-manager",
  cinderCsi: "registry.k8s.io/provider-os/cinder-csi-plugin",
  keystoneAuth: "registry.k8s.io/provider-os/k8s-keystone-auth",
} as const;

/** Images whose tag is the same for all Kubernetes versions. */
const imagesEverywhere = {
  csiAttacher: "registry.k8s.io/sig-storage/csi-attacher:v4.12.0",
  csiProvisioner: "registry.k8s.io/sig-storage/csi-provisioner:v5.3.0",
  csiResizer: "registry.k8s.io/sig-storage/csi-resizer:v1.14.0",
  csiSnapshotter: "registry.k8s.io/sig-storage/csi-snapshotter:v8.6.0",
  snapshotController: "registry.k8s.io/sig-storage/snapshot-controller:v8.6.0",
  csiNodeDriverRegistrar: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.15.0",
  livenessProbe: "registry.k8s.io/sig-storage/livenessprobe:v2.17.0",
  metricsServer: "registry.k8s.io/metrics-server/metrics-server:v0.9.0",
  traefik: "docker.io/library/traefik:v3.7.13",
  kubeRouter: "docker.io/cloudnativelabs/kube-router:v2.10.0",
  flannel: "ghcr.io/flannel-io/flannel:v0.26.7",
  // Version in the manifest of the flannel release above.
  flannelCniPlugin: "ghcr.io/flannel-io/flannel-cni-plugin:v1.6.2-flannel1",
  agnhost: "registry.k8s.io/e2e-test-images/agnhost:2.53",
} as const;

/** References of all add-on images for one Kubernetes version, as a node pulls them. */
export type ImageTable = Readonly<Record<AddonImageName, string>>;

/**
 * Returns the images of all add-ons for a Kubernetes version.
 *
 * @param kubernetesVersion `1.36.3`, with or without a leading `v`
 * @param registry registry that mirrors the public images. Default: the public registries
 * @param own images that the user replaces. Default: none
 */
export function createImageTable(
  kubernetesVersion: string,
  registry?: ImageRegistry,
  own: OwnImages = {},
): ImageTable {
  const minor = /^v?(\d+\.\d+)(?:\.|$)/.exec(kubernetesVersion)?.[1];
  const tag = minor === undefined ? undefined : kubernetesMinors[minor]?.cloudProvider;
  if (tag === undefined) {
    throw new RangeError(
      `kubernetes.version: there are no add-ons for ${kubernetesVersion}; choose one of ${supportedMinors.join(", ")}`,
    );
  }
  const upstream = {
    ...imagesEverywhere,
    ...mapValues(cloudProviderImages, (name) => `${name}:${tag}`),
  };
  return mapValues(
    upstream,
    (reference, name) => own[name] ?? getMirroredImage(reference, registry),
  );
}

/**
 * Returns the tags of all add-on images for one Kubernetes version. For tools that build these
 * images.
 */
export function getImageTags(kubernetesVersion: string): Readonly<Record<AddonImageName, string>> {
  return mapValues(createImageTable(kubernetesVersion), (reference) =>
    reference.slice(reference.lastIndexOf(":") + 1),
  );
}

/**
 * Returns the reference of an image in the mirror: the mirror's prefix replaces the host of the
 * public registry. Returns the public reference if there is no mirror.
 */
export function getMirroredImage(upstream: string, registry?: ImageRegistry): string {
  if (registry === undefined || registry.prefix === upstreamPrefix) {
    return upstream;
  }
  const path = upstream.slice(upstream.indexOf("/") + 1);
  return `${registry.prefix}/${path}`;
}

/**
 * Returns the image for a container of a published manifest: the user's image or, if there is none,
 * the published image. The published image comes from the mirror, if there is one.
 */
export function resolveManifestImage(
  published: string,
  registry: ImageRegistry | undefined,
  own: OwnImages = {},
): string {
  const repository = published.replace(/@.*$/, "").replace(/:[^/:]*$/, "");
  const name = Object.entries(manifestImages).find(([, ends]) => ends.test(repository))?.[0];
  const standsIn = name === undefined ? undefined : own[name as keyof typeof manifestImages];
  return standsIn ?? getMirroredImage(published, registry);
}

/**
 * Returns the two parts of an image reference that kubeadm expects. `imageRepository` does not
 * contain the last element of the path, which is the image's name.
 */
export function splitKubeadmImageReference(reference: string): {
  readonly imageRepository: string;
  readonly imageTag: string;
} {
  const [, imageRepository = "", imageTag = ""] = /^(.+)\/[^/:]+:([^:/]+)$/.exec(reference) ?? [];
  return { imageRepository, imageTag };
}

function mapValues<K extends string>(
  record: Readonly<Record<K, string>>,
  map: (value: string, key: K) => string,
): Record<K, string> {
  const entries = Object.entries<string>(record).map(([key, value]) => [key, map(value, key as K)]);
  return Object.fromEntries(entries) as Record<K, string>;
}
