import type { ClusterSpec } from "../config/cluster-spec.js";
import { addNeededEntries, listEntries } from "../config/kubernetes/flags/decision.js";
import { apiServerDecisions } from "../config/kubernetes/flags/kube-apiserver.js";
import { controllerManagerDecisions } from "../config/kubernetes/flags/kube-controller-manager.js";
import { podNetworkNamespaces } from "../pod-network/pod-network-kinds.js";

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

/**
 * Flag that disables profiling. Profiling exposes memory and goroutines, and a cluster does not
 * need it.
 */
const unprofiled: Flags = { profiling: false };

const admissionFlag = "admission-control-config-file";
const pluginsFlag = "enable-admission-plugins";

/**
 * Admission plugins for `hardened`. Includes NodeRestriction, because kubeadm sets it in the same
 * flag, and this flag replaces kubeadm's flag.
 */
const hardenedPlugins = ["NodeRestriction", "AlwaysPullImages", "DenyServiceExternalIPs"];

/**
 * Returns the flag with the admission plugins of the program and of the user. Leaves out plugins
 * that the user disables, because the API server does not start if a plugin is both enabled and
 * disabled.
 */
function plugins({ apiServer: { extraArgs } }: Kubernetes): Flags {
  const off = listEntries(extraArgs["disable-admission-plugins"]);
  const ours = [...hardenedPlugins, ...(ownsAdmission(extraArgs) ? ["EventRateLimit"] : [])];
  const wanted = ours.filter((plugin) => !off.includes(plugin));
  return {
    [pluginsFlag]: [...new Set([...wanted, ...listEntries(extraArgs[pluginsFlag])])].join(","),
  };
}

/**
 * Returns whether the program writes the file with the settings of admission plugins. Returns false
 * if the user's flags name such a file.
 */
const ownsAdmission = (extraArgs: Flags): boolean => !(admissionFlag in extraArgs);

/**
 * Returns whether the cluster's CA signs the serving certificates of kubelets
 * (scripts/programs/approve-kubelet-certificates.sh).
 */
export const hasSignedKubeletCertificates = (kubernetes: KubeletArgs): boolean =>
  mergeKubeletFields(kubernetes)[ownCertificate] === true;

/**
 * Returns the API server's flags: defaults and flags for `hardened`. A flag of the user overrides
 * the program's value.
 */
export const getApiServerFlags = (kubernetes: Kubernetes): Flags => ({
  ...unprofiled,
  // With a slow etcd and short limits, the API server reports that it is not ready. Clients then
  // get no answer from this API server.
  ...slowTimes(kubernetes.timeoutFactor ?? 1, {
    "etcd-healthcheck-timeout": 2,
    "etcd-readycheck-timeout": 2,
  }),
  ...(kubernetes.hardened && {
    ...(hasSignedKubeletCertificates(kubernetes) && {
      "kubelet-certificate-authority": "/etc/kubernetes/pki/ca.crt",
    }),
    "service-account-extend-token-expiration": false,
    "tls-cipher-suites": cipherSuites.join(","),
    "tls-min-version": "VersionTLS12",
  }),
  ...addNeededEntries(apiServerDecisions, kubernetes.apiServer.extraArgs),
  ...(kubernetes.hardened && plugins(kubernetes)),
});

/**
 * Limits of a controller's client: requests per second, and burst. At the start, the controllers
 * share one client to request their service accounts. With the default of 20 requests per second,
 * the controllers would start 5 s later. Until then, no certificate of a joining machine is signed.
 * The disadvantage is that busy controllers may send the API server five times as many requests.
 */
const requests: Flags = { "kube-api-qps": 100, "kube-api-burst": 200 };

/**
 * Returns the times of leader election: the defaults of Kubernetes, multiplied by the factor. A
 * leader that cannot renew its lease within 10 s exits. On a slow machine, this restart also delays
 * the next renewals. Returns no flags if the user sets one of the times, because a component
 * refuses times that do not fit together. Returns no flags if the factor is 1.
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
 * Returns flags with longer times for slow machines. Returns no flags if the factor is 1.
 *
 * @param seconds defaults of Kubernetes by flag
 */
