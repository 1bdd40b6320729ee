import {
  check,
  excluding,
  free,
  including,
  listEntries,
  only,
  refuse,
  secondsOf,
  type Decisions,
} from "./decision.js";
import { flagsOfAll, kubeadmFile } from "./shared-flags.js";

const audit = refuse("comes from another setting; write kubernetes.audit instead");
const etcd = refuse("comes from another setting; write `etcd` instead");
const oidc = refuse("comes from another setting; write kubernetes.oidc instead");
const wholeEtcd = refuse("is where etcd has the objects of the cluster; leave it out");
const joins = refuse("is needed for its health checks and for joins; leave it out");
const reached = refuse("is where machines, endpoint and firewall expect the API; leave it out");

/** Issuer of the tokens of service accounts in a cluster of kubeadm. */
const ownIssuer = "https://kubernetes.default.svc.cluster.local";
/** Decision that requires the issuer in a list, because running pods have tokens of the issuer. */
const knownIssuer = including(
  ownIssuer,
  `would make the tokens of running pods invalid; write ${ownIssuer}, too`,
);

/**
 * Admission plugins without which the cluster does not work, or without which a node may change
 * objects of other nodes.
 */
const neededPlugins = [
  "CertificateApproval",
  "CertificateSigning",
  "CertificateSubjectRestriction",
  "NamespaceLifecycle",
  "NodeRestriction",
  "Priority",
  "ServiceAccount",
] as const;

/** Returns whether an entry of `runtime-config` disables a stable version of an API. */
const disablesStable = (entry: string): boolean =>
  /^(api\/all|api\/ga|(\S+\/)?v\d+)=(false|0|f)$/i.test(entry);

/**
 * Authorizers that kubeadm enables. `Node` gives each kubelet rights to the objects of its node.
 * `RBAC` gives rights to controllers and users.
 */
const authorizers = ["Node", "RBAC"] as const;

/** Returns the problem of the flag `authorization-mode`, or undefined. */
function findModeProblem(value: unknown): string | undefined {
  const modes = listEntries(value);
  if (modes.includes("AlwaysAllow")) return "gives every user all rights; write Node,RBAC";
  const missing = authorizers.filter((mode) => !modes.includes(mode));
  if (missing.length > 0)
    return `lacks ${missing.join(" and ")}, without which kubelets and controllers have no rights; write Node,RBAC, too`;
  return modes.includes("AlwaysDeny") ? "refuses all requests; leave AlwaysDeny out" : undefined;
}

