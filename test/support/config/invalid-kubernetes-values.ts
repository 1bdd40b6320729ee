import { containerd, k8s, shares } from "./spec-parts.js";
import type { Mistake } from "./invalid-values.js";

const apiServer = (flag: string, value: unknown): Mistake => [
  `kubernetes.apiServer.extraArgs.${flag}`,
  k8s({ apiServer: { extraArgs: { [flag]: value } } }),
];
const controllerManager = (flag: string, value: unknown): Mistake => [
  `kubernetes.controllerManager.extraArgs.${flag}`,
  k8s({ controllerManager: { extraArgs: { [flag]: value } } }),
];
const scheduler = (flag: string, value: unknown): Mistake => [
  `kubernetes.scheduler.extraArgs.${flag}`,
  k8s({ scheduler: { extraArgs: { [flag]: value } } }),
];
const kubelet = (path: string, fields: object): Mistake => [
  `kubernetes.kubelet.${path}`,
  k8s({ kubelet: fields }),
];
const kubeProxy = (path: string, value: unknown): Mistake => [
  `kubernetes.kubeProxy.${path}`,
  k8s({ kubeProxy: { [path]: value } }),
];

/** Values with which a component starts, but with which the cluster does not work. */
const breaking: readonly Mistake[] = [
  apiServer("event-tll", "2h"),
  apiServer("admission-control", "NamespaceLifecycle"),
  apiServer("allow-privileged", false),
  apiServer("api-audiences", "vault"),
  apiServer("audit-webhook-mode", "blocking-strict"),
  apiServer("authentication-config", "/etc/kubernetes/authentication.yaml"),
  apiServer("authorization-config", "/etc/kubernetes/authorization.yaml"),
  apiServer("authorization-mode", "RBAC"),
  apiServer("authorization-mode", ["Node", "RBAC", "AlwaysAllow"]),
  apiServer("authorization-mode", "Node,RBAC,AlwaysDeny"),
  apiServer("disable-admission-plugins", "PodSecurity,NodeRestriction"),
  apiServer("emulated-version", "1.33"),
  apiServer("enable-admission-plugins", "AlwaysDeny"),
  apiServer("enable-garbage-collector", "false"),
  apiServer("endpoint-reconciler-type", "none"),
  apiServer("etcd-compaction-interval", "0s"),
  apiServer("etcd-prefix", "/other"),
  apiServer("etcd-servers-overrides", "/events#https://10.0.0.9:2379"),
  apiServer("help", true),
  apiServer("kubelet-preferred-address-types", "ExternalDNS"),
  apiServer("requestheader-allowed-names", "other"),
  apiServer("runtime-config", "api/beta=true,api/all=false"),
  apiServer("service-account-issuer", "https://issuer.example.org"),
  apiServer("service-account-lookup", false),
  controllerManager("authorization-always-allow-paths", "/metrics"),
  controllerManager("cidr-allocator-type", "CloudAllocator"),
  controllerManager("cluster-signing-duration", "1h"),
  controllerManager("concurrent-deployment-syncs", 0),
  controllerManager("controllers", "deployment"),
  controllerManager("controllers", "*,-bootstrap-signer-controller"),
  controllerManager("controllers", ["*", "-tokencleaner"]),
  controllerManager("enable-dynamic-provisioning", false),
  controllerManager("leader-elect", false),
  controllerManager("leader-elect-resource-name", "kube-scheduler"),
  controllerManager("node-monitor-grace-period", "5s"),
  controllerManager("use-service-account-credentials", false),
  scheduler("kubeconfig", "/etc/kubernetes/other.conf"),
  scheduler("leader-elect", "false"),
  scheduler("write-config-to", "/tmp/x"),
  kubelet("maxPodz", { maxPodz: 50 }),
  kubelet("authentication", { authentication: "none" }),
  kubelet("authentication.anonymous.enabled", {
    authentication: { anonymous: { enabled: true } },
  }),
  kubelet("authentication.webhook.enabled", { authentication: { webhook: { enabled: false } } }),
  kubelet("authorization.mode", { authorization: { mode: "AlwaysAllow" } }),
  kubelet("clusterDomain", { clusterDomain: "k8s.example" }),
  kubelet("containerRuntimeEndpoint", { containerRuntimeEndpoint: "unix:///run/other.sock" }),
  kubelet("enableControllerAttachDetach", { enableControllerAttachDetach: false }),
  kubelet("enableDebuggingHandlers", { enableDebuggingHandlers: false }),
  kubelet("enableServer", { enableServer: false }),
  kubelet("maxPods", { maxPods: 500 }),
  kubelet("nodeLeaseDurationSeconds", { nodeLeaseDurationSeconds: 400 }),
  kubelet("readOnlyPort", { readOnlyPort: 10255 }),
  kubelet("registerNode", { registerNode: false }),
  kubelet("registerWithTaints", { registerWithTaints: [{ key: "a", effect: "NoSchedule" }] }),
  kubelet("resolvConf", { resolvConf: "" }),
  kubelet("rotateCertificates", { rotateCertificates: false }),
  kubeProxy("bindAddress", "127.0.0.1"),
  kubeProxy("healthzBindAddress", "127.0.0.1:10256"),
  kubeProxy("hostnameOverride", "dev-general-0"),
  kubeProxy("nodePortAddresses", ["127.0.0.0/8"]),
];

