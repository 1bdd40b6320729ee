/** Kubernetes objects of Traefik, the ingress controller (pure functions). */
import { ingressPorts } from "../../config/load-balancing/ingress-traits.js";
import { poolLabel } from "../../config/roles.js";
import type { IngressSettings } from "../../config/load-balancing/ingress.js";
import type {
  Container,
  Deployment,
  IngressClass,
  StringInput,
  Namespace,
  PodDisruptionBudget,
  PodSpec,
  Service,
} from "../../kubernetes-objects/kubernetes-types.js";
import {
  buildRbacObjects,
  buildRbacRule,
  type RbacObjects,
} from "../../kubernetes-objects/rbac.js";
import {
  buildLoadBalancerFields,
  type LoadBalancerServiceSettings,
} from "./load-balanced-service.js";
import { restrictedSecurityContext, buildDeployment } from "./deployment.js";
import {
  buildAppLabel,
  addContainerDefaults,
  buildLivenessProbe,
  buildReadinessProbe,
  addSkipAwaitAnnotation,
  buildNodeSpreadConstraints,
  tolerateTaints,
  type Taint,
} from "../../kubernetes-objects/pod-settings.js";

const name = "traefik";
/** Namespace of all objects of Traefik. */
export const traefikNamespace = name;
/** Name of the IngressClass. */
export const ingressClassName = name;
const user = 65532;
const pingPort = 8080;
/** Names of Traefik's entry points. The keys are the names of the ports. */
const entryPoints = { http: "web", https: "websecure" } as const;

/** Returns the namespace of Traefik, which enforces the Pod Security level `restricted`. */
export function buildTraefikNamespace(): Namespace {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: traefikNamespace,
      labels: { "pod-security.kubernetes.io/enforce": "restricted" },
    },
  };
}

/**
 * Returns the permissions of Traefik's Ingress provider. The provider reads all Secrets, because
 * the certificate of an Ingress may be in any namespace.
 */
export function buildTraefikRbac(): RbacObjects {
  const watching = ["list", "watch"];
  return buildRbacObjects({
    account: name,
    home: traefikNamespace,
    cluster: [
      buildRbacRule("", ["services", "secrets", "nodes"], watching),
      buildRbacRule("discovery.k8s.io", ["endpointslices"], watching),
      buildRbacRule("networking.k8s.io", ["ingresses", "ingressclasses"], watching),
      buildRbacRule("networking.k8s.io", ["ingresses/status"], ["update"]),
    ],
  });
}

export function buildIngressClass({
  defaultClass,
}: Pick<IngressSettings, "defaultClass">): IngressClass {
  const annotations = { "ingressclass.kubernetes.io/is-default-class": String(defaultClass) };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: ingressClassName, annotations },
    spec: { controller: "traefik.io/ingress-controller" },
  };
}

/** Arguments of {@link buildTraefikDeployment}. */
export interface TraefikSettings {
  readonly image: string;
  readonly spec: IngressSettings;
  /** Taints of the machines in the worker pool that runs Traefik. @default none */
  readonly taints?: readonly Taint[];
  /**
   * Argument that determines the address in the status of each Ingress:
   * {@link publishedServiceFlag} or {@link fixedIngressAddressFlag}.
   */
  readonly shown: StringInput;
  /** Whether Pulumi waits until the pods are ready. The pods need the pod network. @default true */
  readonly awaited?: boolean | undefined;
}

const endpointOf = "--providers.kubernetesIngress.ingressEndpoint";
/** Argument that makes Traefik write the Service's address to the status of each Ingress. */
export const publishedServiceFlag = `${endpointOf}.publishedService=${traefikNamespace}/${name}`;
/**
 * Argument, without the address, that makes Traefik write a fixed address to the status of each
 * Ingress.
 */
export const fixedIngressAddressFlag = `${endpointOf}.ip=`;

/**
 * Returns the pod fields for scheduling. With `kind: workers`, each machine of the pool runs at
 * most one pod. With `kind: service`, the pods are spread over the nodes if possible.
 */
function placed({ spec, taints = [] }: TraefikSettings): Partial<PodSpec> {
  const matchLabels = buildAppLabel(name);
  if (spec.kind === "service")
    return { topologySpreadConstraints: buildNodeSpreadConstraints(matchLabels) };
  return {
    nodeSelector: { [poolLabel]: spec.pool },
    tolerations: tolerateTaints(taints),
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels } },
        ],
      },
    },
  };
}

