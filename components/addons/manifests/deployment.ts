/** Deployments of add-ons, each with its own service account and a read-only file system (pure). */
import type {
  Deployment,
  DeploymentStrategy,
  PodSpec,
  SecurityContext,
} from "../../kubernetes-objects/kubernetes-types.js";
import { systemNamespace } from "../../kubernetes-objects/rbac.js";
import {
  appLabel,
  controlPlaneSelector,
  evictSoonTolerations,
  onControlPlane,
  readyWithPods,
} from "../../kubernetes-objects/pod-settings.js";

/** Security context of a program without special rights. */
export const restrictedSecurityContext: SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/**
 * Pod settings of essential add-ons, which run on a control plane with priority over other pods.
 */
export const systemPod = {
  priorityClassName: "system-cluster-critical",
  nodeSelector: controlPlaneSelector,
  tolerations: [onControlPlane, ...evictSoonTolerations],
} satisfies Partial<PodSpec>;

/** Settings in which the Deployments of add-ons differ. */
export interface DeploymentSettings {
  /** Name of the Deployment and of the service account. */
  readonly name: string;
  /** Namespace. @default kube-system */
  readonly namespace?: string;
  /** Number of pods. @default 1 */
  readonly replicas?: number;
  readonly strategy: DeploymentStrategy;
  /** Whether to wait for the pods, which need the pod network. @default true */
  readonly awaited?: boolean | undefined;
  readonly pod: Omit<PodSpec, "serviceAccountName">;
}

export function deployment({
  name,
  namespace = systemNamespace,
  replicas = 1,
  strategy,
  awaited,
  pod,
}: DeploymentSettings): Deployment {
  const labels = appLabel(name);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: readyWithPods({ name, namespace, labels }, awaited),
    spec: {
      replicas,
      strategy,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { serviceAccountName: name, ...pod } },
    },
  };
}
