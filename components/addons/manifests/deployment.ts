/** Deployments of add-ons, each with a service account of the same name (pure functions). */
import type {
  Deployment,
  DeploymentStrategy,
  PodSpec,
  SecurityContext,
} from "../../kubernetes-objects/kubernetes-types.js";
import { systemNamespace } from "../../kubernetes-objects/rbac.js";
import {
  buildAppLabel,
  controlPlaneSelector,
  fastEvictionTolerations,
  getControlPlaneTolerations,
  addSkipAwaitAnnotation,
  type Taint,
} from "../../kubernetes-objects/pod-settings.js";

/** Security context of a container that needs no privileges. */
export const restrictedSecurityContext: SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/**
 * Returns the pod settings of essential add-ons, whose pods run on control planes with priority over
 * other pods.
 *
 * @param taints taints of the control planes. Default: only the taint of kubeadm
 */
export const getSystemPodSettings = (taints?: readonly Taint[]) =>
  ({
    priorityClassName: "system-cluster-critical",
    nodeSelector: controlPlaneSelector,
    tolerations: [...getControlPlaneTolerations(taints), ...fastEvictionTolerations],
  }) satisfies Partial<PodSpec>;

/** Settings in which the Deployments of the add-ons differ. */
export interface DeploymentSettings {
  /** Name of the Deployment and of its service account. */
  readonly name: string;
  /** Namespace of the Deployment. @default kube-system */
  readonly namespace?: string;
  /** Number of pods. @default 1 */
  readonly replicas?: number;
  readonly strategy: DeploymentStrategy;
  /** Whether Pulumi waits until the pods are ready. The pods need the pod network. @default true */
  readonly awaited?: boolean | undefined;
  readonly pod: Omit<PodSpec, "serviceAccountName">;
}

export function buildDeployment({
  name,
  namespace = systemNamespace,
  replicas = 1,
  strategy,
  awaited,
  pod,
}: DeploymentSettings): Deployment {
  const labels = buildAppLabel(name);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: addSkipAwaitAnnotation({ name, namespace, labels }, awaited),
    spec: {
      replicas,
      strategy,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { serviceAccountName: name, ...pod } },
    },
  };
}
