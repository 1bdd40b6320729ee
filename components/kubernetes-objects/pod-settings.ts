import { apiPort } from "../../base/ports.js";
import type { Container, EnvVar, Probe, Toleration } from "./kubernetes-types.js";

/**
 * Returns a container with common defaults. All images have fixed tags, so an image that the node
 * already has need not be pulled again.
 */
export function container(
  spec: Omit<Container, "imagePullPolicy" | "terminationMessagePolicy">,
): Container {
  return {
    ...spec,
    imagePullPolicy: "IfNotPresent",
    // The last log lines become the pod's message, which a failed `up` shows.
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}

/**
 * Seconds within which a container must answer a probe, as in kubeadm's control planes. With
 * Kubernetes' default of 1 s, a healthy container on a busy machine would fail.
 */
const probeTimeout = { timeoutSeconds: 15 };

type Handler = Pick<Probe, "httpGet">;
type Rhythm = Partial<Omit<Probe, keyof Handler | keyof typeof probeTimeout>>;

/** Returns a readiness probe. */
export const readinessProbeOf = (handler: Handler, rhythm: Rhythm): Probe => ({
  ...handler,
  ...probeTimeout,
  ...rhythm,
});

/**
 * Returns a liveness probe that restarts a container after 80 s without an answer, as in kubeadm's
 * control planes.
 */
export const livenessProbeOf = (handler: Handler, rhythm: Rhythm = {}): Probe => ({
  ...handler,
  ...probeTimeout,
  periodSeconds: 10,
  failureThreshold: 8,
  ...rhythm,
});

/**
 * Returns the metadata of an object whose pods need the pod network. If `awaited` is false, the
 * metadata tell Pulumi not to wait for the pods: the user installs the pod network at an unknown
 * time.
 */
export const readyWithPods = <
  Metadata extends { name: string; annotations?: Record<string, string> | undefined },
>(
  metadata: Metadata,
  awaited = true,
): Metadata =>
  awaited
    ? metadata
    : { ...metadata, annotations: { ...metadata.annotations, "pulumi.com/skipAwait": "true" } };

/**
 * Annotation of a Service with a load balancer: for Pulumi, the Service is ready as soon as it has
 * an address. Not for a Service whose address may change. By default, the Kubernetes provider also
 * waits for the pods of the Service, and then 10 s more; Pulumi waits for the pods in the pods' own
 * resource. Source: pulumi-kubernetes, provider/pkg/await/service.go and
 * provider/pkg/metadata/overrides.go.
 */
export const readyWithAddress = {
  "pulumi.com/waitFor": "jsonpath={.status.loadBalancer.ingress}",
} as const;

/** Returns an environment variable with the value of a field of the pod. */
export function fromField(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/**
 * Returns the variables with which a client in a pod on the host network reaches the API by the
 * name in the machine's /etc/hosts. The address of the API's Service would work only after the
 * start of kube-proxy. The pod needs the label {@link apiByNameLabel}. Not for Calico, which writes
 * the name in brackets like an IPv6 address.
 *
 * @param name API name. Default: no variables, and the client uses the API's Service
 */
export const apiByName = (name: string | undefined): EnvVar[] =>
  name === undefined
    ? []
    : [
        { name: "KUBERNETES_SERVICE_HOST", value: name },
        { name: "KUBERNETES_SERVICE_PORT", value: apiPort.toString() },
      ];

/**
 * Label of pods with {@link apiByName}. When the name gets another address,
 * kubeadm/scripts/api-name.sh restarts the containers of pods with this label.
 */
export const apiByNameLabel = { "stackadm/api-by-name": "yes" };

/** Toleration of every taint, for components that a node needs before it can be ready. */
export const tolerateAllTaints: Toleration[] = [{ operator: "Exists" }];

/** Toleration that lets pods run on control planes. */
export const onControlPlane: Toleration = {
  key: "node-role.kubernetes.io/control-plane",
  operator: "Exists",
  effect: "NoSchedule",
};

/** Toleration that lets pods run before the cloud controller has initialized the node. */
export const tolerateUninitialized: Toleration = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  operator: "Equal",
  value: "true",
  effect: "NoSchedule",
};

/**
 * Tolerations that move a single pod to another node half a minute after the pod's node fails. The
 * default is five minutes.
 */
export const evictSoonTolerations: Toleration[] = ["not-ready", "unreachable"].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 30,
}));

/** Label that kubeadm sets on control planes. */
export const controlPlaneSelector = { "node-role.kubernetes.io/control-plane": "" };

/** Returns the constraint that spreads pods over several nodes, if possible. */
export const spreadOverNodes = (matchLabels: Record<string, string>) => [
  {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels },
  },
];

/** Returns the label with the add-on's name, for selectors and for users. */
export function appLabel(name: string): { "app.kubernetes.io/name": string } {
  return { "app.kubernetes.io/name": name };
}
