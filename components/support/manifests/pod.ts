/** What containers and tolerations of all add-ons have in common (pure). */
import { apiPort } from "../../../base/ports.js";
import type { Container, EnvVar, Probe, Toleration } from "../kubernetes-types.js";

/** A container; images have fixed tags, so a copy on the node is the right one. */
export function container(
  spec: Omit<Container, "imagePullPolicy" | "terminationMessagePolicy">,
): Container {
  return {
    ...spec,
    imagePullPolicy: "IfNotPresent",
    // The last log lines become the pod's message, which is what a failed `up` shows.
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}

/**
 * Seconds in which a container has to answer a probe, as in kubeadm's control planes. Kubernetes' default of 1 s takes a container that is
 * healthy on a busy machine for a broken one.
 */
const probeTimeout = { timeoutSeconds: 15 };

type Handler = Pick<Probe, "httpGet">;
type Rhythm = Partial<Omit<Probe, keyof Handler | keyof typeof probeTimeout>>;

/** Returns a probe of whether a container may be used. */
export const readiness = (handler: Handler, rhythm: Rhythm): Probe => ({
  ...{ ...handler, ...probeTimeout },
  ...rhythm,
});

/** Returns a probe that restarts a container after 80 s without an answer, as in kubeadm's control planes. */
export const liveness = (handler: Handler, rhythm: Rhythm = {}): Probe => ({
  ...{ ...handler, ...probeTimeout },
  ...{ periodSeconds: 10, failureThreshold: 8 },
  ...rhythm,
});

/** What names an object that is ready only with the pod network. Where nobody here knows when that is, nothing waits for it. */
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
 * The annotation of a Service that is ready as soon as it has an address, any: not for one whose address may change. Otherwise the Kubernetes provider waits for the pods behind a
 * Service, too, and then another 10 s; they have a resource of their own that says when they are ready.
 * Source: pulumi-kubernetes, provider/pkg/await/service.go and provider/pkg/metadata/overrides.go.
 */
export const readyWithAddress = {
  "pulumi.com/waitFor": "jsonpath={.status.loadBalancer.ingress}",
} as const;

/** An environment variable filled from a field of the pod. */
export function fromField(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/**
 * Returns the variables by which a client in a pod on the machine's network reaches the API under the name that the machine resolves:
 * its address as a Service answers only after kube-proxy is there. The pod has {@link namesApi}. Not for Calico, which puts the name
 * between brackets as if it were an address of IPv6.
 *
 * @param name default: the API is reached as a Service
 */
export const apiByName = (name: string | undefined): EnvVar[] =>
  name === undefined
    ? []
    : [
        { name: "KUBERNETES_SERVICE_HOST", value: name },
        { name: "KUBERNETES_SERVICE_PORT", value: apiPort.toString() },
      ];

/** Label of pods with {@link apiByName}: where the name gets another address, kubeadm/scripts/api-name.sh restarts their containers. */
export const namesApi = { "stackadm/api-by-name": "yes" };

/** Runs on every node at any time: what a node needs before it can be ready. */
export const everywhere: Toleration[] = [{ operator: "Exists" }];

/** Runs on control planes. */
export const onControlPlane: Toleration = {
  key: "node-role.kubernetes.io/control-plane",
  operator: "Exists",
  effect: "NoSchedule",
};

/** Runs before the cloud controller has seen the node. */
export const beforeItIsInitialized: Toleration = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  operator: "Equal",
  value: "true",
  effect: "NoSchedule",
};

/** Goes to another machine half a minute after its own is lost, instead of five minutes: for what runs only once. */
export const leavesSoon: Toleration[] = ["not-ready", "unreachable"].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 30,
}));

/** Label of control planes (kubeadm). */
export const controlPlaneSelector = { "node-role.kubernetes.io/control-plane": "" };

/** On different nodes, where there are some. */
export const spreadOverNodes = (matchLabels: Record<string, string>) => [
  {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels },
  },
];

/** Label that names the add-on in selectors and for people. */
export function appLabel(name: string): { "app.kubernetes.io/name": string } {
  return { "app.kubernetes.io/name": name };
}
