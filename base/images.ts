/** Which image of which version each add-on runs, and where a site keeps its copies. */

import { kubernetesMinors, supportedMinors } from "./versions.js";

/** Where a site keeps its copies of the public images. */
export interface ImageRegistry {
  /** Host, port and optional path, without a scheme or a closing slash: `registry.example:5001/k8s`. */
  readonly prefix: string;
}

/** A prefix that means no copies: every image comes from where it is published. */
const upstreamPrefix = "registry.k8s.io";

/** The image that each container of an add-on runs. */
export type ImageName = keyof typeof imagesEverywhere | keyof typeof cloudProviderImages;

/** Images that published manifests of pod networks name, by what their repositories end with. */
const manifestImages = {
  calicoNode: /\/calico\/node$/,
  calicoCni: /\/calico\/cni$/,
  calicoKubeControllers: /\/calico\/kube-controllers$/,
  flannel: /\/flannel(-io)?\/flannel$/,
} as const;

/** Images of kubeadm's list that one of one's own can stand in for, by their names there. */
export const kubeadmImages = { etcd: "etcd", coreDns: "coredns", pause: "pause" } as const;
export type KubeadmImage = keyof typeof kubeadmImages;

/** Every image that another can stand in for. */
export type ReplaceableImage = ImageName | keyof typeof manifestImages | KubeadmImage;

/** References that stand in for single images, as they are written: no registry prefix is put before them. */
export type OwnImages = { readonly [Name in ReplaceableImage]?: string | undefined };

/** Images of cloud-provider-openstack, each with the release for the Kubernetes minor as its tag. */
const cloudProviderImages = {
  cloudControllerManager: "registry.k8s.io/provider-os/openstack-cloud-controller-manager",
  cinderCsi: "registry.k8s.io/provider-os/cinder-csi-plugin",
  keystoneAuth: "registry.k8s.io/provider-os/k8s-keystone-auth",
} as const;

/** Images whose version does not follow the Kubernetes minor. */
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
  // The one that the manifest of that flannel names.
  flannelCniPlugin: "ghcr.io/flannel-io/flannel-cni-plugin:v1.6.2-flannel1",
  agnhost: "registry.k8s.io/e2e-test-images/agnhost:2.53",
} as const;

/** References of all add-on images for one Kubernetes version, as a node pulls them. */
export type ImageTable = Readonly<Record<ImageName, string>>;

/**
 * The image table for a Kubernetes version.
 *
 * @param kubernetesVersion `1.36.3`, with or without a leading `v`
 * @param registry the site's copies; default: the public registries
 * @param own what stands in for single images; default: nothing
 */
export function imageTable(
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
  return mapValues(upstream, (reference, name) => own[name] ?? imageReference(reference, registry));
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

/** What a container of a published manifest runs here. */
export function manifestImage(
  published: string,
  registry: ImageRegistry | undefined,
  own: OwnImages = {},
): string {
  const repository = published.replace(/@.*$/, "").replace(/:[^/:]*$/, "");
  const name = Object.entries(manifestImages).find(([, ends]) => ends.test(repository))?.[0];
  const standsIn = name === undefined ? undefined : own[name as keyof typeof manifestImages];
  return standsIn ?? imageReference(published, registry);
}

/** The two halves of a reference that kubeadm takes apart: the repository without the image's own name, and the tag. */
export function splitReference(reference: string): {
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
