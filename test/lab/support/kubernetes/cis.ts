/**
 * Checks of the scored items of the CIS Kubernetes Benchmark 1.12: files of the control plane
 * (1.1), kube-apiserver, kube-controller-manager and kube-scheduler (1.2 to 1.4), etcd (2), files
 * of nodes (4.1), kubelet (4.2) and kube-proxy (4.3). Sections 3 and 5 have no scored items. The
 * titles of the items are this project's own words.
 */
import {
  absent,
  absentOr,
  atLeast,
  every,
  files,
  given,
  has,
  hasNot,
  is,
  kubelet,
  linesOf,
  ofProcess,
  preamble,
  type Item,
  type Role,
} from "./cis-item.js";
import { inServer } from "../machines/machines.js";

export type Failure = Pick<Item, "number" | "title">;

/**
 * Items that a cluster with default settings fails, each with the reason for the default
 * (docs/decisions/0021-hardening.md). A cluster with `kubernetes.hardened` fails no item.
 */
export const failuresByDefault: Readonly<Record<string, string>> = {
  "1.2.5": "a machine whose certificate is not approved in time is out of reach of exec and logs",
  "1.2.30": "clients that read their token once would lose the API after an hour",
};

const apiServer = ofProcess("kube-apiserver");
const controllerManager = ofProcess("kube-controller-manager");
const scheduler = ofProcess("kube-scheduler");
const etcd = ofProcess("etcd");

const home = "/etc/kubernetes";
const etcdData = `files "$(flags etcd | sed -n 's/^--data-dir=//p')"`;
const units = "files $(systemctl show --value -p FragmentPath -p DropInPaths kubelet)";

export const items: readonly Item[] = [
  ...files(
    ["1.1.1", "1.1.2"],
    "the API server's manifest",
    `files ${home}/manifests/kube-apiserver.yaml`,
  ),
  ...files(
    ["1.1.3", "1.1.4"],
    "the controller manager's manifest",
    `files ${home}/manifests/kube-controller-manager.yaml`,
  ),
  ...files(
    ["1.1.5", "1.1.6"],
    "the scheduler's manifest",
    `files ${home}/manifests/kube-scheduler.yaml`,
  ),
  ...files(["1.1.7", "1.1.8"], "etcd's manifest", `files ${home}/manifests/etcd.yaml`),
  ...files(["1.1.11", "1.1.12"], "etcd's data", etcdData, { mode: 0o700, owner: "etcd:etcd" }),
  ...files(
    ["1.1.13", "1.1.14"],
    "administrators' kubeconfigs",
    `files ${home}/{admin,super-admin}.conf`,
  ),
  ...files(["1.1.15", "1.1.16"], "the scheduler's kubeconfig", `files ${home}/scheduler.conf`),
  ...files(
    ["1.1.17", "1.1.18"],
    "the controller manager's kubeconfig",
    `files ${home}/controller-manager.conf`,
  ),
  ...files(
    [undefined, "1.1.19"],
    "keys and certificates",
    `find ${home}/pki -exec stat -c '%a %U:%G' {} +`,
  ),
  apiServer("1.2.2", "no tokens from a file", "token-auth-file", absent),
  apiServer(
    "1.2.4",
    "proves itself to kubelets",
    "kubelet-client-certificate kubelet-client-key",
    given,
  ),
  apiServer("1.2.5", "knows kubelets' authority", "kubelet-certificate-authority", given),
  apiServer(
    "1.2.6",
    "allows not just everything",
    "authorization-mode",
    (modes) => given(modes) && hasNot("AlwaysAllow")(modes),
  ),
  apiServer("1.2.7", "gives nodes what is their own", "authorization-mode", has("Node")),
  apiServer("1.2.8", "goes by roles", "authorization-mode", has("RBAC")),
  apiServer(
    "1.2.10",
    "admits not just everything",
    "enable-admission-plugins",
    hasNot("AlwaysAdmit"),
  ),
  apiServer(
    "1.2.12",
    "gives pods an account",
    "disable-admission-plugins",
    hasNot("ServiceAccount"),
  ),
  apiServer(
    "1.2.13",
    "refuses objects in namespaces that go",
    "disable-admission-plugins",
    hasNot("NamespaceLifecycle"),
  ),
  apiServer(
    "1.2.14",
    "lets nodes write only what is their own",
    "enable-admission-plugins",
    has("NodeRestriction"),
  ),
  apiServer("1.2.15", "is not profiled", "profiling", is("false")),
  apiServer("1.2.16", "writes an audit log", "audit-log-path", given),
  apiServer("1.2.17", "keeps it for 30 days", "audit-log-maxage", atLeast(30)),
  apiServer("1.2.18", "keeps ten older files of it", "audit-log-maxbackup", atLeast(10)),
  apiServer("1.2.19", "of 100 MB each", "audit-log-maxsize", atLeast(100)),
  apiServer(
    "1.2.21",
    "asks whether a token's account is still there",
    "service-account-lookup",
    absentOr("true"),
  ),
  apiServer(
    "1.2.22",
    "has a separate key for tokens of accounts",
    "service-account-key-file",
    given,
  ),
  apiServer("1.2.23", "proves itself to etcd", "etcd-certfile etcd-keyfile", given),
  apiServer("1.2.24", "serves with a certificate", "tls-cert-file tls-private-key-file", given),
  apiServer("1.2.25", "knows clients' authority", "client-ca-file", given),
  apiServer("1.2.26", "knows etcd's authority", "etcd-cafile", given),
  apiServer(
    "1.2.30",
    "does not prolong tokens of accounts",
    "service-account-extend-token-expiration",
    is("false"),
  ),
  controllerManager("1.3.2", "is not profiled", "profiling", is("false")),
  controllerManager(
    "1.3.3",
    "has an account for each controller",
    "use-service-account-credentials",
    is("true"),
  ),
  controllerManager(
    "1.3.4",
    "signs tokens with a separate key",
    "service-account-private-key-file",
    given,
  ),
  controllerManager("1.3.5", "tells pods the API's authority", "root-ca-file", given),
  controllerManager(
    "1.3.6",
    "lets kubelets renew their certificates",
    "feature-gates",
    hasNot("RotateKubeletServerCertificate=false"),
  ),
  controllerManager("1.3.7", "listens on its machine only", "bind-address", absentOr("127.0.0.1")),
  scheduler("1.4.1", "is not profiled", "profiling", is("false")),
  scheduler("1.4.2", "listens on its machine only", "bind-address", absentOr("127.0.0.1")),
  etcd("2.1", "serves with a certificate", "cert-file key-file", given),
  etcd("2.2", "asks clients for theirs", "client-cert-auth", is("true")),
  etcd("2.3", "makes up no certificate", "auto-tls", absentOr("false")),
  etcd("2.4", "talks to members with a certificate", "peer-cert-file peer-key-file", given),
  etcd("2.5", "asks members for theirs", "peer-client-cert-auth", is("true")),
  etcd("2.6", "makes up none for members", "peer-auto-tls", absentOr("false")),
  ...files(["4.1.1", "4.1.2"], "kubelet's units", units, { roles: every }),
  ...files(["4.1.5", "4.1.6"], "kubelet's kubeconfig", `files ${home}/kubelet.conf`, {
    roles: every,
  }),
  ...files(["4.1.9", "4.1.10"], "kubelet's configuration", "files /var/lib/kubelet/config.yaml", {
    roles: every,
  }),
  kubelet(
    "4.2.1",
    "kubelet answers no unknown client",
    "anonymous-auth authentication.anonymous.enabled",
    is("false"),
  ),
  kubelet(
    "4.2.2",
    "kubelet asks what one may",
    "authorization-mode authorization.mode",
    (mode) => given(mode) && mode !== "AlwaysAllow",
  ),
  kubelet(
    "4.2.3",
    "kubelet knows clients' authority",
    "client-ca-file authentication.x509.clientCAFile",
    given,
  ),
  kubelet(
    "4.2.6",
    "kubelet keeps the firewall's chains",
    "make-iptables-util-chains makeIPTablesUtilChains",
    absentOr("true"),
  ),
  kubelet(
    "4.2.10",
    "kubelet renews its certificate",
    "rotate-certificates rotateCertificates",
    absentOr("true"),
  ),
  {
    number: "4.3.1",
    title: "kube-proxy's figures are for its machine only",
    roles: every,
    question: "listens 10249",
    passes: (answer) => linesOf(answer).every((place) => /^(127\.|\[::1\])/.test(place)),
  },
];

