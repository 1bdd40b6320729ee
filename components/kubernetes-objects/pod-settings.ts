import { apiPort } from "../../base/ports.js";
import type { Container, EnvVar, Probe, Toleration } from "./kubernetes-types.js";

/**
 * Returns a container with common defaults. All image tags are fixed, so kubelet need not pull an
 * image that the node already has.
 */
export function addContainerDefaults(
  spec: Omit<Container, "imagePullPolicy" | "terminationMessagePolicy">,
): Container {
  return {
    ...spec,
    imagePullPolicy: "IfNotPresent",
    // Kubernetes copies the last log lines into the pod's status, and a failed `up` shows them.
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}

/**
 * Number of seconds within which a container must answer a probe. kubeadm uses the same number for
 * control planes. With Kubernetes' default of 1 s, probes on a busy machine would fail although the
 * container is healthy.
 */
const probeTimeout = { timeoutSeconds: 15 };

type Handler = Pick<Probe, "httpGet">;
type Rhythm = Partial<Omit<Probe, keyof Handler | keyof typeof probeTimeout>>;

/** Returns a readiness probe with the common timeout. */
export const buildReadinessProbe = (handler: Handler, rhythm: Rhythm): Probe => ({
  ...handler,
  ...probeTimeout,
  ...rhythm,
});

/**
 * Returns a liveness probe that restarts a container after 80 s without an answer. kubeadm uses the
 * same values for control planes.
 */
export const buildLivenessProbe = (handler: Handler, rhythm: Rhythm = {}): Probe => ({
  ...handler,
  ...probeTimeout,
  periodSeconds: 10,
  failureThreshold: 8,
  ...rhythm,
});

/**
 * Returns the metadata of an object whose pods need the pod network. If `awaited` is false, an
 * annotation makes Pulumi not wait for the pods. The user then deploys the pod network at a time
 * that the program does not know.
 */
export const addSkipAwaitAnnotation = <
  Metadata extends { name: string; annotations?: Record<string, string> | undefined },
>(
  metadata: Metadata,
  awaited = true,
): Metadata =>
  awaited
    ? metadata
    : { ...metadata, annotations: { ...metadata.annotations, "pulumi.com/skipAwait": "true" } };

/**
 * Annotation of a Service with a load balancer. Pulumi then counts the Service as ready as soon as
 * the Service has an address. Do not use the annotation for a Service whose address may change.
 *
 * By default, the Kubernetes provider also waits for the Service's pods, and then another 10 s.
 * That wait is not needed, because the resource that creates the pods already waits for them.
 * Source: pulumi-kubernetes, provider/pkg/await/service.go and provider/pkg/metadata/overrides.go.
 */
export const waitForAddressAnnotation = {
  "pulumi.com/waitFor": "jsonpath={.status.loadBalancer.ingress}",
} as const;

/** Returns an environment variable that contains the value of a field of the pod. */
export function buildFieldEnvVar(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/**
 * Returns the variables that make a client use the host name of the API instead of the Service of
 * the API. The Service works only after kube-proxy has started. The client must run in a pod on the
 * host network, because the machine's /etc/hosts contains the name. The pod needs the label {@link
 * apiByNameLabel}. Calico cannot use these variables, because it would write the name in brackets,
 * like an IPv6 address.
 *
 * @param name host name of the API. Default: no variables, so the client uses the Service of the
 *   API
 */
export const getApiHostVariables = (name: string | undefined): EnvVar[] =>
  name === undefined
    ? []
    : [
        { name: "KUBERNETES_SERVICE_HOST", value: name },
        { name: "KUBERNETES_SERVICE_PORT", value: apiPort.toString() },
      ];

/**
 * Label of pods that use {@link getApiHostVariables}. When the address of the name changes,
 * kubeadm/scripts/api-name.sh restarts the containers of pods with this label.
 */
export const apiByNameLabel = { "stackadm/api-by-name": "yes" };

/** Toleration of every taint, for pods that a node needs before it can become ready. */
export const allTaintsTolerations: Toleration[] = [{ operator: "Exists" }];

/** Taint of the nodes of a group of machines. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** Returns the tolerations with which pods run on nodes with the taints. */
export const tolerateTaints = (taints: readonly Taint[]): Toleration[] =>
  taints.map((taint) => ({ ...taint, operator: "Equal" }));

/**
 * Returns the tolerations with which pods run on control planes.
 *
 * @param taints taints of the control planes, in addition to the taint of kubeadm
 */
export const getControlPlaneTolerations = (taints: readonly Taint[] = []): Toleration[] => [
  { key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" },
  ...tolerateTaints(taints),
];

/** Toleration that lets pods run on a node that the cloud controller has not yet initialized. */
export const uninitializedNodeToleration: Toleration = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  operator: "Equal",
  value: "true",
  effect: "NoSchedule",
};

/**
 * Tolerations that move a single pod to another node 30 s after its node has failed. Kubernetes'
 * default is five minutes.
 */
export const fastEvictionTolerations: Toleration[] = ["not-ready", "unreachable"].map(
  (condition) => ({
    key: `node.kubernetes.io/${condition}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 30,
  }),
);

/** Node selector for control planes, with the label that kubeadm sets on them. */
export const controlPlaneSelector = { "node-role.kubernetes.io/control-plane": "" };

/** Returns the constraint that spreads pods over nodes, if possible. */
export const buildNodeSpreadConstraints = (matchLabels: Record<string, string>) => [
  {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels },
  },
];

/** Returns the label with the add-on's name. Selectors and users find objects by this label. */
export function buildAppLabel(name: string): { "app.kubernetes.io/name": string } {
  return { "app.kubernetes.io/name": name };
}
