import { check, free, nothing, only, refuse, type Decisions } from "./decision.js";

const kubeadm = refuse("is kubeadm's; leave it out");
const health = refuse("is where kubelet's health is checked; leave it out");
const containerd = refuse("is containerd's socket; leave it out");

/**
 * Least number of pods of a control plane: four static pods, kube-proxy, the daemons of pod network,
 * cloud controller, block storage and Keystone, and six pods of other add-ons. kubelet counts static
 * pods, too: with a lower limit, it would end the API server.
 */
export const leastPods = 15;
/** Least number of CPUs of a control plane, which kubeadm requires. */
const leastCpus = 2;

/** Returns a decision that requires a number of at least `least`. */
const atLeast = (least: number, problem: string) =>
  check((value) => (Number(value) >= least ? undefined : problem));

/**
 * Decisions about the fields of KubeletConfiguration in kubelet 1.36. Other files check values
 * together with other settings: config/network/address-capacity.ts `maxPods`, and node-leases.ts
 * `nodeLeaseDurationSeconds`.
 */
export const kubeletDecisions = {
  address: only(
    ["0.0.0.0", "::"],
    "is not the address at which the API server reaches kubelet; leave it out",
  ),
  allowedUnsafeSysctls: free,
  apiVersion: kubeadm,
  "authentication.anonymous.enabled": only(
    [false],
    "gives everyone access to kubelet without a login; leave it out",
  ),
  "authentication.webhook.cacheTTL": free,
  "authentication.webhook.enabled": only(
    [true],
    "refuses the tokens of metrics-server; leave it out",
  ),
  "authentication.x509.clientCAFile": refuse("is a file of kubeadm's; leave it out"),
  "authorization.mode": only(
    ["Webhook"],
    "gives everyone with a login all rights on the node; leave it out",
  ),
  "authorization.webhook.cacheAuthorizedTTL": free,
  "authorization.webhook.cacheUnauthorizedTTL": free,
  cgroupDriver: {
    ...only(["systemd", "cgroupfs"], "is not known here; write systemd or cgroupfs"),
    kept: "systemd",
  },
  cgroupRoot: free,
  cgroupsPerQOS: free,
  clusterDNS: { ...free, kept: nothing },
  clusterDomain: refuse(
    "would differ from cluster.local, the domain that the cluster's DNS serves; leave it out",
  ),
  configMapAndSecretChangeDetectionStrategy: free,
  containerLogMaxFiles: free,
  containerLogMaxSize: free,
  containerLogMaxWorkers: free,
  containerLogMonitorInterval: free,
  containerRuntimeEndpoint: containerd,
  contentType: free,
  cpuCFSQuota: free,
  cpuCFSQuotaPeriod: free,
  cpuManagerPolicy: { ...free, kept: nothing },
  cpuManagerPolicyOptions: free,
  cpuManagerReconcilePeriod: free,
  "crashLoopBackOff.maxContainerRestartPeriod": free,
  enableContentionProfiling: free,
  enableControllerAttachDetach: only(
    [true],
    "keeps volumes of Cinder from being attached; leave it out",
  ),
  enableDebugFlagsHandler: free,
  enableDebuggingHandlers: only(
    [true],
    "disables logs and exec, and this program runs etcdctl by exec; leave it out",
  ),
  enableProfilingHandler: free,
  enableServer: only(
    [true],
    "closes the port at which the API server reaches kubelet; leave it out",
  ),
  enableSystemLogHandler: free,
  enableSystemLogQuery: free,
  enforceNodeAllocatable: free,
  eventBurst: free,
  eventRecordQPS: free,
  evictionHard: free,
  evictionMaxPodGracePeriod: free,
  evictionMinimumReclaim: free,
  evictionPressureTransitionPeriod: free,
  evictionSoft: free,
  evictionSoftGracePeriod: free,
  failCgroupV1: free,
  failSwapOn: free,
  featureGates: free,
  fileCheckFrequency: free,
  hairpinMode: free,
  healthzBindAddress: health,
  healthzPort: health,
  httpCheckFrequency: free,
  imageGCHighThresholdPercent: free,
  imageGCLowThresholdPercent: free,
  imageMaximumGCAge: free,
  imageMinimumGCAge: free,
  imagePullCredentialsVerificationPolicy: free,
  imageServiceEndpoint: containerd,
  iptablesDropBit: free,
  iptablesMasqueradeBit: free,
  kernelMemcgNotification: free,
  kind: kubeadm,
  kubeAPIBurst: free,
  kubeAPIQPS: free,
  kubeReserved: free,
  kubeReservedCgroup: free,
  kubeletCgroups: free,
  localStorageCapacityIsolation: free,
  logging: free,
  makeIPTablesUtilChains: free,
  maxOpenFiles: free,
  maxParallelImagePulls: free,
  maxPods: atLeast(
    leastPods,
    `is less than the pods of a control plane, and kubelet would end some of them; write at least ${String(leastPods)}`,
  ),
  memoryManagerPolicy: { ...free, kept: nothing },
  memoryReservationPolicy: free,
  "memorySwap.swapBehavior": free,
  memoryThrottlingFactor: free,
  mergeDefaultEvictionSettings: free,
  nodeLeaseDurationSeconds: free,
  nodeStatusMaxImages: free,
  nodeStatusReportFrequency: free,
  nodeStatusUpdateFrequency: free,
  oomScoreAdj: free,
  podCIDR: free,
  podLogsDir: free,
  podPidsLimit: free,
  podsPerCore: check((value) =>
    Number(value) === 0 || Number(value) * leastCpus >= leastPods
      ? undefined
      : `allows fewer pods than a control plane has, and kubelet would end some of them; write at least ${String(Math.ceil(leastPods / leastCpus))}`,
  ),
  port: refuse("is where the API server and the firewall expect kubelet; leave it out"),
  preloadedImagesVerificationAllowlist: free,
  protectKernelDefaults: free,
  providerID: refuse("is each server's own ID; leave it out"),
  qosReserved: free,
  readOnlyPort: only([0], "shows the pods of the node without a login; leave it out"),
  registerNode: only([true], "keeps machines from becoming nodes; leave it out"),
  registerWithTaints: refuse(
    "comes from another setting; write `taints` of the group of machines instead",
  ),
  registryBurst: free,
  registryPullQPS: free,
  reservedMemory: free,
  reservedSystemCPUs: free,
  resolvConf: check((value) =>
    typeof value === "string" && value.startsWith("/")
      ? undefined
      : "is no path of a file, so pods would have no DNS; write one like /etc/resolv.conf",
  ),
  rotateCertificates: only([true], "lets the certificate of kubelet expire; leave it out"),
  runOnce: only([false], "makes kubelet exit; leave it out"),
  runtimeRequestTimeout: free,
  seccompDefault: free,
  serializeImagePulls: free,
  serverTLSBootstrap: free,
  showHiddenMetricsForVersion: free,
  shutdownGracePeriod: free,
  shutdownGracePeriodByPodPriority: free,
  shutdownGracePeriodCriticalPods: free,
  singleProcessOOMKill: free,
  staticPodPath: refuse("is where the control plane's pods are; leave it out"),
  staticPodURL: free,
  staticPodURLHeader: free,
  streamingConnectionIdleTimeout: free,
  syncFrequency: free,
  systemCgroups: free,
  systemReserved: free,
  systemReservedCgroup: free,
  tlsCertFile: free,
  tlsCipherSuites: free,
  tlsCurvePreferences: free,
  tlsMinVersion: free,
  tlsPrivateKeyFile: free,
  topologyManagerPolicy: free,
  topologyManagerPolicyOptions: free,
  topologyManagerScope: free,
  tracing: free,
  "userNamespaces.idsPerPod": free,
  volumePluginDir: free,
  volumeStatsAggPeriod: free,
} satisfies Decisions;