/** Returns the bash commands of all items of a role, without duplicates. */
const questionsTo = (role: Role): string[] => [
  ...new Set(items.filter(({ roles }) => roles.includes(role)).map(({ question }) => question)),
];

/**
 * Returns a bash script for machines of a role. The script prints the answer to each question as
 * one line of base64.
 */
export const scriptFor = (role: Role): string =>
  [
    preamble,
    ...questionsTo(role).map(
      (question) => `printf '%s\\n' "$({ ${question}; } 2>/dev/null | base64 -w0)"`,
    ),
  ].join("\n");

/**
 * Returns the items that a machine fails. `answers` is the output of the machine's script. An item
 * without an answer fails.
 */
export function failuresIn(role: Role, answers: string): Failure[] {
  const lines = answers.split("\n").map((line) => Buffer.from(line, "base64").toString().trim());
  const read = new Map(questionsTo(role).map((question, index) => [question, lines[index] ?? ""]));
  return items
    .filter(({ roles, question, passes }) => {
      const answer = read.get(question) ?? "";
      return roles.includes(role) && (answer === "" || !passes(answer));
    })
    .map(({ number, title }) => ({ number, title }));
}

/** Returns the items that the machines fail. */
export async function failuresOf(
  nodes: readonly { readonly name: string; readonly role: string; readonly serverId: string }[],
): Promise<readonly (Failure & { readonly machine: string })[]> {
  const each = nodes.map(async ({ name, role, serverId }) => {
    const known = role === "control-plane" ? role : "worker";
    const answers = await inServer(serverId, "bash -s", scriptFor(known));
    return failuresIn(known, answers).map((failure) => ({ machine: name, ...failure }));
  });
  return (await Promise.all(each)).flat();
}
