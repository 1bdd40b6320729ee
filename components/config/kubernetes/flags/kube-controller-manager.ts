import { check, free, listEntries, only, refuse, secondsOf, type Decisions } from "./decision.js";
import { flagsOfAll, flagsOfLeaders, kubeadmFile } from "./shared-flags.js";

const cloud = refuse("is the cloud controller's; write cloudController instead");
const podRange = refuse("comes from another setting; write network.pods instead");

/** Decision about the number of objects that a controller handles at the same time. */
const workers = check((value) =>
  /^[1-9]\d*$/.test(String([value].flat().at(-1)))
    ? undefined
    : "would stop the controller; write a whole number of at least 1",
);

/** Controllers that kubeadm enables in addition to `*`: they sign and delete tokens for joins. */
const tokenControllers = ["bootstrapsigner", "tokencleaner"] as const;

/**
 * Controllers without which nodes cannot join, or without which pods and volumes do not follow
 * their objects. Each controller has a long name and a former, short one.
 */
const neededControllers = [
  ...["bootstrap-signer-controller", "token-cleaner-controller", ...tokenControllers],
  ...["certificatesigningrequest-approving-controller", "csrapproving"],
  ...["certificatesigningrequest-signing-controller", "csrsigning"],
  ...["clusterrole-aggregation-controller", "clusterrole-aggregation"],
  ...["daemonset-controller", "daemonset", "deployment-controller", "deployment"],
  ...["endpointslice-controller", "endpointslice"],
  ...["garbage-collector-controller", "garbagecollector", "namespace-controller", "namespace"],
  ...["node-ipam-controller", "nodeipam", "node-lifecycle-controller", "nodelifecycle"],
  ...["persistentvolume-attach-detach-controller", "attachdetach"],
  ...["persistentvolume-binder-controller", "persistentvolume-binder"],
  ...["persistentvolume-protection-controller", "pv-protection"],
  ...["persistentvolumeclaim-protection-controller", "pvc-protection"],
  ...["pod-garbage-collector-controller", "podgc", "replicaset-controller", "replicaset"],
  ...["root-ca-certificate-publisher-controller", "root-ca-cert-publisher"],
  ...["serviceaccount-controller", "serviceaccount"],
  ...["serviceaccount-token-controller", "serviceaccount-token"],
  ...["statefulset-controller", "statefulset", "taint-eviction-controller"],
];

/** Returns the problem of the flag `controllers`, or undefined. */
function findControllersProblem(value: unknown): string | undefined {
  if (!listEntries(value).includes("*"))
    return "enables only the named controllers; write * first, and a - before each controller to disable";
  const found = neededControllers.find((name) => listEntries(value).includes(`-${name}`));
  return found === undefined
    ? undefined
    : `disables ${found}, which the cluster needs; leave -${found} out`;
}

/** Shortest validity in seconds of the certificates of kubelets: a week. */
const leastValidity = 7 * 24 * 3600;

/**
 * Decisions about the flags of kube-controller-manager 1.36. Other files check values together with
 * other settings: config/network/address-capacity.ts the sizes of a node's pod range, and
 * node-leases.ts `node-monitor-grace-period`.
 */
