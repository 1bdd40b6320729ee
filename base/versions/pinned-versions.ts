/**
 * Versions that this program chooses, with their sources. Kubernetes has one exact release, and
 * each image has one tag. Packages that Kubernetes needs (containerd, cri-tools, kubernetes-cni)
 * have a series: machines install the newest build of the series during preparation, and hold the
 * package.
 */

/** Versions that belong to a Kubernetes minor version. */
export interface KubernetesMinor {
  /** Patch release that the tests use, and for which the lab has packages and images. */
  readonly version: string;
  /**
   * Release of cloud-provider-openstack, which has one minor version for each Kubernetes minor
   * version.
   */
  readonly cloudProvider: string;
  /**
   * Tags of the images that kubeadm of this patch release runs, as `kubeadm config images list`
   * prints the tags.
   */
  readonly etcd: string;
  readonly coredns: string;
  readonly pause: string;
}

const newest = {
  version: "1.36.3",
  cloudProvider: "v1.36.0",
  etcd: "v3.6.8",
  coredns: "v1.14.2",
  pause: "3.10.2",
};

/** Minor versions that documents, scripts and add-ons support, newest first. */
export const kubernetesMinors: Readonly<Record<string, KubernetesMinor>> = {
  "1.36": newest,
  "1.35": {
    version: "1.35.4",
    cloudProvider: "v1.35.0",
    etcd: "v3.6.6",
    coredns: "v1.13.1",
    pause: "3.10.1",
  },
};

export const supportedMinors: readonly string[] = Object.keys(kubernetesMinors);

/** Default of `kubernetes.version`. */
export const defaultKubernetesVersion = newest.version;

/** API version of kubeadm's documents. */
export const kubeadmApiVersion = "kubeadm.k8s.io/v1beta4";

/** Package repository of the Kubernetes project. `{minor}` stands for the minor version. */
export const upstreamPackages = {
  url: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/",
  /** Fingerprint of the key that signs the repository. */
  keyFingerprint: "DE15B14486CD377B9E876E1A234654DA9A296436",
} as const;

/**
 * Newest minor version of containerd that machines install. containerd up to 2.4.2 reads registry
 * passwords from the configuration file, which is deprecated and to be removed in 2.7. Test with a
 * newer minor version before you raise this value.
 */
const latestContainerd = "2.4";

/**
 * Docker's package repository, for machines where neither the Kubernetes repository nor the
 * distribution has containerd 2. `{distribution}` and `{codename}` stand for ID and
 * VERSION_CODENAME in the machine's os-release(5). Source: Docker's instructions for Debian and
 * Ubuntu.
 */
export const containerdPackages = {
  source: "https://download.docker.com/linux/{distribution} {codename} stable",
  key: "https://download.docker.com/linux/{distribution}/gpg",
  /** Fingerprint of the primary key. A subkey of the primary key signs the repository. */
  keyFingerprint: "9DC858229FC7DD38854AE2D88D81803C0EBFCD88",
} as const;

/**
 * Returns the series of the packages that Kubernetes needs. Machines install the newest build of a
 * series and hold the package. `<=1.36` also accepts earlier minor versions of the same major
 * version.
 */
export function packageSeries(kubernetesVersion: string): {
  readonly criTools: string;
  readonly kubernetesCni: string;
  readonly containerd: string;
} {
  // The release of crictl for a Kubernetes minor version may come later. An earlier crictl also
  // works.
  return {
    criTools: `<=${minorOf(kubernetesVersion)}`,
    kubernetesCni: "1",
    containerd: `<=${latestContainerd}`,
  };
}

/** Returns the minor version: "1.36" for "1.36.3". */
export function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

/** Returns the next minor version: "1.37" for "1.36.3". */
export function minorAfter(version: string): string {
  const [major = 0, minor = 0] = numbersOf(version);
  return `${String(major)}.${String(minor + 1)}`;
}

/** Compares two versions: negative if the first is earlier, 0 if they are equal. */
export function compareVersions(one: string, other: string): number {
  const others = numbersOf(other);
  const differences = numbersOf(one).map((number, index) => number - (others[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

const numbersOf = (version: string): number[] => version.split(".").map(Number);
