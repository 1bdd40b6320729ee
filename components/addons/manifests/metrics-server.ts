/** metrics-server: what nodes and pods use, for `kubectl top` and autoscalers (pure). */
import type { ClusterSpec } from "../../spec/cluster-spec.js";
import { signsKubelets } from "../../kubeadm/hardening.js";
import {
  access,
  reading,
  rule,
  systemNamespace,
  type Access,
} from "../../support/manifests/access.js";
import { confined, deployment, systemPod } from "./deployment.js";
import {
  appLabel,
  container,
  liveness,
  readiness,
  readyWithPods,
} from "../../support/manifests/pod.js";
import type {
  ApiService,
  ClusterRole,
  Container,
  Deployment,
  Service,
} from "../../support/kubernetes-types.js";

const name = "metrics-server";
const group = "metrics.k8s.io";
// Not 10250, which is the port of the kubelet beside it.
const port = 4443;
const authority = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

/** What it reads, and what every aggregated API needs to know who asks (as the role system:auth-delegator). */
export function metricsServerAccess(): Access {
  return access({
    account: name,
    clusterRole: `system:${name}`,
    cluster: [
      rule("", ["nodes/metrics"], ["get"]),
      rule("", ["pods", "nodes"], reading),
      rule("authentication.k8s.io", ["tokenreviews"], ["create"]),
      rule("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
    ],
    namespace: [
      {
        ...rule("", ["configmaps"], reading),
        resourceNames: ["extension-apiserver-authentication"],
      },
    ],
  });
}

/** Whoever may look at pods may see what they use. */
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
    rules: [rule(group, ["pods", "nodes"], reading)],
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

/** Its certificate is made when it starts, so that the API server cannot know it: nobody but nodes and pods reaches its port. */
export function metricsApi(): ApiService {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1beta1.${group}` },
    spec: {
      service: { name, namespace: systemNamespace, port: 443 },
      ...{ group, version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
      insecureSkipTLSVerify: true,
    },
  };
}

/** Arguments of {@link metricsServer}. */
export interface MetricsServerSettings {
  readonly image: string;
  /** Whether kubelets have certificates of the cluster's authority; kubeadm's sign their own. */
  readonly signedKubelets: boolean;
  /** Whether there is a pod network to wait for. @default true */
  readonly awaited?: boolean;
}

/** What a specification says of it; nothing: it does not run. */
export const metricsServerOf = (
  spec: Pick<ClusterSpec, "metricsServer" | "kubernetes">,
): Pick<MetricsServerSettings, "signedKubelets"> | undefined =>
  spec.metricsServer === true ? { signedKubelets: signsKubelets(spec.kubernetes) } : undefined;

export function metricsServer({
  image,
  signedKubelets,
  awaited,
}: MetricsServerSettings): Deployment {
  return deployment({
    ...{ name, awaited },
    // Where there is one control plane, its port is free only when the one before has gone.
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    pod: {
      ...systemPod,
      // The machines keep pods away from kubelets (machine/scripts/prepare.sh); those on the nodes' network are not meant.
      hostNetwork: true,
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: 1000 },
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
    // Ready only when it has numbers of nodes: the first come after one resolution.
    readinessProbe: readiness(probe("/readyz"), { initialDelaySeconds: 20, periodSeconds: 10 }),
    livenessProbe: liveness(probe("/livez")),
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
    resources: { requests: { cpu: "50m", memory: "100Mi" } },
    securityContext: confined,
  });
}
