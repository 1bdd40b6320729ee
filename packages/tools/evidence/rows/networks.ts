import {
  createEmulatedProof,
  createExampleProof,
  createLabProof,
  type SupportRow,
} from "../row.js";

export const networkRows = {
  "network/own": {
    what: "network, router and floating IPs created by the program",
    proofs: [createLabProof("life")],
  },
  "network/existing": {
    what: "existing network, subnet and router; a bastion with an existing floating IP",
    proofs: [createLabProof("all/machines/bastion")],
  },
  "network/provider": {
    what: "provider network of another project, without router and floating IPs (`access: direct`); rules for node ports",
    proofs: [createLabProof("all/network/existing-network")],
  },
  "network/unfiltered": {
    what: "`portSecurity: false`, `mtu`, `access: admin`",
    proofs: [createLabProof("all/network/second-interface")],
  },
  "network/given": {
    what: "fixed addresses of machines, an existing floating IP and security groups, a second interface in an admin network, a chosen address of a sample Service",
    proofs: [createLabProof("all/network/given")],
  },
  "network/floating-ip-ssh": {
    what: "an existing floating IP for SSH without a bastion, and for `ingress: workers`",
    note: "graph",
  },
  "network/dual-stack": {
    what: "dual stack (`network.ipv6`) with kube-router",
    proofs: [createLabProof("all/network/dual-stack")],
  },
  "network/dual-stack-others": {
    what: "dual stack with flannel and Calico; `dhcpv6-stateful`",
    note: "graph",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const podNetworkRows = {
  "pods/kube-router": {
    what: "kube-router, the default; network policies",
    proofs: [createExampleProof("ha-kube-router")],
  },
  "pods/kube-router-peers": {
    what: "kube-router: external BGP peers, Services announced to them, a chosen ASN",
    proofs: [createLabProof("all/network/kube-router")],
  },
  "pods/kube-router-overlay": {
    what: "kube-router with an overlay",
    proofs: [createEmulatedProof("all/overlay")],
    note: "graph; dry run in the example `ha-kube-router`: the lab's kernel has no IPIP",
  },
  "pods/cloud-routes": {
    what: "cloud routes; network policies",
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
    what: "Calico v3.28.5, `vxlan`; network policies",
    proofs: [createExampleProof("one-control-plane")],
    note: "the newest release that the lab can build",
  },
  "pods/calico-ipip": {
    what: "Calico, `ipip`",
    note: "graph; dry run in the example `one-control-plane`: the lab's kernel has no IPIP",
  },
  "pods/calico-none": {
    what: "Calico, `none` (BGP without encapsulation)",
    note: "graph; dry run in the example `one-control-plane`",
  },
  "pods/calico-cross-subnet": { what: "Calico, `vxlan-cross-subnet`", note: "graph" },
  "pods/calico-default": {
    what: "Calico v3.32.1, the default release",
    note: "graph; the published manifest was edited by hand and never applied",
  },
  "pods/canal": {
    what: "Canal v3.28.5; network policies",
    proofs: [createExampleProof("external-and-internal-lb")],
    note: "the newest release that the lab can build",
  },
  "pods/canal-default": {
    what: "Canal v3.32.1, the default release",
    note: "graph; the published manifest was edited by hand and never applied",
  },
  "pods/own": {
    what: "`none`: a pod network that the user installs",
    proofs: [createLabProof("all/kubernetes/own")],
  },
} as const satisfies Readonly<Record<string, SupportRow>>;

export const serviceProxyRows = {
  "proxy/iptables": {
    what: "kube-proxy, `iptables`, the default with flannel, Calico and Canal",
    proofs: [createExampleProof("one-control-plane")],
  },
  "proxy/nftables": {
    what: "kube-proxy, `nftables`, the default with kube-router and cloud routes",
    proofs: [createLabProof("life"), createEmulatedProof("defaults", "carries traffic on a node")],
  },
  "proxy/ipvs": { what: "kube-proxy, `ipvs`", proofs: [createEmulatedProof("all/ipvs")] },
  "proxy/kube-router": {
    what: "kube-router as service proxy",
    proofs: [createEmulatedProof("all/service-proxy")],
    note: "graph; dry run in the example `ha-kube-router`: the lab's kernel has no IPVS",
  },
} as const satisfies Readonly<Record<string, SupportRow>>;
