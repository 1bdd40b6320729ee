/** Every version that this program chooses. Nothing on a machine resolves "latest". */

/** Kubernetes minors that the documents and scripts are written for, newest first. */
export const supportedMinors = ["1.36", "1.35"] as const;

/** @default of `kubernetes.version`. */
export const defaultKubernetesVersion = "1.36.3";

/** Of kubeadm's documents. */
export const kubeadmVersion = "kubeadm.k8s.io/v1beta4";

/** Where Kubernetes' own packages are published; `{minor}` becomes the minor version. */
export const upstreamPackages = {
  url: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/",
  /** Fingerprint of the key that signs them. */
  keyFingerprint: "DE15B14486CD377B9E876E1A234654DA9A296436",
} as const;

/** What comes beside Kubernetes' own packages: machines install the newest build of the series and hold it. */
export function packageSeries(kubernetesVersion: string): {
  readonly criTools: string;
  readonly kubernetesCni: string;
  readonly containerd: string;
} {
  // crictl is released with each minor of Kubernetes.
  return { criTools: minorOf(kubernetesVersion), kubernetesCni: "1", containerd: "2" };
}

/** "1.36" of "1.36.3". */
export function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}
