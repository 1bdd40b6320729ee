/** Stubs of what scripts call that make a machine a node, and how long those may take. */
/** systemd-run runs the command at once, as if the unit were already at its end when it is looked at. */
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

/** What a machine is given of the version of Kubernetes. */
export const versionValues = {
  KUBERNETES_VERSION: "1.36.3",
  PACKAGES_URL: "https://packages.example/",
  CRI_TOOLS_SERIES: "<=1.36",
  KUBERNETES_CNI_SERIES: "1",
  IMAGE_REPOSITORY: "r",
  PAUSE: "",
};

/** The same for nodes. */
export const upgradeValues = { ...versionValues, IGNORED_ERRORS: "Swap,NumCPU" };

/** What a machine is given to ask others with. */
export const askerValues = {
  PEERS: "10.0.0.7 ssh-ed25519 AAAAHOST",
  JOIN_PRIVATE_KEY: "CANARY-JOIN-KEY",
  JOIN_CERTIFICATE: "ssh-ed25519-cert-v01@openssh.com AAAACERT",
};

/** The same for control planes, which it knows by the API's name too. */
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
  AFTER_KUBEADM: "",
};

/** Seconds that each of kubeadm's own waits takes at most, where nothing is slow. */
export const kubeadmSeconds = 240;

/** Seconds that are left for images that kubeadm itself has to pull first. */
export const pulls = 300;

/** Seconds that a unit of this machine was given to come to its end. */
export const boundOf = (calls: readonly string[], unit: string): number =>
  Number(
    calls.flatMap(
      (call) =>
        new RegExp(`--unit stackadm-${unit}\\.service .*RuntimeMaxSec=(\\d+) `).exec(call)?.[1] ??
        [],
    )[0],
  );

/** What control planes were asked for, with the address of the one that was asked. */
export const wishes = (calls: readonly string[]): string[] =>
  calls.flatMap((call) => /^ssh .*stackadm-join@(.*)$/.exec(call)?.[1] ?? []);
