/**
 * Every version that this program chooses, and where it comes from. Kubernetes is one release and each image one tag. What comes beside
 * Kubernetes' packages is a series: machines take its newest build when they are prepared, and hold it.
 */

/** What goes with a Kubernetes minor. */
export interface KubernetesMinor {
  /** The patch release that the tests run, and for which the lab has packages and images. */
  readonly version: string;
  /** The release of cloud-provider-openstack for it: one per minor, by its own release policy. */
  readonly cloudProvider: string;
  /** What kubeadm of that patch release runs beside Kubernetes; the tags are those of `kubeadm config images list`. */
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

/** The minors that documents, scripts and add-ons are written for, newest first. */
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

/** @default of `kubernetes.version`. */
export const defaultKubernetesVersion = newest.version;

/** Of kubeadm's documents. */
export const kubeadmVersion = "kubeadm.k8s.io/v1beta4";

/** Where Kubernetes' own packages are published; `{minor}` becomes the minor version. */
export const upstreamPackages = {
  url: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/",
  /** Fingerprint of the key that signs them. */
  keyFingerprint: "DE15B14486CD377B9E876E1A234654DA9A296436",
} as const;

/**
 * The latest minor of containerd that machines are given. Up to 2.4.2 it takes passwords of registries from its configuration, which it
 * calls deprecated and means to give up in 2.7; a later minor comes in here when that was tried with it.
 */
const latestContainerd = "2.4";

/**
 * Where containerd 2 comes from on machines of which neither Kubernetes' repository nor the distribution has it; `{distribution}` and
 * `{codename}` become ID and VERSION_CODENAME of the machine's os-release(5). Docker's own, as its instructions for Debian and Ubuntu say.
 */
export const containerdPackages = {
  source: "https://download.docker.com/linux/{distribution} {codename} stable",
  key: "https://download.docker.com/linux/{distribution}/gpg",
  /** Fingerprint of the primary key; a subkey of it signs. */
  keyFingerprint: "9DC858229FC7DD38854AE2D88D81803C0EBFCD88",
} as const;

/**
 * Returns the series of the packages that come with Kubernetes' own. Machines install the newest build of a series and hold it. `<=1.36` takes
 * earlier minors of the same major too.
 */
export function packageSeries(kubernetesVersion: string): {
  readonly criTools: string;
  readonly kubernetesCni: string;
  readonly containerd: string;
} {
  // crictl is released with each minor of Kubernetes, sometimes later than that; an earlier one does as well.
  return {
    criTools: `<=${minorOf(kubernetesVersion)}`,
    kubernetesCni: "1",
    containerd: `<=${latestContainerd}`,
  };
}

/** "1.36" of "1.36.3". */
export function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

/** "1.37" of "1.36.3". */
export function minorAfter(version: string): string {
  const [major = 0, minor = 0] = numbersOf(version);
  return `${String(major)}.${String(minor + 1)}`;
}

/** Below 0: the first one is earlier; 0: they are the same. */
export function compareVersions(one: string, other: string): number {
  const others = numbersOf(other);
  const differences = numbersOf(one).map((number, index) => number - (others[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

const numbersOf = (version: string): number[] => version.split(".").map(Number);
