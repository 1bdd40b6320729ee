import type { ClusterSpec } from "../spec/cluster-spec.js";
import { podNetworkNamespaces } from "../pod-network/kinds.js";

type Fields = Readonly<Record<string, unknown>>;
type Kubernetes = Pick<
  ClusterSpec["kubernetes"],
  "apiServer" | "controllerManager" | "scheduler" | "kubelet" | "hardened"
> & {
  /** `timeoutFactor` of the cluster. @default 1 */
  readonly timeoutFactor?: number | undefined;
};
type KubeletArgs = Pick<Kubernetes, "kubelet" | "hardened" | "timeoutFactor">;
type Flags = ClusterSpec["kubernetes"]["apiServer"]["extraArgs"];

/** Cipher suites of TLS 1.2 with forward secrecy and authenticated encryption. */
const cipherSuites = [
  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
  "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];

/** Flag that turns off profiling: it exposes memory and goroutines, and no cluster needs it. */
const unprofiled: Flags = { profiling: false };

const admissionFlag = "admission-control-config-file";
const pluginsFlag = "enable-admission-plugins";

/** Admission plugins of `hardened`, with kubeadm's own NodeRestriction, which the flag replaces. */
const hardenedPlugins = ["NodeRestriction", "AlwaysPullImages", "DenyServiceExternalIPs"];

/** Returns the names in a flag that is a list, or one text with commas. */
const listed = (value: Flags[string] | undefined): string[] =>
  [value ?? []].flat().flatMap((one) => String(one).split(","));

/**
 * Returns the flag with the program's and the user's admission plugins. The program leaves out a
 * plugin that the user disables: the API server does not start with one in both flags.
 */
function plugins({ apiServer: { extraArgs } }: Kubernetes): Flags {
  const off = listed(extraArgs["disable-admission-plugins"]);
  const ours = [...hardenedPlugins, ...(ownsAdmission(extraArgs) ? ["EventRateLimit"] : [])];
  const wanted = ours.filter((plugin) => !off.includes(plugin));
  return { [pluginsFlag]: [...new Set([...wanted, ...listed(extraArgs[pluginsFlag])])].join(",") };
}

/** Reports whether the program writes the file of admission plugins: not if the user names one. */
const ownsAdmission = (extraArgs: Flags): boolean => !(admissionFlag in extraArgs);

/** Reports whether the cluster's CA signs kubelets' serving certificates (scripts/serving.sh). */
export const signsKubelets = (kubernetes: KubeletArgs): boolean =>
  kubeletFields(kubernetes)[ownCertificate] === true;

/** Returns the API server's flags: defaults, those of `hardened`, and the user's, which win. */
export const apiServerFlags = (kubernetes: Kubernetes): Flags => ({
  ...unprofiled,
  // An API server that reports that it is not ready, because etcd is slow, is asked for nothing.
  ...slowTimes(kubernetes.timeoutFactor ?? 1, {
    "etcd-healthcheck-timeout": 2,
    "etcd-readycheck-timeout": 2,
  }),
  ...(kubernetes.hardened && {
    ...(signsKubelets(kubernetes) && {
      "kubelet-certificate-authority": "/etc/kubernetes/pki/ca.crt",
    }),
    "service-account-extend-token-expiration": false,
    "tls-cipher-suites": cipherSuites.join(","),
    "tls-min-version": "VersionTLS12",
  }),
  ...kubernetes.apiServer.extraArgs,
  ...(kubernetes.hardened && plugins(kubernetes)),
});

/**
 * Limits of each controller's client: requests per second, and burst. At start all controllers
 * share one client, with which each requests its own service account. With the default of 20, they
 * start 5 s later, and until then no certificate of a joining machine is signed. In return, busy
 * controllers may send the API server five times as many requests.
 */
const requests: Flags = { "kube-api-qps": 100, "kube-api-burst": 200 };

/**
 * Returns the times of leader election: Kubernetes' defaults times the factor. A leader that cannot
 * renew its lease within 10 s exits, and on a slow machine its restart delays the next renewals,
 * too. Empty if the factor is 1, and if the user sets one of the times: a component refuses times
 * that do not fit together.
 */
function leaderElection(factor: number, own: Flags): Flags {
  const times = {
    "leader-elect-lease-duration": `${String(15 * factor)}s`,
    "leader-elect-renew-deadline": `${String(10 * factor)}s`,
    "leader-elect-retry-period": `${String(2 * factor)}s`,
  };
  return factor === 1 || Object.keys(times).some((name) => name in own) ? {} : times;
}

/**
 * Returns flags with the time that a slow machine needs. No flag where the factor is 1: Kubernetes' own default holds.
 *
 * @param seconds Kubernetes' defaults by flag
 */
const slowTimes = (factor: number, seconds: Readonly<Record<string, number>>): Flags =>
  factor === 1
    ? {}
    : Object.fromEntries(
        Object.entries(seconds).map(([name, value]) => [name, `${String(value * factor)}s`]),
      );

export const controllerManagerFlags = ({
  controllerManager,
  hardened,
  timeoutFactor = 1,
}: Kubernetes): Flags => ({
  ...unprofiled,
  ...requests,
  ...leaderElection(timeoutFactor, controllerManager.extraArgs),
  // Together with the lease of a node, see slowKubelet.
  ...slowTimes(timeoutFactor, { "node-monitor-grace-period": 50 }),
  ...(hardened && { "terminated-pod-gc-threshold": 1000 }),
  ...controllerManager.extraArgs,
});

export const schedulerFlags = ({ scheduler, timeoutFactor = 1 }: Kubernetes): Flags => ({
  ...unprofiled,
  ...leaderElection(timeoutFactor, scheduler.extraArgs),
  ...scheduler.extraArgs,
});

const ownCertificate = "serverTLSBootstrap";
const hardenedKubelet: Fields = {
  podPidsLimit: 4096,
  seccompDefault: true,
  [ownCertificate]: true,
  tlsCipherSuites: cipherSuites,
};

/**
 * Returns the intervals at which kubelet reports its node's status. Kubernetes mounts and detaches a
 * volume only after such a report: 4 s and 2 s sooner on average than with the default of 10 s.
 * Without the second field, kubelet would report an unchanged status every 2 s, too. No additional
 * CPU time of an idle kubelet could be measured.
 * Source: kubernetes, pkg/kubelet/volumemanager/reconciler and
 * pkg/controller/volume/attachdetach/reconciler.
 */
export const statusReports = (timeoutFactor = 1): Fields => ({
  nodeStatusUpdateFrequency: `${String(2 * timeoutFactor)}s`,
  nodeStatusReportFrequency: "5m0s",
});

/**
 * Returns the fields that follow the factor. kubelet renews the lease of its node within a quarter of
 * its duration. On a slow machine the default of 10 s passes without an answer: the node becomes
 * NotReady, and moving its pods makes it slower.
 */
const slowKubelet = (factor: number, own: Fields): Fields => ({
  nodeLeaseDurationSeconds: 40 * factor,
  ...(!("nodeStatusUpdateFrequency" in own) && statusReports(factor)),
});

/**
 * Returns the fields of KubeletConfiguration; the user's win. kubeadm's defaults already close open
 * access to kubelet and rotate its client certificate.
 */
export const kubeletFields = ({ kubelet, hardened, timeoutFactor = 1 }: KubeletArgs): Fields => ({
  ...(timeoutFactor > 1 && slowKubelet(timeoutFactor, kubelet)),
  ...(hardened && hardenedKubelet),
  ...kubelet,
});

/** Returns the fields of all kubelets of a cluster. */
export const kubeletFieldsOf = ({
  kubernetes,
  timeoutFactor,
}: Pick<ClusterSpec, "kubernetes" | "timeoutFactor">): Fields =>
  kubeletFields({ ...kubernetes, timeoutFactor });

/** Namespaces exempt from Pod Security: the program's own pods there need access to the node. */
const exempt = ["kube-system", ...podNetworkNamespaces];

const admissionConfiguration = (hardened: boolean): Fields => {
  const standards = hardened
    ? { enforce: "baseline", audit: "restricted", warn: "restricted" }
    : { enforce: "privileged", audit: "baseline", warn: "baseline" };
  return {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AdmissionConfiguration",
    plugins: [
      ...(hardened ? [eventRateLimit] : []),
      {
        name: "PodSecurity",
        configuration: {
          apiVersion: "pod-security.admission.config.k8s.io/v1",
          kind: "PodSecurityConfiguration",
          defaults: Object.fromEntries(
            Object.entries(standards).flatMap(([mode, standard]) => [
              [mode, standard],
              [`${mode}-version`, "latest"],
            ]),
          ),
          exemptions: { namespaces: exempt },
        },
      },
    ],
  };
};

/** Plugin that limits events, per namespace and in total; well-behaved programs stay below. */
const eventRateLimit = {
  name: "EventRateLimit",
  configuration: {
    apiVersion: "eventratelimit.admission.k8s.io/v1alpha1",
    kind: "Configuration",
    limits: [
      { type: "Namespace", qps: 50, burst: 200, cacheSize: 2000 },
      { type: "Server", qps: 500, burst: 2000 },
    ],
  },
};

/**
 * Returns the settings of admission plugins, with Pod Security levels for namespaces without their
 * own; undefined if the user names a file.
 */
export const admission = ({
  apiServer,
  hardened,
}: Pick<Kubernetes, "apiServer" | "hardened">): Fields | undefined =>
  ownsAdmission(apiServer.extraArgs) ? admissionConfiguration(hardened) : undefined;