/**
 * Invalid values of settings that Kubernetes itself defines. Each row contains one invalid value.
 */
export const mistakesOfKubernetes: readonly Mistake[] = [
  ["kubernetes.version", { kubernetes: { version: "v1.36.3" } }],
  ["kubernetes.version", { kubernetes: { version: "1.29.0" } }],
  ["kubernetes.packages.url", { kubernetes: { packages: { url: "pkgs.k8s.io" } } }],
  ["kubernetes.packages.keyFingerprint", { kubernetes: { packages: { keyFingerprint: "abc" } } }],
  [
    "kubernetes.packages.containerd.source",
    containerd({ source: "deb https://a.test x", key: "https://a.test/key" }),
  ],
  ["kubernetes.packages.containerd.key", containerd({ key: "gpg" })],
  ["kubernetes.packages.containerd.key", containerd({ source: "https://a.test/x /" })],
  ["kubernetes.packages.containerd.keyFingerprint", containerd({ keyFingerprint: "0x8D81803C" })],
  ["kubernetes.packages.containerd.generation", containerd({ generation: 1.5 })],
  ["kubernetes.registry.prefix", { kubernetes: { registry: { prefix: "http://x" } } }],
  ["kubernetes.registry.plainHttp", { kubernetes: { registry: { plainHttp: "yes" } } }],
  ["kubernetes.kubelet", { kubernetes: { kubelet: [] } }],
  [
    "kubernetes.registries.docker.io/x",
    k8s({ registries: { "docker.io/x": { mirrors: ["https://m"] } } }),
  ],
  [
    "kubernetes.registries.docker.io.mirrors.0",
    k8s({ registries: { "docker.io": { mirrors: ["m"] } } }),
  ],
  [
    "kubernetes.registries.docker.io.password",
    k8s({ registries: { "docker.io": { mirrors: ["https://m"], user: "u" } } }),
  ],
  ["kubernetes.images.pause", k8s({ images: { pause: "pause" } })],
  ["kubernetes.images", k8s({ images: { nginx: "a:1" } })],
  ["kubernetes.apiServer.extraArgs.--v", k8s({ apiServer: { extraArgs: { "--v": "2" } } })],
  [
    "kubernetes.apiServer.extraArgs.etcd-servers",
    k8s({ apiServer: { extraArgs: { "etcd-servers": "x" } } }),
  ],
  [
    "kubernetes.apiServer.extraArgs.service-node-port-range",
    k8s({ apiServer: { extraArgs: { "service-node-port-range": "20000-20100" } } }),
  ],
  [
    "kubernetes.controllerManager.extraArgs.cluster-cidr",
    k8s({ controllerManager: { extraArgs: { "cluster-cidr": "x" } } }),
  ],
  ["kubernetes.patches.kube-apiserver", k8s({ patches: { "kube-apiserver": 7 } })],
  ["kubernetes.patches", k8s({ patches: { kubelet: {} } })],
  ["kubernetes.certificates.validity", k8s({ certificates: { validity: "1y" } })],
  ["kubernetes.certificates.validity", k8s({ certificates: { validity: "100h" } })],
  [
    "kubernetes.certificates.authorityValidity",
    k8s({ certificates: { authorityValidity: 87600 } }),
  ],
  ["kubernetes.oidc.issuerUrl", k8s({ oidc: { issuerUrl: "http://i", clientId: "c" } })],
  ["kubernetes.oidc.clientId", k8s({ oidc: { issuerUrl: "https://i" } })],
  ["kubernetes.keystone.url", k8s({ keystone: { url: "keystone" } })],
  ["kubernetes.audit.maxSize", k8s({ audit: { maxSize: 0 } })],
  ["kubernetes.hardened", k8s({ hardened: "yes" })],
  ["kubernetes.ignorePreflightErrors", k8s({ ignorePreflightErrors: "all" })],
  ["kubernetes.kubeProxy.mode", k8s({ kubeProxy: { mode: "fast" } })],
  ["kubernetes.kubeProxy.mode", k8s({ kubeProxy: { mode: "" } })],
  ["kubernetes.kubelet.cgroupDriver", k8s({ kubelet: { cgroupDriver: "none" } })],
  ["kubernetes.kubelet.staticPodPath", k8s({ kubelet: { staticPodPath: "/x" } })],
  ["kubernetes.controllerManager.extraArgs.node-cidr-mask-size-ipv4", shares({ "-ipv4": "x" })],
  ["kubernetes.controllerManager.extraArgs.node-cidr-mask-size-ipv4", shares({ "-ipv4": 33 })],
  ["kubernetes.controllerManager.extraArgs.node-cidr-mask-size-ipv4", shares({ "-ipv4": 31 })],
  ...breaking,
];
