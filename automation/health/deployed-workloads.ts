import type { StateExport } from "../pulumi/stack-state.js";
import { getShortType, parseUrn } from "../pulumi/urn.js";
import { isWorkloadKind, kubeadmWorkloads, type Workload } from "../verify/workload-checks.js";

const metadataOf = (inputs: Readonly<Record<string, unknown>> = {}) => {
  const { name, namespace = "default" } = (inputs["metadata"] ?? {}) as {
    readonly name?: unknown;
    readonly namespace?: unknown;
  };
  return typeof name === "string" && typeof namespace === "string"
    ? { name, namespace }
    : undefined;
};

/**
 * Returns the workloads that the cluster's add-ons consist of: those that components of stackadm
 * deploy, and those of kubeadm. Leaves out workloads that the user's program deploys itself, and
 * the samples, which have their own checks.
 */
export function findDeployedWorkloads(
  state: StateExport,
  { samples }: { readonly samples?: { readonly namespace: string } | null | undefined },
): readonly Workload[] {
  const deployed = (state.deployment.resources ?? []).flatMap(
    ({ urn, type, inputs, delete: isReplaced }): Workload[] => {
      const kind = getShortType(type);
      const ours = parseUrn(urn).types.some((one) => one.startsWith("stackadm:"));
      const metadata = metadataOf(inputs);
      if (!ours || !metadata || isReplaced === true) return [];
      if (!type.startsWith("kubernetes:apps/v1:") || !isWorkloadKind(kind)) return [];
      return metadata.namespace === samples?.namespace ? [] : [{ kind, ...metadata }];
    },
  );
  return [...deployed, ...kubeadmWorkloads];
}
