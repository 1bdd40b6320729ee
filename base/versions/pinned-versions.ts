/**
 * Versions that this program chooses, with their sources. Kubernetes has one exact release, and
 * each image has one tag. The packages containerd, cri-tools and kubernetes-cni have bounds:
 * machines install the newest build between the bounds during their preparation, and then hold the
 * package.
 */

/** Oldest and newest minor version of a package that machines install, with the same major. */
export interface PackageBounds {
  readonly least: string;
  readonly most: string;
}

/** Versions for one Kubernetes minor version. */
export interface KubernetesMinor {
  /** Patch release that the tests use. The lab has packages and images for this release. */
  readonly version: string;
  /**
   * Release of cloud-provider-openstack. Each minor version of cloud-provider-openstack is for one
   * Kubernetes minor version.
   */
  readonly cloudProvider: string;
  /**
   * Tag of the etcd image. `kubeadm config images list` of the patch release prints this tag and
   * the tags of CoreDNS and pause.
   */
  readonly etcd: string;
  readonly coredns: string;
  readonly pause: string;
  readonly containerd: PackageBounds;
  /** Bounds of crictl. `least` is the oldest version that the package of kubeadm accepts. */
  readonly criTools: PackageBounds;
  readonly kubernetesCni: PackageBounds;
}

/**
 * Image volumes with a `subPath` need containerd 2.2: an earlier one mounts the whole image. Test
 * with a newer minor version before you raise `most`. Containerd up to 2.4.2 reads the machines'
 * registry passwords from its configuration file. This function of containerd is deprecated, and
 * its removal is planned for version 2.7.
 */
const containerd: PackageBounds = { least: "2.2", most: "2.4" };

/** `least` is the oldest version that the package of kubelet accepts. */
const kubernetesCni: PackageBounds = { least: "1.2", most: "1.9" };

const newest = {
  version: "1.36.3",
  cloudProvider: "v1.36.0",
  etcd: "v3.6.8",
  coredns: "v1.14.2",
  pause: "3.10.2",
  containerd,
  criTools: { least: "1.30", most: "1.36" },
  kubernetesCni,
};

/**
 * Supported Kubernetes minor versions, newest first. Documents, scripts and add-ons work with all
 * these versions.
 */
export const kubernetesMinors: Readonly<Record<string, KubernetesMinor>> = {
  "1.36": newest,
  "1.35": {
    version: "1.35.4",
    cloudProvider: "v1.35.0",
    etcd: "v3.6.6",
    coredns: "v1.13.1",
    pause: "3.10.1",
    containerd,
    criTools: { least: "1.30", most: "1.35" },
    kubernetesCni,
  },
};

export const supportedMinors: readonly string[] = Object.keys(kubernetesMinors);

/** Default of `kubernetes.version`. */
export const defaultKubernetesVersion = newest.version;

/** API version of kubeadm's documents. */
export const kubeadmApiVersion = "kubeadm.k8s.io/v1beta4";

/** Package repository of the Kubernetes project. `{minor}` is replaced by the minor version. */
export const kubernetesPackageRepository = {
  url: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/",
  /** Fingerprint of the key that signs the repository. */
  keyFingerprint: "DE15B14486CD377B9E876E1A234654DA9A296436",
} as const;

/**
 * Docker's package repository. Machines use it if neither the Kubernetes repository nor the
 * distribution contains a suitable containerd. `{distribution}` and `{codename}` are replaced by ID
 * and VERSION_CODENAME of the machine's os-release(5). Source: Docker's instructions for Debian and
 * Ubuntu.
 */
export const containerdPackageRepository = {
  source: "https://download.docker.com/linux/{distribution} {codename} stable",
  key: "https://download.docker.com/linux/{distribution}/gpg",
  /** Fingerprint of the primary key. The repository is signed with a subkey of this key. */
  keyFingerprint: "9DC858229FC7DD38854AE2D88D81803C0EBFCD88",
} as const;

/**
 * Returns the series of the packages containerd, cri-tools and kubernetes-cni. `2.2..2.4` allows
 * the minor versions from 2.2 to 2.4.
 */
export function getPackageSeries(kubernetesVersion: string): {
  readonly criTools: string;
  readonly kubernetesCni: string;
  readonly containerd: string;
} {
  const minor = kubernetesMinors[getMinorVersion(kubernetesVersion)];
  if (minor === undefined)
    throw new RangeError(`kubernetes.version: there are no packages for ${kubernetesVersion}`);
  const seriesOf = ({ least, most }: PackageBounds): string => `${least}..${most}`;
  return {
    criTools: seriesOf(minor.criTools),
    kubernetesCni: seriesOf(minor.kubernetesCni),
    containerd: seriesOf(minor.containerd),
  };
}

/** Returns the minor version: "1.36" for "1.36.3". */
export function getMinorVersion(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

/** Returns the next minor version: "1.37" for "1.36.3". */
export function getNextMinorVersion(version: string): string {
  const [major = 0, minor = 0] = numbersOf(version);
  return `${String(major)}.${String(minor + 1)}`;
}

/**
 * Compares two versions. Returns a negative number if the first version is older, and 0 if both are
 * equal.
 */
export function compareVersions(one: string, other: string): number {
  const others = numbersOf(other);
  const differences = numbersOf(one).map((number, index) => number - (others[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

const numbersOf = (version: string): number[] => version.split(".").map(Number);
