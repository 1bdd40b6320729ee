import { smallManifest } from "../manifests.js";
import type { PodNetworkSpec } from "../../../components/pod-network/pod-network-kinds.js";
import { podNetworkSchema } from "../../../components/config/network/pod-network.js";

/** Parses a pod network in the form in which a user writes it, and adds the defaults. */
export const podNetworkOf = (written: unknown): PodNetworkSpec => podNetworkSchema.parse(written);

/**
 * Examples of pod networks: each kind with its defaults, and each option that affects other
 * components.
 */
export const podNetworkExamples: readonly PodNetworkSpec[] = [
  "kube-router",
  ...["subnet", "full"].map((overlay) => ({ kind: "kube-router", overlay })),
  { kind: "kube-router", overlay: "full", tunnel: "fou" },
  {
    kind: "kube-router",
    asn: 64600,
    multihop: 4,
    serviceProxy: true,
    hairpin: true,
    peers: [
      { address: "10.0.0.250", asn: 65001, password: "CANARY" },
      { address: "10.0.0.251", asn: 65002, port: 1179 },
    ],
    advertiseServices: ["cluster-ip", "external-ip", "load-balancer-ip"],
    serviceRanges: ["198.51.100.0/24", "192.0.2.0/25"],
  },
  "cloud-routes",
  "flannel",
  { kind: "flannel", backend: "host-gw" },
  ...["vxlan", "vxlan-cross-subnet", "ipip", "none"].map((encapsulation) => ({
    kind: "calico",
    encapsulation,
    manifest: smallManifest("calico"),
  })),
  { kind: "canal", manifest: smallManifest("canal") },
].map(podNetworkOf);

/** Returns the name of an example for a test title. */
export const titleOf = (spec: PodNetworkSpec): string =>
  Object.values(spec)
    .filter((one) => typeof one === "string")
    .join(" ");
