/**
 * Table of the public hosts for which the front answers, with their behaviour. `nginx.ts` renders
 * the nginx configuration from this table.
 */

/**
 * Host that redirects each path under `from` to the same path under `to`, including keys and
 * indexes.
 */
interface PackageNames {
  readonly kind: "package-names";
  readonly from: string;
  readonly to: string;
}

/** Host that has Kubernetes' packages below `path`, in a flat repository for each minor. */
interface KubernetesPackages {
  readonly kind: "kubernetes-packages";
  readonly path: string;
}

/** Host that has containerd.io in a repository with suites. */
interface DockerPackages {
  readonly kind: "docker-packages";
}

/**
 * Registry without content and login, which redirects manifests to one host and blobs to another.
 */
interface RedirectingRegistry {
  readonly kind: "redirecting-registry";
  /** Host and path that replace `/v2`. */
  readonly manifests: string;
  /** Address of a blob without the digest, which follows at the end. */
  readonly blobs: string;
}

/**
 * Registry that serves manifests and redirects blobs to another host. Requests need a token, and
 * every client can get a token.
 */
export interface TokenRegistry {
  readonly kind: "token-registry";
  /** Address of the token service. */
  readonly realm: string;
  readonly service: string;
  /** Whether manifests of public images also need the token. */
  readonly manifestsNeedToken: boolean;
  /** Whether answers contain the headers of Docker Hub's pull limit. */
  readonly limited: boolean;
  /**
   * Address of a blob. `{two}` becomes the first two digits of its digest, `{digest}` all digits.
   */
  readonly blobs: string;
}

interface Tokens {
  readonly kind: "tokens";
}

/** Host that has the manifests to which a redirecting registry points. */
interface Manifests {
  readonly kind: "manifests";
  /** Path that replaces `/v2`. */
  readonly path: string;
}
interface Blobs {
  readonly kind: "blobs";
}

/**
 * Mirror of Debian. The front passes requests on to the mirrors of the host's own apt
 * (`debian-mirror-proxy.ts`).
 */
interface Mirror {
  readonly kind: "mirror";
}

export type HostBehaviour =
  | PackageNames
  | KubernetesPackages
  | DockerPackages
  | RedirectingRegistry
  | TokenRegistry
  | Tokens
  | Manifests
  | Blobs
  | Mirror;

const kubernetesPackages = "/repositories/isv:/kubernetes:";
const googleRegistry = "europe-west3-docker.pkg.dev";
const bucket = "prod-registry-k8s-io-eu-central-1.s3.dualstack.eu-central-1.amazonaws.com";

/**
 * Hosts of the front. A map from a name to its behaviour. A change leads to a new golden cloud,
 * because the certificate in the golden cloud contains all names.
 */
export const frontHosts: Readonly<Record<string, HostBehaviour>> = {
  "pkgs.k8s.io": {
    kind: "package-names",
    from: "/core:",
    to: `https://prod-cdn.packages.k8s.io${kubernetesPackages}/core:`,
  },
  "prod-cdn.packages.k8s.io": {
    kind: "kubernetes-packages",
    path: `${kubernetesPackages}/core:/stable:`,
  },
  "download.docker.com": { kind: "docker-packages" },
  "registry.k8s.io": {
    kind: "redirecting-registry",
    manifests: `${googleRegistry}/v2/k8s-artifacts-prod/images`,
    blobs: `https://${bucket}/containers/images/sha256:`,
  },
  [googleRegistry]: { kind: "manifests", path: "/v2/k8s-artifacts-prod/images" },
  [bucket]: { kind: "blobs" },
  "registry-1.docker.io": {
    kind: "token-registry",
    realm: "https://auth.docker.io/token",
    service: "registry.docker.io",
    manifestsNeedToken: true,
    limited: true,
    blobs:
      "https://production.cloudflare.docker.com/registry-v2/docker/registry/v2/blobs/sha256/{two}/{digest}/data",
  },
  "auth.docker.io": { kind: "tokens" },
  "production.cloudflare.docker.com": { kind: "blobs" },
  "ghcr.io": {
    kind: "token-registry",
    realm: "https://ghcr.io/token",
    service: "ghcr.io",
    manifestsNeedToken: true,
    limited: false,
    blobs: "https://pkg-containers.githubusercontent.com/ghcr1/blobs/sha256:{digest}",
  },
  "pkg-containers.githubusercontent.com": { kind: "blobs" },
  "quay.io": {
    kind: "token-registry",
    realm: "https://quay.io/v2/auth",
    service: "quay.io",
    manifestsNeedToken: false,
    limited: false,
    blobs: "https://cdn01.quay.io/quayio-production-s3/sha256/{two}/{digest}",
  },
  "cdn01.quay.io": { kind: "blobs" },
  "deb.debian.org": { kind: "mirror" },
  "security.debian.org": { kind: "mirror" },
};

/** Returns the names of the hosts with this behaviour, or of all hosts. */
export const listFrontHostNames = (kind?: HostBehaviour["kind"]): string[] =>
  Object.entries(frontHosts)
    .filter(([, behaviour]) => kind === undefined || behaviour.kind === kind)
    .map(([name]) => name);
