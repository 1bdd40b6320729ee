import { smallManifest } from "./manifests.js";
import { podNetwork, type PodNetworkSpec } from "../../components/spec/pod-network.js";

/** A pod network as the specification has it, from what a user writes. */
export const podNetworkOf = (written: unknown): PodNetworkSpec => podNetwork.parse(written);

/** Each kind as its word alone, and each choice that changes what others depend on. */
export const podNetworkExamples: readonly PodNetworkSpec[] = [
  "kube-router",
  "cloud-routes",
  "flannel",
  { kind: "flannel", backend: "host-gw" },
  ...["vxlan", "vxlan-cross-subnet", "ipip", "none"].map((encapsulation) => ({
    ...{ kind: "calico", encapsulation, manifest: smallManifest("calico") },
  })),
  { kind: "canal", manifest: smallManifest("canal") },
].map(podNetworkOf);

/** Names an example in a test's title. */
export const titleOf = (spec: PodNetworkSpec): string =>
  Object.values(spec)
    .filter((one) => typeof one === "string")
    .join(" ");
