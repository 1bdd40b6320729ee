import { podNetwork, type PodNetworkSpec } from "../../components/spec/pod-network.js";

/** A pod network as the specification has it, from what a user writes. */
export const podNetworkOf = (written: unknown): PodNetworkSpec => podNetwork.parse(written);

/** Each kind as its word alone, and each choice that changes what others depend on. */
export const podNetworkExamples: readonly PodNetworkSpec[] = [
  "kube-router",
  "flannel",
  { kind: "flannel", backend: "host-gw" },
].map(podNetworkOf);

/** Names an example in a test's title. */
export const titleOf = ({ kind, ...options }: PodNetworkSpec): string =>
  [kind, ...Object.values(options)].filter((one) => typeof one === "string").join(" ");
