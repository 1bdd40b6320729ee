/** metrics-server: CPU and memory of nodes and pods, for `kubectl top` and autoscalers (pure). */
import type { ClusterSpec } from "../../config/cluster-spec.js";
import { signsKubeletCertificates } from "../../kubeadm/hardening.js";
import {
  rbacObjects,
  watchVerbs,
  rule,
  systemNamespace,
  type RbacObjects,
} from "../../kubernetes-objects/rbac.js";
import { restrictedSecurityContext, deployment, systemPod } from "./deployment.js";
import {
  appLabel,
  container,
  livenessProbeOf,
  readinessProbeOf,
  readyWithPods,
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
// Not 10250, because kubelet has that port on the same host network.
const port = 4443;
const authority = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

/**
 * Returns the permissions to read metrics and, as every aggregated API needs, to authenticate and
 * authorize clients (as in system:auth-delegator).
 */
export function metricsServerAccess(): RbacObjects {
  return rbacObjects({
    account: name,
    clusterRole: `system:${name}`,
    cluster: [
      rule("", ["nodes/metrics"], ["get"]),
      rule("", ["pods", "nodes"], watchVerbs),
      rule("authentication.k8s.io", ["tokenreviews"], ["create"]),
      rule("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
    ],
    namespace: [
      {
        ...rule("", ["configmaps"], watchVerbs),
        resourceNames: ["extension-apiserver-authentication"],
      },
    ],
  });
}

/**
 * Returns a ClusterRole that adds the permission to read metrics to the roles view, edit and admin.
 */
export function metricsReader(): ClusterRole {
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
    rules: [rule(group, ["pods", "nodes"], watchVerbs)],
  };
}

export function metricsService(awaited?: boolean): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: readyWithPods({ name, namespace: systemNamespace, labels: appLabel(name) }, awaited),
    spec: {
      selector: appLabel(name),
      ports: [
        { name: "https", port: 443, targetPort: "https", protocol: "TCP", appProtocol: "https" },
      ],
    },
  };
}

/**
 * Returns the registration of the metrics API. The API server does not verify the certificate,
 * because metrics-server creates it at its start. Only nodes and pods can reach the port of
 * metrics-server.
 */
export function metricsApi(): ApiService {
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

/** Arguments of {@link metricsServer}. */
export interface MetricsServerSettings {
  readonly image: string;
  /**
   * Whether the cluster's CA signs the certificates of kubelets; otherwise kubelets sign their own.
   */
  readonly signedKubelets: boolean;
  /** Whether to wait for the pod, which needs the pod network. @default true */
  readonly awaited?: boolean;
}

/** Returns the settings in a specification. Undefined without metrics-server. */
export const metricsServerOf = (
  spec: Pick<ClusterSpec, "metricsServer" | "kubernetes">,
): Pick<MetricsServerSettings, "signedKubelets"> | undefined =>
  spec.metricsServer === true
    ? { signedKubelets: signsKubeletCertificates(spec.kubernetes) }
    : undefined;

export function metricsServer({
  image,
  signedKubelets,
  awaited,
}: MetricsServerSettings): Deployment {
  return deployment({
    name,
    awaited,
    // With one control plane, the port is free only after the former pod has ended, so no pod is
    // added before.
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    pod: {
      ...systemPod,
      // metrics-server must connect to kubelet's port. The firewall of the machines
      // (machine/scripts/prepare/prepare.sh) blocks this port for pods, except for pods on the host
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
  return container({
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
    // The server is Ready only when it has metrics of nodes. The first metrics come after one
    // interval (15 s).
    readinessProbe: readinessProbeOf(probe("/readyz"), {
      initialDelaySeconds: 20,
      periodSeconds: 10,
    }),
    livenessProbe: livenessProbeOf(probe("/livez")),
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
    resources: { requests: { cpu: "50m", memory: "100Mi" } },
    securityContext: restrictedSecurityContext,
  });
}
