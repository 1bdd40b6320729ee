/** Sample workloads that show whether load balancers and volumes work (pure functions). */
import {
  buildLoadBalancerFields,
  type LoadBalancerServiceSettings,
} from "./load-balanced-service.js";
import {
  waitForAddressAnnotation,
  buildAppLabel,
  addContainerDefaults,
  buildFieldEnvVar,
  buildNodeSpreadConstraints,
} from "../../kubernetes-objects/pod-settings.js";
import { ingressClassName } from "./traefik.js";
import type { SampleServices } from "../../config/load-balancing/sample-services.js";
import type {
  ConfigMap,
  Deployment,
  Ingress,
  Namespace,
  PersistentVolumeClaim,
  PodSpec,
  SecurityContext,
  Service,
  StatefulSet,
} from "../../kubernetes-objects/kubernetes-types.js";

export const samplesNamespace = "stackadm-samples";
export const sampleClaimName = "data";
/**
 * Name of the writer's pod. The name is fixed, because the writer is a StatefulSet with one pod.
 */
export const sampleWriterPodName = "writer-0";
/** Host name of the web servers' Ingress. No DNS server knows this name. */
export const sampleHostName = "web.stackadm-samples.internal";

const webPort = 8080;
const dataDirectory = "/data";
const scriptDirectory = "/scripts";
const scriptName = "write-and-read-back.sh";
const user = 1000;

/** Returns the namespace of the samples, which enforces the Pod Security level `restricted`. */
export function buildSamplesNamespace(): Namespace {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: samplesNamespace,
      labels: { "pod-security.kubernetes.io/enforce": "restricted" },
    },
  };
}

const restricted: SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
};

const unprivileged: Pick<PodSpec, "automountServiceAccountToken" | "securityContext"> = {
  automountServiceAccountToken: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    seccompProfile: { type: "RuntimeDefault" },
  },
};

/**
 * Returns a Deployment of two web servers, which answer every request with the name of their pod.
 */
export function buildWebDeployment(image: string): Deployment {
  const labels = buildAppLabel("web");
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: samplesNamespace, labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...unprivileged,
          topologySpreadConstraints: buildNodeSpreadConstraints(labels),
          containers: [webServer(image)],
        },
      },
    },
  };
}

function webServer(image: string) {
  return addContainerDefaults({
    name: "web",
    image,
    // The server is public. By default, netexec has a path that lets anyone run commands. The
    // argument `--http-override` disables this path.
    args: [
      "netexec",
      `--http-port=${webPort.toString()}`,
      "--udp-port=-1",
      "--http-override=/hostname",
    ],
    ports: [{ name: "http", containerPort: webPort, protocol: "TCP" }],
    readinessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 2 },
    resources: { requests: { cpu: "10m", memory: "16Mi" } },
    securityContext: restricted,
  });
}

/**
 * Returns a Service for the web servers. With `external`, the load balancer has a floating IP. With
 * `internal`, the load balancer has only an address in the network of the nodes.
 *
 * @param settings settings of the load balancer. Default: none
 */
export function buildWebService(
  reach: "external" | "internal",
  settings: SampleServices & LoadBalancerServiceSettings = {},
): Service {
  const { metadata, spec } = buildLoadBalancerFields(reach, settings);
  // If the user sets an address or annotations, an update may change the address of the Service.
  // With the annotation, Pulumi would then not wait for the new address, because the Service still
  // has the old address.
  const ready =
    settings.address === undefined && Object.keys(settings.annotations ?? {}).length === 0;
  const annotations = { ...(ready && waitForAddressAnnotation), ...metadata.annotations };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: `web-${reach}`,
      namespace: samplesNamespace,
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      ...spec,
      selector: buildAppLabel("web"),
      ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }],
    },
  };
}

/** Returns the Ingress that sends requests for {@link sampleHostName} to the web servers. */
export function buildWebIngress(): Ingress {
  const service = { name: "web-internal", port: { name: "http" } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web", namespace: samplesNamespace },
    spec: {
      ingressClassName,
      rules: [
        {
          host: sampleHostName,
          http: { paths: [{ path: "/", pathType: "Prefix", backend: { service } }] },
        },
      ],
    },
  };
}

/** Returns a persistent volume claim for 1 GiB of the default storage class. */
export function buildDataClaim(): PersistentVolumeClaim {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: sampleClaimName, namespace: samplesNamespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
}

/** Returns the ConfigMap with the script of the writer. */
export function buildWriterConfigMap(script: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "writer", namespace: samplesNamespace },
    data: { [scriptName]: script },
  };
}

/**
 * Returns the StatefulSet of the writer. Its pod writes a line to the volume, reads the line back
 * and logs it. The pod then becomes ready.
 */
export function buildWriterStatefulSet(image: string): StatefulSet {
  const labels = buildAppLabel("writer");
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "writer", namespace: samplesNamespace, labels },
    spec: {
      replicas: 1,
      serviceName: "writer",
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...unprivileged,
          containers: [writer(image)],
          volumes: [
            { name: "data", persistentVolumeClaim: { claimName: sampleClaimName } },
            { name: "scripts", configMap: { name: "writer" } },
          ],
        },
      },
    },
  };
}

function writer(image: string) {
  return addContainerDefaults({
    name: "writer",
    image,
    command: ["sh", `${scriptDirectory}/${scriptName}`],
    env: [
      buildFieldEnvVar("POD_NAME", "metadata.name"),
      { name: "DATA_DIRECTORY", value: dataDirectory },
    ],
    volumeMounts: [
      { name: "data", mountPath: dataDirectory },
      { name: "scripts", mountPath: scriptDirectory, readOnly: true },
    ],
    readinessProbe: { exec: { command: ["test", "-f", "/tmp/proven"] }, periodSeconds: 2 },
    resources: { requests: { cpu: "10m", memory: "16Mi" } },
    securityContext: restricted,
  });
}
