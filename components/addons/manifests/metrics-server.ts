/**
 * metrics-server, which serves CPU and memory usage to `kubectl top` and autoscalers (pure
 * functions).
 */
import type { ClusterSpec } from "../../config/cluster-spec.js";
import { hasSignedKubeletCertificates } from "../../kubeadm/hardening.js";
import {
  buildRbacObjects,
  watchVerbs,
  buildRbacRule,
  systemNamespace,
  type RbacObjects,
} from "../../kubernetes-objects/rbac.js";
import { restrictedSecurityContext, buildDeployment, getSystemPodSettings } from "./deployment.js";
import {
  buildAppLabel,
  addContainerDefaults,
  buildLivenessProbe,
  buildReadinessProbe,
  addSkipAwaitAnnotation,
  type Taint,
} from "../../kubernetes-objects/pod-settings.js";
import type {
  ApiService,
  ClusterRole,
  Container,
  Deployment,
  Service,
} from "../../kubernetes-objects/kubernetes-types.js";

const name = "metrics-server";
const group = "metrics.k8s.io";
// The pod uses the host network, where kubelet already uses port 10250.
const port = 4443;
const authority = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

/**
 * Returns the permissions of metrics-server: to read metrics, and to authenticate and authorize
 * clients. Every aggregated API needs the permissions for clients (see the ClusterRole
 * system:auth-delegator).
 */
export function buildMetricsServerRbac(): RbacObjects {
  return buildRbacObjects({
    account: name,
    clusterRole: `system:${name}`,
    cluster: [
      buildRbacRule("", ["nodes/metrics"], ["get"]),
      buildRbacRule("", ["pods", "nodes"], watchVerbs),
      buildRbacRule("authentication.k8s.io", ["tokenreviews"], ["create"]),
      buildRbacRule("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
    ],
    namespace: [
      {
        ...buildRbacRule("", ["configmaps"], watchVerbs),
        resourceNames: ["extension-apiserver-authentication"],
      },
    ],
  });
}

/** Returns a ClusterRole that lets users with the roles view, edit and admin read metrics. */
export function buildMetricsReaderRole(): ClusterRole {
  const roles = ["view", "edit", "admin"].map((role) => [
    `rbac.authorization.k8s.io/aggregate-to-${role}`,
    "true",
  ]);
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: {
      name: "system:aggregated-metrics-reader",
      labels: Object.fromEntries(roles) as Record<string, string>,
    },
    rules: [buildRbacRule(group, ["pods", "nodes"], watchVerbs)],
  };
}

export function buildMetricsService(awaited?: boolean): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: addSkipAwaitAnnotation(
      { name, namespace: systemNamespace, labels: buildAppLabel(name) },
      awaited,
    ),
    spec: {
      selector: buildAppLabel(name),
      ports: [
        { name: "https", port: 443, targetPort: "https", protocol: "TCP", appProtocol: "https" },
      ],
    },
  };
}

/**
 * Returns the APIService of the metrics API. The API server does not verify the certificate of
 * metrics-server, because metrics-server creates a new certificate whenever it starts. Only nodes
 * and pods can reach the port of metrics-server.
 */
export function buildMetricsApiService(): ApiService {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1beta1.${group}` },
    spec: {
      service: { name, namespace: systemNamespace, port: 443 },
      group,
      version: "v1beta1",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
    },
  };
}

/** Arguments of {@link buildMetricsServerDeployment}. */
export interface MetricsServerSettings {
  readonly image: string;
  /**
   * Whether the cluster's CA signs the serving certificates of kubelets. Otherwise, kubelets use
   * self-signed certificates.
   */
  readonly signedKubelets: boolean;
  /** Whether Pulumi waits until the pod is ready. The pod needs the pod network. @default true */
  readonly awaited?: boolean;
  /** Taints of the control planes. @default only the taint of kubeadm */
  readonly controlPlaneTaints?: readonly Taint[] | undefined;
}

/**
 * Returns the settings of metrics-server from a specification, or undefined if metrics-server is
 * not requested.
 */
export const getMetricsServerSettings = (
  spec: Pick<ClusterSpec, "metricsServer" | "kubernetes">,
): Pick<MetricsServerSettings, "signedKubelets"> | undefined =>
  spec.metricsServer === true
    ? { signedKubelets: hasSignedKubeletCertificates(spec.kubernetes) }
    : undefined;

export function buildMetricsServerDeployment({
  image,
  signedKubelets,
  awaited,
  controlPlaneTaints,
}: MetricsServerSettings): Deployment {
  return buildDeployment({
    name,
    awaited,
    // All pods use the same host port. With one control plane, the port is free only after the old
    // pod has ended. An update must therefore end the old pod before it starts the new pod.
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    pod: {
      ...getSystemPodSettings(controlPlaneTaints),
      // metrics-server must connect to kubelet's port. The firewall of the machines
      // (machine/scripts/prepare/prepare.sh) blocks this port for pods, unless they use the host
      // network.
      hostNetwork: true,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [serverContainer(image, signedKubelets)],
      volumes: [{ name: "tmp", emptyDir: {} }],
    },
  });
}

function serverContainer(image: string, signedKubelets: boolean): Container {
  const probe = (path: string) => ({
    httpGet: { path, port: "https", scheme: "HTTPS" as const },
  });
  return addContainerDefaults({
    name,
    image,
    args: [
      "--cert-dir=/tmp",
      `--secure-port=${port.toString()}`,
      "--kubelet-preferred-address-types=InternalIP",
      "--kubelet-use-node-status-port",
      "--metric-resolution=15s",
      signedKubelets ? `--kubelet-certificate-authority=${authority}` : "--kubelet-insecure-tls",
    ],
    ports: [{ name: "https", containerPort: port, protocol: "TCP" }],
    // The pod becomes ready only when it has metrics of nodes. The first metrics arrive after one
    // interval of 15 s.
    readinessProbe: buildReadinessProbe(probe("/readyz"), {
      initialDelaySeconds: 20,
      periodSeconds: 10,
    }),
    livenessProbe: buildLivenessProbe(probe("/livez")),
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
    resources: { requests: { cpu: "50m", memory: "100Mi" } },
    securityContext: restrictedSecurityContext,
  });
}