export const controllerManagerDecisions = {
  "allocate-node-cidrs": podRange,
  "attach-detach-reconcile-sync-period": free,
  "cidr-allocator-type": only(
    ["RangeAllocator"],
    "leaves nodes without a range for pods; leave it out",
  ),
  "cloud-config": cloud,
  "cloud-provider": cloud,
  "cluster-cidr": podRange,
  "cluster-name": refuse("identifies load balancers; leave it out"),
  "cluster-signing-cert-file": kubeadmFile,
  "cluster-signing-duration": check((value) =>
    (secondsOf(value) ?? leastValidity) < leastValidity
      ? "is too short to renew the certificates of kubelets after a failure; write at least 168h, a week"
      : undefined,
  ),
  "cluster-signing-key-file": kubeadmFile,
  "cluster-signing-kube-apiserver-client-cert-file": kubeadmFile,
  "cluster-signing-kube-apiserver-client-key-file": kubeadmFile,
  "cluster-signing-kubelet-client-cert-file": kubeadmFile,
  "cluster-signing-kubelet-client-key-file": kubeadmFile,
  "cluster-signing-kubelet-serving-cert-file": kubeadmFile,
  "cluster-signing-kubelet-serving-key-file": kubeadmFile,
  "cluster-signing-legacy-unknown-cert-file": kubeadmFile,
  "cluster-signing-legacy-unknown-key-file": kubeadmFile,
  "concurrent-cron-job-syncs": workers,
  "concurrent-daemonset-syncs": workers,
  "concurrent-deployment-syncs": workers,
  "concurrent-device-taint-eviction-syncs": workers,
  "concurrent-endpoint-syncs": workers,
  "concurrent-ephemeralvolume-syncs": workers,
  "concurrent-gc-syncs": workers,
  "concurrent-horizontal-pod-autoscaler-syncs": workers,
  "concurrent-job-syncs": workers,
  "concurrent-namespace-syncs": workers,
  "concurrent-rc-syncs": workers,
  "concurrent-replicaset-syncs": workers,
  "concurrent-resource-quota-syncs": workers,
  "concurrent-resourceclaim-syncs": workers,
  "concurrent-service-endpoint-syncs": workers,
  "concurrent-service-syncs": workers,
  "concurrent-serviceaccount-token-syncs": workers,
  "concurrent-statefulset-syncs": workers,
  "concurrent-ttl-after-finished-syncs": workers,
  "concurrent-validating-admission-policy-status-syncs": workers,
  "configure-cloud-routes": free,
  "controller-shutdown-timeout": free,
  "controller-start-interval": free,
  controllers: { ...check(findControllersProblem), merge: tokenControllers },
  "disable-attach-detach-reconcile-sync": free,
  "disable-force-detach-on-timeout": free,
  "enable-dynamic-provisioning": only([true], "keeps claims without a volume; leave it out"),
  "enable-garbage-collector": only(
    [true],
    "keeps the pods of deleted objects for ever; leave it out",
  ),
  "enable-hostpath-provisioner": free,
  "enable-leader-migration": free,
  "endpoint-updates-batch-period": free,
  "endpointslice-updates-batch-period": free,
  "external-cloud-volume-plugin": free,
  "flex-volume-plugin-dir": free,
  "horizontal-pod-autoscaler-cpu-initialization-period": free,
  "horizontal-pod-autoscaler-downscale-stabilization": free,
  "horizontal-pod-autoscaler-initial-readiness-delay": free,
  "horizontal-pod-autoscaler-sync-period": free,
  "horizontal-pod-autoscaler-tolerance": free,
  "large-cluster-size-threshold": free,
  "leader-migration-config": free,
  "legacy-service-account-token-clean-up-period": free,
  "max-endpoints-per-slice": free,
  "min-resync-period": free,
  "mirroring-concurrent-service-endpoint-syncs": workers,
  "mirroring-endpointslice-updates-batch-period": free,
  "mirroring-max-endpoints-per-subset": free,
  "namespace-sync-period": free,
  "node-cidr-mask-size": free,
  "node-cidr-mask-size-ipv4": free,
  "node-cidr-mask-size-ipv6": free,
  "node-eviction-rate": free,
  "node-monitor-grace-period": free,
  "node-monitor-period": free,
  "node-startup-grace-period": free,
  "pv-recycler-increment-timeout-nfs": free,
  "pv-recycler-minimum-timeout-hostpath": free,
  "pv-recycler-minimum-timeout-nfs": free,
  "pv-recycler-pod-template-filepath-hostpath": free,
  "pv-recycler-pod-template-filepath-nfs": free,
  "pv-recycler-timeout-increment-hostpath": free,
  "pvclaimbinder-sync-period": free,
  "resource-quota-sync-period": free,
  "root-ca-file": kubeadmFile,
  "route-reconciliation-period": free,
  "secondary-node-eviction-rate": free,
  "service-account-private-key-file": kubeadmFile,
  "service-cluster-ip-range": refuse("comes from another setting; write network.services instead"),
  "terminated-pod-gc-threshold": free,
  "unhealthy-zone-threshold": free,
  "use-service-account-credentials": only(
    [true],
    "leaves controllers without the rights that they need; leave it out",
  ),
  ...flagsOfAll,
  ...flagsOfLeaders,
} satisfies Decisions;
