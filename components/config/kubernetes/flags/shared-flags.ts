import { check, free, listEntries, only, refuse, type Decisions } from "./decision.js";

/*
 * Decisions about flags that several components of the control plane have.
 */

/** Decision that refuses flags that name a file of kubeadm. */
export const kubeadmFile = refuse("is a file of kubeadm's; leave it out");

/** Decision that refuses flags with which a component exits after it has printed a text. */
export const exits = refuse("makes the component exit; leave it out");

/** Decision that refuses flags that make a component behave like one of another version. */
const emulates = refuse(
  "makes the component behave like another version; write kubernetes.version instead",
);

/**
 * Decision that refuses the headers and names by which an extension API server finds the user of a
 * request. All API servers of a cluster must use the same headers and names.
 */
const frontProxy = refuse(
  "is how extension API servers such as metrics-server learn the user of a request; leave it out",
);

/** Flags of kube-apiserver, kube-controller-manager and kube-scheduler. */
export const flagsOfAll = {
  "allow-metric-labels": free,
  "allow-metric-labels-manifest": free,
  "authentication-token-webhook-cache-ttl": free,
  "authorization-webhook-cache-authorized-ttl": free,
  "authorization-webhook-cache-unauthorized-ttl": free,
  "cert-dir": free,
  "client-ca-file": kubeadmFile,
  "contention-profiling": free,
  "disable-http2-serving": free,
  "disabled-metrics": free,
  "emulated-version": emulates,
  "feature-gates": free,
  help: exits,
  "http2-max-streams-per-connection": free,
  "log-flush-frequency": free,
  "log-json-info-buffer-size": free,
  "log-json-split-stream": free,
  "log-text-info-buffer-size": free,
  "log-text-split-stream": free,
  "logging-format": free,
  "min-compatibility-version": emulates,
  "permit-address-sharing": free,
  "permit-port-sharing": free,
  profiling: free,
  "requestheader-allowed-names": frontProxy,
  "requestheader-client-ca-file": kubeadmFile,
  "requestheader-extra-headers-prefix": frontProxy,
  "requestheader-group-headers": frontProxy,
  "requestheader-uid-headers": free,
  "requestheader-username-headers": frontProxy,
  "show-hidden-metrics-for-version": free,
  "tls-cipher-suites": free,
  "tls-curve-preferences": free,
  "tls-min-version": free,
  "tls-sni-cert-key": free,
  v: free,
  version: exits,
  vmodule: free,
} satisfies Decisions;

/** Paths that kubelet and this program request without a login to check a component's health. */
const healthPaths = ["/healthz", "/livez", "/readyz"] as const;

/**
 * Decision that refuses another lease. During the change, one leader would have the former lease
 * and another leader the new lease.
 */
const lock = refuse("is how the copies of the component agree on one leader; leave it out");

/** Flags of the components of which one copy works at a time. */
export const flagsOfLeaders = {
  "authentication-kubeconfig": kubeadmFile,
  "authentication-skip-lookup": free,
  "authentication-tolerate-lookup-failure": free,
  "authorization-always-allow-paths": check((value) => {
    const missing = healthPaths.filter((path) => !listEntries(value).includes(path));
    return missing.length === 0
      ? undefined
      : `lacks ${missing.join(", ")}, at which kubelet checks the component's health; write these paths, too`;
  }),
  "authorization-kubeconfig": kubeadmFile,
  "bind-address": free,
  "kube-api-burst": free,
  "kube-api-content-type": free,
  "kube-api-qps": free,
  kubeconfig: kubeadmFile,
  "leader-elect": only(
    [true],
    "lets the component work on every control plane at the same time; leave it out",
  ),
  "leader-elect-lease-duration": free,
  "leader-elect-renew-deadline": free,
  "leader-elect-resource-lock": lock,
  "leader-elect-resource-name": lock,
  "leader-elect-resource-namespace": lock,
  "leader-elect-retry-period": free,
  master: kubeadmFile,
  "secure-port": refuse("is where its health is checked; leave it out"),
  "tls-cert-file": free,
  "tls-private-key-file": free,
} satisfies Decisions;
