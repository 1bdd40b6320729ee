/** Which image of which version each add-on runs, and where a site keeps its copies. */

/** Where a site keeps its copies of the public images. */
export interface ImageRegistry {
  /** Host, port and optional path, without a scheme or a closing slash: `registry.example:5001/k8s`. */
  readonly prefix: string;
}

/** A prefix that means no copies: every image comes from where it is published. */
const upstreamPrefix = "registry.k8s.io";

/** The image that each container of an add-on runs. */
export type ImageName = keyof typeof imagesEverywhere | keyof typeof cloudProviderImages;

/** One release of cloud-provider-openstack per Kubernetes minor (its own release policy). */
const cloudProviderTags: Readonly<Record<string, string>> = {
  "1.35": "v1.35.0",
  "1.36": "v1.36.0",
};

/** Its images, each with that release as its tag. */
const cloudProviderImages = {
  cloudControllerManager: "registry.k8s.io/provider-os/openstack-cloud-controller-manager",
  cinderCsi: "registry.k8s.io/provider-os/cinder-csi-plugin",
  keystoneAuth: "registry.k8s.io/provider-os/k8s-keystone-auth",
} as const;

/** Images whose version does not follow the Kubernetes minor. */
const imagesEverywhere = {
  csiAttacher: "registry.k8s.io/sig-storage/csi-attacher:v4.12.0",
  csiProvisioner: "registry.k8s.io/sig-storage/csi-provisioner:v5.1.0",
  csiResizer: "registry.k8s.io/sig-storage/csi-resizer:v1.14.0",
  csiSnapshotter: "registry.k8s.io/sig-storage/csi-snapshotter:v8.6.0",
  snapshotController: "registry.k8s.io/sig-storage/snapshot-controller:v8.6.0",
  csiNodeDriverRegistrar: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.15.0",
  livenessProbe: "registry.k8s.io/sig-storage/livenessprobe:v2.17.0",
  metricsServer: "registry.k8s.io/metrics-server/metrics-server:v0.9.0",
  traefik: "docker.io/library/traefik:v3.7.13",
  kubeRouter: "docker.io/cloudnativelabs/kube-router:v2.10.0",
  flannel: "ghcr.io/flannel-io/flannel:v0.26.7",
  // The one that the manifest of that flannel names.
  flannelCniPlugin: "ghcr.io/flannel-io/flannel-cni-plugin:v1.6.2-flannel1",
  agnhost: "registry.k8s.io/e2e-test-images/agnhost:2.53",
} as const;

/** The Kubernetes minors that the add-ons have versions for, oldest first. */
export const addonMinors: readonly string[] = Object.keys(cloudProviderTags);

/** References of all add-on images for one Kubernetes version, as a node pulls them. */
export type ImageTable = Readonly<Record<ImageName, string>>;

/**
 * The image table for a Kubernetes version.
 *
 * @param kubernetesVersion `1.36.3`, with or without a leading `v`
 * @param registry the site's copies; default: the public registries
 */
export function imageTable(kubernetesVersion: string, registry?: ImageRegistry): ImageTable {
  const minor = /^v?(\d+\.\d+)(?:\.|$)/.exec(kubernetesVersion)?.[1];
  const tag = minor === undefined ? undefined : cloudProviderTags[minor];
  if (tag === undefined) {
    throw new RangeError(
      `kubernetes.version: there are no add-ons for ${kubernetesVersion}; choose one of ${addonMinors.join(", ")}`,
    );
  }
  const upstream = {
    ...imagesEverywhere,
    ...mapValues(cloudProviderImages, (name) => `${name}:${tag}`),
  };
  return mapValues(upstream, (reference) => imageReference(reference, registry));
}

/** Tags of all add-on images for one Kubernetes version, for whoever builds them. */
export function imageTags(kubernetesVersion: string): Readonly<Record<ImageName, string>> {
  return mapValues(imageTable(kubernetesVersion), (reference) =>
    reference.slice(reference.lastIndexOf(":") + 1),
  );
}

/**
 * An upstream reference as this site pulls it: the upstream path under the site's prefix.
 * Source of the rule: kubeadm's `imageRepository` keeps the path below the registry host.
 */
export function imageReference(upstream: string, registry?: ImageRegistry): string {
  if (registry === undefined || registry.prefix === upstreamPrefix) {
    return upstream;
  }
  const path = upstream.slice(upstream.indexOf("/") + 1);
  return `${registry.prefix}/${path}`;
}

function mapValues<K extends string>(
  record: Readonly<Record<K, string>>,
  map: (value: string) => string,
): Record<K, string> {
  const entries = Object.entries<string>(record).map(([key, value]) => [key, map(value)]);
  return Object.fromEntries(entries) as Record<K, string>;
}
