import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import { createWarning, type Finding } from "../../openstack/checks/finding.js";

/** Returns a warning for each setting that Kubernetes has deprecated. */
export const findDeprecatedSettings = ({
  kubernetes: { kubeProxy },
}: Pick<ClusterSpec, "kubernetes">): Finding[] =>
  "mode" in kubeProxy && kubeProxy.mode === "ipvs"
    ? [
        createWarning(
          "kubernetes.kubeProxy.mode: Kubernetes has deprecated ipvs since 1.35, and a cluster cannot change its mode; write nftables for the next cluster",
        ),
      ]
    : [];
