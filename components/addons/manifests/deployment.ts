/** Deployments of add-ons: programs with an account of their own that write nowhere (pure). */
import type {
  Deployment,
  DeploymentStrategy,
  PodSpec,
  SecurityContext,
} from "../../support/kubernetes-types.js";
import { systemNamespace } from "../../support/manifests/access.js";
import {
  appLabel,
  controlPlaneSelector,
  leavesSoon,
  onControlPlane,
  readyWithPods,
} from "../../support/manifests/pod.js";

/** What a program cannot do that is not told otherwise. */
export const confined: SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/** The pod of what a cluster needs to work: on a control plane, ahead of other pods. */
export const systemPod = {
  priorityClassName: "system-cluster-critical",
  nodeSelector: controlPlaneSelector,
  tolerations: [onControlPlane, ...leavesSoon],
} satisfies Partial<PodSpec>;

/** What Deployments of add-ons do not have in common. */
export interface DeploymentSettings {
  /** Of the Deployment, and of the account of its pods. */
  readonly name: string;
  /** @default kube-system */
  readonly namespace?: string;
  /** @default 1 */
  readonly replicas?: number;
  readonly strategy: DeploymentStrategy;
  /** Whether there is a pod network to wait for. @default true */
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