/** Decisions about the flags of kube-apiserver 1.36. */
export const apiServerDecisions = {
  "admission-control": refuse(
    "replaces all admission plugins; write enable-admission-plugins or disable-admission-plugins",
  ),
  "admission-control-config-file": free,
  "advertise-address": refuse("is the machine's own address; leave it out"),
  "aggregator-reject-forwarding-redirect": free,
  "allow-privileged": only(
    [true],
    "keeps kube-proxy, the pod network and the storage driver from starting; leave it out",
  ),
  "anonymous-auth": joins,
  "api-audiences": knownIssuer,
  "audit-log-batch-buffer-size": free,
  "audit-log-batch-max-size": free,
  "audit-log-batch-max-wait": free,
  "audit-log-batch-throttle-burst": free,
  "audit-log-batch-throttle-enable": free,
  "audit-log-batch-throttle-qps": free,
  "audit-log-compress": free,
  "audit-log-format": free,
  "audit-log-maxage": audit,
  "audit-log-maxbackup": audit,
  "audit-log-maxsize": audit,
  "audit-log-mode": free,
  "audit-log-path": audit,
  "audit-log-truncate-enabled": free,
  "audit-log-truncate-max-batch-size": free,
  "audit-log-truncate-max-event-size": free,
  "audit-log-version": free,
  "audit-policy-file": audit,
  "audit-webhook-batch-buffer-size": free,
  "audit-webhook-batch-max-size": free,
  "audit-webhook-batch-max-wait": free,
  "audit-webhook-batch-throttle-burst": free,
  "audit-webhook-batch-throttle-enable": free,
  "audit-webhook-batch-throttle-qps": free,
  "audit-webhook-config-file": free,
  "audit-webhook-initial-backoff": free,
  "audit-webhook-mode": only(
    ["batch"],
    "makes each request wait for the receiver of the audit events; leave it out",
  ),
  "audit-webhook-truncate-enabled": free,
  "audit-webhook-truncate-max-batch-size": free,
  "audit-webhook-truncate-max-event-size": free,
  "audit-webhook-version": free,
  "authentication-config": refuse(
    "names a file that can refuse the requests of health checks and of joining machines; write kubernetes.oidc or kubernetes.keystone instead",
  ),
  "authentication-token-webhook-config-file": free,
  "authentication-token-webhook-version": free,
  "authorization-config": refuse(
    "names a file that can leave out Node and RBAC; write authorization-mode and authorization-webhook-config-file instead",
  ),
  "authorization-mode": check(findModeProblem),
  "authorization-policy-file": free,
  "authorization-webhook-config-file": free,
  "authorization-webhook-version": free,
  "bind-address": reached,
  "coordinated-leadership-lease-duration": free,
  "coordinated-leadership-renew-deadline": free,
  "coordinated-leadership-retry-period": free,
  "cors-allowed-origins": free,
  "debug-socket-path": free,
  "default-not-ready-toleration-seconds": free,
  "default-unreachable-toleration-seconds": free,
  "delete-collection-workers": free,
  "disable-admission-plugins": excluding(
    neededPlugins,
    (plugin) => `disables ${plugin}, which the cluster needs; leave ${plugin} out`,
  ),
  "egress-selector-config-file": free,
  "emulation-forward-compatible": free,
  "enable-admission-plugins": {
    ...excluding(["AlwaysDeny"], () => "refuses all changes; leave AlwaysDeny out"),
    // kubeadm sets the plugin in the same flag, and the user's flag replaces kubeadm's.
    merge: ["NodeRestriction"],
  },
  "enable-aggregator-routing": free,
  "enable-bootstrap-token-auth": joins,
  "enable-garbage-collector": only(
    [true],
    "keeps the pods of deleted objects for ever; leave it out",
  ),
  "enable-logs-handler": free,
  "enable-priority-and-fairness": free,
  "encryption-provider-config": free,
  "encryption-provider-config-automatic-reload": free,
  "endpoint-reconciler-type": only(
    ["lease"],
    "can leave the Service kubernetes without a working API server; leave it out",
  ),
  "etcd-cafile": etcd,
  "etcd-certfile": etcd,
  "etcd-compaction-interval": check((value) =>
    secondsOf(value) === 0 || String(value) === "0"
      ? "lets etcd grow until it accepts no changes; write a time, like 5m"
      : undefined,
  ),
  "etcd-count-metric-poll-period": free,
  "etcd-db-metric-poll-interval": free,
  "etcd-healthcheck-timeout": free,
  "etcd-keyfile": etcd,
  "etcd-prefix": wholeEtcd,
  "etcd-readycheck-timeout": free,
  "etcd-servers": etcd,
  "etcd-servers-overrides": wholeEtcd,
  "event-ttl": free,
  "external-hostname": free,
  "goaway-chance": free,
  "kubelet-certificate-authority": free,
  "kubelet-client-certificate": kubeadmFile,
  "kubelet-client-key": kubeadmFile,
  "kubelet-preferred-address-types": including(
    "InternalIP",
    "lacks InternalIP, the only address that every node has; write it, too",
  ),
  "kubelet-timeout": free,
  "kubernetes-service-node-port": free,
  "lease-reuse-duration-seconds": free,
  "livez-grace-period": free,
  "max-connection-bytes-per-sec": free,
  "max-mutating-requests-inflight": free,
  "max-requests-inflight": free,
  "min-request-timeout": free,
  "oidc-ca-file": oidc,
  "oidc-client-id": oidc,
  "oidc-groups-claim": oidc,
  "oidc-groups-prefix": oidc,
  "oidc-issuer-url": oidc,
  "oidc-required-claim": free,
  "oidc-signing-algs": free,
  "oidc-username-claim": oidc,
  "oidc-username-prefix": oidc,
  "peer-advertise-ip": free,
  "peer-advertise-port": free,
  "peer-ca-file": free,
  "proxy-client-cert-file": kubeadmFile,
  "proxy-client-key-file": kubeadmFile,
  "request-timeout": free,
  "runtime-config": check((value) => {
    const found = listEntries(value).find(disablesStable);
    return found === undefined ? undefined : `disables a stable API; leave ${found} out`;
  }),
  "runtime-config-emulation-forward-compatible": free,
  "secure-port": reached,
  "service-account-extend-token-expiration": free,
  "service-account-issuer": knownIssuer,
  "service-account-jwks-uri": free,
  "service-account-key-file": kubeadmFile,
  "service-account-lookup": only(
    [true],
    "accepts the tokens of deleted service accounts; leave it out",
  ),
  "service-account-max-token-expiration": free,
  "service-account-signing-endpoint": refuse(
    "contradicts the key of kubeadm that signs tokens; leave it out",
  ),
  "service-account-signing-key-file": kubeadmFile,
  "service-cluster-ip-range": refuse("comes from another setting; write network.services instead"),
  "service-node-port-range": refuse(
    "is where firewall, load balancers and ingress expect node ports, 30000-32767; leave it out",
  ),
  "shutdown-delay-duration": free,
  "shutdown-send-retry-after": free,
  "shutdown-watch-termination-grace-period": free,
  "storage-backend": free,
  "storage-initialization-timeout": free,
  "storage-media-type": free,
  "strict-transport-security-directives": free,
  "tls-cert-file": kubeadmFile,
  "tls-private-key-file": kubeadmFile,
  "token-auth-file": free,
  "tracing-config-file": free,
  "watch-cache": free,
  "watch-cache-sizes": free,
  ...flagsOfAll,
} satisfies Decisions;
