/** Every version that this program chooses. Nothing on a machine resolves "latest". */

/** Kubernetes minors that the documents and scripts are written for, newest first. */
export const supportedMinors = ["1.36", "1.35"] as const;

/** @default of `kubernetes.version`. */
export const defaultKubernetesVersion = "1.36.3";

/** Where Kubernetes' own packages are published; `{minor}` becomes the minor version. */
export const upstreamPackages = {
  url: "https://pkgs.k8s.io/core:/stable:/v{minor}/deb/",
  /** Fingerprint of the key that signs them. */
  keyFingerprint: "DE15B14486CD377B9E876E1A234654DA9A296436",
} as const;

/** "1.36" of "1.36.3". */
export function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}