export function buildTraefikDeployment(settings: TraefikSettings): Deployment {
  const { spec, awaited } = settings;
  // Each machine of the worker pool can run only one Traefik pod. The old pod must end before the
  // new pod starts.
  const rollingUpdate =
    spec.kind === "workers"
      ? { maxSurge: 0, maxUnavailable: 1 }
      : { maxSurge: 1, maxUnavailable: 0 };
  return buildDeployment({
    name,
    namespace: traefikNamespace,
    replicas: spec.replicas,
    awaited,
    strategy: { type: "RollingUpdate", rollingUpdate },
    pod: {
      ...placed(settings),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [proxy(settings)],
      terminationGracePeriodSeconds: acceptSeconds + requestSeconds + 10,
      volumes: [{ name: "tmp", emptyDir: {} }],
    },
  });
}

/**
 * Seconds in which a pod that ends still accepts connections. Meanwhile, all nodes learn that the
 * pod ends.
 */
const acceptSeconds = 15;
/** Seconds in which a pod that accepts no more connections finishes its requests. */
const requestSeconds = 30;

const buildDrainArgs = (entryPoint: string): readonly string[] => [
  `--entryPoints.${entryPoint}.transport.lifeCycle.requestAcceptGraceTimeout=${String(acceptSeconds)}s`,
  `--entryPoints.${entryPoint}.transport.lifeCycle.graceTimeOut=${String(requestSeconds)}s`,
];

function proxy({ image, shown }: TraefikSettings): Container {
  const probe = { httpGet: { path: "/ping", port: "ping" }, failureThreshold: 3 };
  return addContainerDefaults({
    name,
    image,
    args: [
      "--global.checkNewVersion=false",
      "--global.sendAnonymousUsage=false",
      ...ingressPorts.flatMap((entrance) => [
        `--entryPoints.${entryPoints[entrance.name]}.address=:${String(entrance.containerPort)}/tcp`,
        ...buildDrainArgs(entryPoints[entrance.name]),
      ]),
      // Traefik serves every Ingress also over TLS. The certificate comes from the Secret of the
      // Ingress, or is self-signed.
      `--entryPoints.${entryPoints.https}.http.tls=true`,
      `--entryPoints.traefik.address=:${String(pingPort)}/tcp`,
      "--ping=true",
      // A pod that ends still accepts connections. With the default 503, its readiness probe would
      // fail, and kube-proxy would drop these connections.
      "--ping.terminatingStatusCode=200",
      "--providers.kubernetesIngress=true",
      `--providers.kubernetesIngress.ingressClass=${ingressClassName}`,
      "--providers.kubernetesIngress.strictPrefixMatching=true",
      shown,
    ],
    ports: [
      ...ingressPorts.map(({ name: entrance, containerPort }) => ({
        name: entrance,
        containerPort,
        protocol: "TCP",
      })),
      { name: "ping", containerPort: pingPort, protocol: "TCP" },
    ],
    readinessProbe: buildReadinessProbe(probe, { periodSeconds: 5 }),
    livenessProbe: buildLivenessProbe(probe),
    // Traefik writes request bodies to this directory if they are too large for memory.
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
    resources: { requests: { cpu: "100m", memory: "100Mi" } },
    securityContext: restrictedSecurityContext,
  });
}

/**
 * Returns Traefik's Service. Its type is LoadBalancer, or NodePort with ports that answer only on
 * machines with a Traefik pod.
 */
export function buildTraefikService(
  spec: IngressSettings,
  ...[awaited, balancing]: [awaited?: boolean, balancing?: LoadBalancerServiceSettings]
): Service {
  const { metadata, spec: serviceSpec } = wayOf(spec, balancing);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: addSkipAwaitAnnotation(
      { name, namespace: traefikNamespace, labels: buildAppLabel(name), ...metadata },
      awaited,
    ),
    spec: {
      ...serviceSpec,
      selector: buildAppLabel(name),
      ports: ingressPorts.map(({ name: entrance, port, nodePort }) => ({
        name: entrance,
        port,
        targetPort: entrance,
        protocol: "TCP",
        ...(spec.kind === "workers" && { nodePort }),
      })),
    },
  };
}

const wayOf = (spec: IngressSettings, balancing: LoadBalancerServiceSettings | undefined) =>
  spec.kind === "service"
    ? buildLoadBalancerFields(spec.public ? "external" : "internal", { ...spec, ...balancing })
    : { metadata: {}, spec: { type: "NodePort", externalTrafficPolicy: "Local" } };

/** Returns the PodDisruptionBudget, which makes drains evict one pod at a time. */
export function buildTraefikDisruptionBudget(): PodDisruptionBudget {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: traefikNamespace },
    spec: { maxUnavailable: 1, selector: { matchLabels: buildAppLabel(name) } },
  };
}