const slowTimes = (factor: number, seconds: Readonly<Record<string, number>>): Flags =>
  factor === 1
    ? {}
    : Object.fromEntries(
        Object.entries(seconds).map(([name, value]) => [name, `${String(value * factor)}s`]),
      );

export const getControllerManagerFlags = ({
  controllerManager,
  hardened,
  timeoutFactor = 1,
}: Kubernetes): Flags => ({
  ...unprofiled,
  ...requests,
  ...leaderElection(timeoutFactor, controllerManager.extraArgs),
  // This time must fit the duration of a node's lease, see slowKubelet.
  ...slowTimes(timeoutFactor, { "node-monitor-grace-period": 50 }),
  ...(hardened && { "terminated-pod-gc-threshold": 1000 }),
  ...addNeededEntries(controllerManagerDecisions, controllerManager.extraArgs),
});

export const getSchedulerFlags = ({ scheduler, timeoutFactor = 1 }: Kubernetes): Flags => ({
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
 * Returns the intervals at which kubelet reports the status of its node. Kubernetes mounts and
 * detaches a volume only after such a report. With these intervals, a volume is mounted 4 s earlier
 * and detached 2 s earlier on average than with the default of 10 s. Without
 * nodeStatusReportFrequency, kubelet would also report an unchanged status every 2 s. An idle
 * kubelet needs no measurable additional CPU time. Source: kubernetes,
 * pkg/kubelet/volumemanager/reconciler and pkg/controller/volume/attachdetach/reconciler.
 */
export const getNodeStatusIntervals = (timeoutFactor = 1): Fields => ({
  nodeStatusUpdateFrequency: `${String(2 * timeoutFactor)}s`,
  nodeStatusReportFrequency: "5m0s",
});

/**
 * Returns the kubelet fields for slow machines. kubelet must renew the node's lease within a
 * quarter of the lease's duration, which is 10 s by default. If a slow machine gets no answer in
 * this time, its node becomes NotReady. Kubernetes then moves the node's pods, which makes the
 * machine even slower.
 */
const slowKubelet = (factor: number, own: Fields): Fields => ({
  nodeLeaseDurationSeconds: 40 * factor,
  ...(!("nodeStatusUpdateFrequency" in own) && getNodeStatusIntervals(factor)),
});

/**
 * Returns the fields of KubeletConfiguration. A field of the user overrides the program's value.
 * Two settings are already in kubeadm's defaults: no anonymous access to kubelet, and rotation of
 * kubelet's client certificate.
 */
export const mergeKubeletFields = ({
  kubelet,
  hardened,
  timeoutFactor = 1,
}: KubeletArgs): Fields => ({
  ...(timeoutFactor > 1 && slowKubelet(timeoutFactor, kubelet)),
  ...(hardened && hardenedKubelet),
  ...kubelet,
});

/** Returns the fields of KubeletConfiguration for all nodes of a cluster. */
export const getKubeletFields = ({
  kubernetes,
  timeoutFactor,
}: Pick<ClusterSpec, "kubernetes" | "timeoutFactor">): Fields =>
  mergeKubeletFields({ ...kubernetes, timeoutFactor });

/**
 * Namespaces that are exempt from Pod Security, because the program's pods in these namespaces need
 * access to the node.
 */
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

/**
 * Admission plugin that limits the rate of events for each namespace and in total. Programs without
 * errors stay below the limits.
 */
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
 * Returns the settings of admission plugins, including the default levels of Pod Security for
 * namespaces. Returns undefined if the user's flags name a file with such settings.
 */
export const getAdmissionPluginSettings = ({
  apiServer,
  hardened,
}: Pick<Kubernetes, "apiServer" | "hardened">): Fields | undefined =>
  ownsAdmission(apiServer.extraArgs) ? admissionConfiguration(hardened) : undefined;
