/**
 * Versions that this program chooses, and their sources. Kubernetes is one exact release and each
 * image one tag. The packages that accompany Kubernetes' own are series: machines install the
 * newest build of a series when they are prepared, and hold it.
 */

/** Versions that belong to a Kubernetes minor version. */
export interface KubernetesMinor {
  /** Patch release that the tests use, and for which the lab has packages and images. */
  readonly version: string;
  /** Release of cloud-provider-openstack: one per minor version, by its own release policy. */
  readonly cloudProvider: string;
  /**
   * Versions that kubeadm of that patch release runs; the tags are those of `kubeadm config images
   * list`.
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
export const kubeadmVersion = "kubeadm.k8s.io/v1beta4";

/** Repository of Kubernetes' own packages; `{minor}` becomes the minor version. */
export const upstreamPackages = {
  url: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/",
  /** Fingerprint of the key that signs the repository. */
  keyFingerprint: "DE15B14486CD377B9E876E1A234654DA9A296436",
} as const;

/**
 * Latest minor version of containerd that machines install. containerd up to 2.4.2 reads registry
 * passwords from its configuration, which is deprecated and to be removed in 2.7. Raise this only
 * after a test with that minor version.
 */
const latestContainerd = "2.4";

/**
 * Repository of containerd 2 for machines where neither Kubernetes' repository nor the distribution
 * has it. `{distribution}` and `{codename}` become ID and VERSION_CODENAME of the machine's
 * os-release(5). It is Docker's own, as its instructions for Debian and Ubuntu state.
 */
export const containerdPackages = {
  source: "https://download.docker.com/linux/{distribution} {codename} stable",
  key: "https://download.docker.com/linux/{distribution}/gpg",
  /** Fingerprint of the primary key; one of its subkeys signs. */
  keyFingerprint: "9DC858229FC7DD38854AE2D88D81803C0EBFCD88",
} as const;

/**
 * Returns the series of the packages that accompany Kubernetes' own. Machines install the newest
 * build of a series and hold it. `<=1.36` also accepts earlier minor versions of the same major
 * version.
 */
export function packageSeries(kubernetesVersion: string): {
  readonly criTools: string;
  readonly kubernetesCni: string;
  readonly containerd: string;
} {
  // crictl is released for each minor version of Kubernetes, sometimes later; an earlier one also
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
