/**
 * Stubs of the commands with which scripts turn a machine into a node, and time limits of these
 * commands.
 */
/** Stub of systemd-run. It runs the command at once. `systemctl` reports the unit as finished. */
const unit =
  'while [ "${1#-}" != "$1" ]; do case $1 in --unit|-p) shift 2 ;; *) shift ;; esac; done; "$@" || true';
export const nodeCommands: Readonly<Record<string, string>> = {
  hostname: "echo machine",
  systemctl: 'case "$*" in *ActiveState*) echo inactive ;; esac',
  "systemd-run": unit,
  openssl:
    'case "$*" in *-check*) echo "$4 does match certificate" ;; dgst*) echo "abc123 *stdin" ;; *) cat ;; esac',
  crictl: "exit 0",
  xargs: "cat >/dev/null",
  id: "exit 1",
  chown: "exit 0",
  useradd: "exit 0",
  usermod: "exit 0",
  kubelet: "echo Kubernetes v1.36.3",
};

/** Values about the Kubernetes version that every machine receives. */
export const versionValues = {
  KUBERNETES_VERSION: "1.36.3",
  PACKAGES_URL: "https://packages.example/",
  CRI_TOOLS_SERIES: "1.30..1.36",
  KUBERNETES_CNI_SERIES: "1.2..1.9",
  CONTAINERD_GENERATION: "",
  IMAGE_REPOSITORY: "r",
  PAUSE: "",
};

/** Values about the Kubernetes version that nodes receive. */
export const upgradeValues = { ...versionValues, IGNORED_ERRORS: "Swap,NumCPU" };

/** Values with which a machine requests join credentials from other machines. */
export const askerValues = {
  PEERS: "10.0.0.7 ssh-ed25519 AAAAHOST",
  JOIN_PRIVATE_KEY: "CANARY-JOIN-KEY",
  JOIN_CERTIFICATE: "ssh-ed25519-cert-v01@openssh.com AAAACERT",
};

/** Values of a machine that joins: the values in `askerValues`, and the API's name. */
export const joinerValues = { ...askerValues, API_NAME: "api.dev.internal" };

/** Values of a worker that joins. */
export const workerValues = {
  NODE_NAME: "dev-general-0",
  ...joinerValues,
  ...upgradeValues,
  KUBEADM_JOIN: "token: '@TOKEN@'\n",
  CA_CERT_HASH: "sha256:abc123",
  API_ADDRESSES: "10.0.0.7\n10.0.0.8",
  KUBELET: "1.36.3",
  KUBELET_CONFIGURATION: "",
  POD_ROUTES: "yes",
  AFTER_KUBEADM: "",
};

/** Longest duration in seconds of each wait of kubeadm itself, on a fast machine. */
export const kubeadmSeconds = 240;

/** Time in seconds reserved for images that kubeadm must pull first. */
export const pulls = 300;

/** Returns the time limit of a unit in seconds (RuntimeMaxSec). */
export const boundOf = (calls: readonly string[], unit: string): number =>
  Number(
    calls.flatMap(
      (call) =>
        new RegExp(`--unit stackadm-${unit}\\.service .*RuntimeMaxSec=(\\d+) `).exec(call)?.[1] ??
        [],
    )[0],
  );

/**
 * Returns the requests that the machine sent to control planes by SSH. Each entry contains the
 * address and the request.
 */
export const controlPlaneRequests = (calls: readonly string[]): string[] =>
  calls.flatMap((call) => /^ssh .*stackadm-join@(.*)$/.exec(call)?.[1] ?? []);
