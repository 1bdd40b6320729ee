import { containerd, k8s, shares } from "./spec-parts.js";
import type { Mistake } from "./invalid-values.js";

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
];
