/**
 * URLs and digests of published manifests. The program downloads these manifests and creates their
 * objects.
 */

/** File with Kubernetes objects, and its expected digest. */
export interface PinnedManifest {
  /** URL (http, https) or path of the file. */
  readonly source: string;
  /** SHA-256 digest of the file, in hexadecimal digits. */
  readonly sha256: string;
}

const calicoRelease = "v3.32.1";
const calico = (file: string, sha256: string): PinnedManifest => ({
  source: `https://raw.githubusercontent.com/projectcalico/calico/${calicoRelease}/manifests/${file}`,
  sha256,
});

/** Default manifest of each pod network that uses a published manifest. */
export const publishedManifests = {
  calico: calico("calico.yaml", "a1df919d9721cf667accdc3e72848911b0cb25cfab7d2478ad0c996302c95744"),
  canal: calico("canal.yaml", "aa58a7b245586a90d75d969b9184326f6218acea7e4951ce2931113cd8e91e39"),
} as const satisfies Readonly<Record<string, PinnedManifest>>;
