import { strict as assert } from "node:assert";
import {
  parseClusterSpec,
  type ClusterArgs,
  type ClusterSpec,
} from "../../../components/config/cluster-spec.js";

/** Smallest valid cluster: only required settings. */
export const smallest = {
  name: "dev",
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: ["203.0.113.0/24"],
  controlPlane: { flavor: "medium" },
  workers: { general: { flavor: "medium", count: 2 } },
  ssh: { publicKey: "ssh-ed25519 AAAALOGIN" },
} satisfies ClusterArgs;

/** Returns the specification of the smallest cluster, with changes. */
export const specOf = (over: Partial<ClusterArgs> = {}): ClusterSpec => {
  const result = parseClusterSpec({ ...smallest, ...over });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec;
};

/** Settings of a machine that sets no option. */
export const plainMachine = {
  tags: [],
  metadata: {},
  schedulerHints: {},
  cloudInit: [],
  securityGroups: [],
};

/** Settings of a group of machines that sets no option. */
export const plainGroup = {
  ...plainMachine,
  labels: {},
  taints: [],
  nodes: {},
  steps: { beforeKubeadm: "", afterKubeadm: "" },
  spread: "soft",
} as const;
