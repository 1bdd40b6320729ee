import { announcing, both, cp, k8s, lb, shares, worker } from "./spec-parts.js";

/** Values that look wrong but are valid: kubeadm, Neutron and Nova accept them. */
export const unusualValidValues: readonly Readonly<Record<string, unknown>>[] = [
  {
    network: { nodes: "192.168.0.0/24", pods: "10.0.0.0/8", services: "172.20.0.0/16" },
    ...shares({ "": 25 }),
  },
  { network: { pods: "10.244.0.0/22" }, ...shares({ "-ipv4": "26" }), ...worker({ count: 9 }) },
  { ...both({ pods: "fd00:10:244::/64" }), ...shares({ "-ipv6": 80 }) },
  {
    ...both({ pods: "fd00:10:244::/64" }),
    podNetwork: { kind: "calico", manifest: { source: "calico.yaml", sha256: "0".repeat(64) } },
  },
  { endpoint: { kind: "virtual-ip", address: "10.0.0.2" } },
  { network: { nodes: "10.0.0.0/29" }, endpoint: { kind: "virtual-ip" }, ...worker({ count: 2 }) },
  { allowedCidrs: ["2001:db8::/32", "203.0.113.0/24"] },
  { allowedCidrs: ["2001:db8::/32"], network: { securityGroups: ["office"] } },
  { allowedCidrs: ["2001:db8::/32"], network: { portSecurity: false } },
  { network: { dns: ["2001:db8::53"], ipv6: { nodes: "fd00:10::/64" } } },
  cp({ metadata: { "team-1_a: b.c": "a".repeat(255) } }),
  cp({ schedulerHints: { "example.org/rack": "r1" } }),
  lb({ network: { range: "10.1.0.0/29", externalNetwork: "public" } }),
  worker({ count: 0 }),
  { samples: true, ...cp({ schedulable: true }), ...worker({ count: 0 }) },
  worker({ labels: { gpu: "true", empty: "" } }),
  k8s({ kubeProxy: { mode: "ipvs", nodePortAddresses: ["localhost", "198.51.100.0/24"] } }),
  k8s({
    apiServer: {
      extraArgs: {
        "authorization-mode": ["Node,RBAC", "Webhook"],
        "runtime-config": "api/beta=false,resource.k8s.io/v1beta1=false",
        "service-account-issuer": [
          "https://issuer.example.org",
          "https://kubernetes.default.svc.cluster.local",
        ],
      },
    },
    controllerManager: { extraArgs: { controllers: "*,-ttl-after-finished-controller" } },
    kubelet: {
      authentication: { anonymous: { enabled: false }, webhook: { cacheTTL: "1m" } },
      maxPods: 253,
    },
  }),
  { ...k8s({ hardened: true }), podNetwork: { ...announcing, advertiseServices: ["cluster-ip"] } },
  {
    podNetwork: announcing,
    ...k8s({
      hardened: true,
      apiServer: {
        extraArgs: { "disable-admission-plugins": "PodSecurity,DenyServiceExternalIPs" },
      },
    }),
  },
];
