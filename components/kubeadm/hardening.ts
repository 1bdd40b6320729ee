import type { ClusterSpec } from "../spec/cluster-spec.js";
import { podNetworkNamespaces } from "../pod-network/kinds.js";

type Fields = Readonly<Record<string, unknown>>;
type Kubernetes = Pick<
  ClusterSpec["kubernetes"],
  "apiServer" | "controllerManager" | "scheduler" | "kubelet" | "hardened"
> & {
  /** `timeoutFactor` of the cluster. Default: 1. */
  readonly timeoutFactor?: number | undefined;
};
type KubeletArgs = Pick<Kubernetes, "kubelet" | "hardened" | "timeoutFactor">;
type Flags = ClusterSpec["kubernetes"]["apiServer"]["extraArgs"];

/** Of TLS 1.2 what is both forward secret and authenticated; TLS 1.3 has no other. */
const cipherSuites = [
  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
  "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];

/** What nobody needs of a cluster that runs: it shows memory and goroutines to whoever may ask. */
const unprofiled: Flags = { profiling: false };

const admissionFlag = "admission-control-config-file";
const pluginsFlag = "enable-admission-plugins";

/** Beside kubeadm's own, NodeRestriction, which is lost where the flag is written. */
const hardenedPlugins = ["NodeRestriction", "AlwaysPullImages", "DenyServiceExternalIPs"];

/** Names that a flag lists, however it is written. */
const listed = (value: Flags[string] | undefined): string[] =>
  [value ?? []].flat().flatMap((one) => String(one).split(","));

/**
 * The plugins of both: a user who adds one takes none of the others away. One that the user turns off is not asked for: the API
 * server does not start with a plugin in both flags.
 */
function plugins({ apiServer: { extraArgs } }: Kubernetes): Flags {
  const off = listed(extraArgs["disable-admission-plugins"]);
  const ours = [...hardenedPlugins, ...(ownsAdmission(extraArgs) ? ["EventRateLimit"] : [])];
  const wanted = ours.filter((plugin) => !off.includes(plugin));
  return { [pluginsFlag]: [...new Set([...wanted, ...listed(extraArgs[pluginsFlag])])].join(",") };
}

/** Whether the file of admission plugins is ours: a user's own stands for it. */
const ownsAdmission = (extraArgs: Flags): boolean => !(admissionFlag in extraArgs);

/** Whether kubelets serve with certificates of the cluster's authority, which scripts/serving.sh approves. */
export const signsKubelets = (kubernetes: KubeletArgs): boolean =>
  kubeletFields(kubernetes)[ownCertificate] === true;

/** Flags of the API server: what costs nothing, what is asked for by `hardened`, and the user's, which win. */
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
 * Requests a second of each controller's client. At a start they share one, with which each asks for a service account of its own: with the
 * usual 20 all of them begin 5 s later, and until then no certificate of a machine that joins is signed. Controllers that have
 * much to do may ask the API server for five times as much as before.
 */
const requests: Flags = { "kube-api-qps": 100, "kube-api-burst": 200 };

/**
 * Times of leader election, Kubernetes' own times the factor: a leader that cannot renew its lease in 10 s ends, and on a slow machine its
 * restart keeps the next lease from being renewed, too. No flags where the factor is 1, and none where the user sets one of them: a component
 * refuses times that do not fit each other.
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
 * Returns how often kubelet reports the status of its node. A volume is mounted, and released, after kubelet has reported it: 4 s
 * and 2 s sooner on average than with Kubernetes' 10 s. It writes what changed, and the whole status as often as by default, which
 * has to be set as well. No CPU time of a kubelet at rest that could be measured.
 * Source: kubernetes, pkg/kubelet/volumemanager/reconciler and pkg/controller/volume/attachdetach/reconciler.
 */
export const statusReports = (timeoutFactor = 1): Fields => ({
  nodeStatusUpdateFrequency: `${String(2 * timeoutFactor)}s`,
  nodeStatusReportFrequency: "5m0s",
});

/**
 * Returns the fields that follow the factor. A kubelet renews the lease of its node within a quarter of the lease's duration: on a
 * slow machine the default of 10 s passes without an answer, the node becomes NotReady, and its pods are moved, which makes it slower.
 */
const slowKubelet = (factor: number, own: Fields): Fields => ({
  nodeLeaseDurationSeconds: 40 * factor,
  ...(!("nodeStatusUpdateFrequency" in own) && statusReports(factor)),
});

/** Returns fields of KubeletConfiguration; the user's win. kubeadm's own turn off what is open, and rotate its certificate. */
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

/** Where this program's own pods run, and need of their machine what no other may have. */
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

/** So many events of one namespace and of the cluster that nothing well-behaved meets it. */
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

/** What pods the API server takes where their namespace does not say. Nothing where the user has a file of their own. */
export const admission = ({
  apiServer,
  hardened,
}: Pick<Kubernetes, "apiServer" | "hardened">): Fields | undefined =>
  ownsAdmission(apiServer.extraArgs) ? admissionConfiguration(hardened) : undefined;
