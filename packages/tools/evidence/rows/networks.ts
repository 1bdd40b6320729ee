import {
  createEmulatedProof,
  createExampleProof,
  createLabProof,
  type SupportRow,
} from "../row.js";

export const networkRows = {
  "network/own": { what: "own network, router, floating IPs", proofs: [createLabProof("life")] },
  "network/existing": {
    what: "network, subnet and router that exist; a bastion with a floating IP that exists",
    proofs: [createLabProof("all/machines/bastion")],
  },
  "network/provider": {
    what: "provider network of another project, without router and floating IPs, `access: direct`; openings of node ports",
    proofs: [createLabProof("all/network/existing-network")],
  },
  "network/unfiltered": {
    what: "`portSecurity: false`, `mtu`, `access: admin`",
    proofs: [createLabProof("all/network/second-interface")],
  },
  "network/given": {
    what: "fixed addresses of machines, a floating IP and security groups that exist, a second interface in an admin network, the address of a sample service",
    proofs: [createLabProof("all/network/given")],
  },
  "network/floating-ip-ssh": {
    what: "a floating IP that exists, for SSH without a bastion, for `ingress: workers`",
    note: "graph",
  },
  "network/dual-stack": {
    what: "IPv6 beside IPv4 (`network.ipv6`), kube-router",
    proofs: [createLabProof("all/network/dual-stack")],
  },
  "network/dual-stack-others": {
    what: "IPv6 beside IPv4 with flannel, Calico, `dhcpv6-stateful`",
    note: "graph",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const podNetworkRows = {
  "pods/kube-router": {
    what: "kube-router, the default; policies",
    proofs: [createExampleProof("ha-kube-router")],
  },
  "pods/kube-router-peers": {
    what: "kube-router: peers outside, Services announced to them, own ASN",
    proofs: [createLabProof("all/network/kube-router")],
  },
  "pods/kube-router-overlay": {
    what: "kube-router with an overlay",
    proofs: [createEmulatedProof("all/overlay")],
    note: "graph; dry run in the example `ha-kube-router`: the lab's kernel has no IPIP",
  },
  "pods/cloud-routes": {
    what: "cloud routes; policies",
    proofs: [createExampleProof("zones-and-routes")],
  },
  "pods/flannel-vxlan": {
    what: "flannel, `vxlan`",
    proofs: [
      createLabProof("in-turn/growth"),
      createExampleProof("production-ha"),
      createEmulatedProof("all/flannel-vxlan"),
    ],
  },
  "pods/flannel-host-gw": {
    what: "flannel, `host-gw`",
    proofs: [
      createLabProof("all/network/second-interface"),
      createEmulatedProof("all/flannel-host-gw"),
    ],
  },
  "pods/calico-vxlan": {
    what: "Calico v3.28.5, `vxlan`; policies",
    proofs: [createExampleProof("one-control-plane")],
    note: "the newest release that the lab can build",
  },
  "pods/calico-ipip": {
    what: "Calico, `ipip`",
    note: "graph; dry run in the example `one-control-plane`: the lab's kernel has no IPIP",
  },
  "pods/calico-none": {
    what: "Calico, `none` (BGP alone)",
    note: "graph; dry run in the example `one-control-plane`",
  },
  "pods/calico-cross-subnet": { what: "Calico, `vxlan-cross-subnet`", note: "graph" },
  "pods/calico-default": {
    what: "Calico v3.32.1, the default release",
    note: "graph; the published manifest was read and changed by hand, never applied",
  },
  "pods/canal": {
    what: "Canal v3.28.5; policies",
    proofs: [createExampleProof("external-and-internal-lb")],
    note: "the newest release that the lab can build",
  },
  "pods/canal-default": {
    what: "Canal v3.32.1, the default release",
    note: "graph; the published manifest was read and changed by hand, never applied",
  },
  "pods/own": {
    what: "`none`: a pod network of the user's own",
    proofs: [createLabProof("all/kubernetes/own")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const serviceProxyRows = {
  "proxy/iptables": {
    what: "kube-proxy, `iptables`, the default",
    proofs: [createLabProof("all/kubernetes/hardening")],
  },
  "proxy/nftables": {
    what: "kube-proxy, `nftables`",
    proofs: [createEmulatedProof("all/debian-13")],
  },
  "proxy/ipvs": { what: "kube-proxy, `ipvs`", proofs: [createEmulatedProof("all/ipvs")] },
  "proxy/kube-router": {
    what: "kube-router as service proxy",
    proofs: [createEmulatedProof("all/service-proxy")],
    note: "graph; dry run in the example `ha-kube-router`: the lab's kernel has no IPVS",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;
