/** Sample workloads that show load balancers and volumes at work (pure). */
import { balanced, type Balancing } from "./balanced.js";
import {
  readyWithAddress,
  appLabel,
  container,
  fromField,
  spreadOverNodes,
} from "../../support/manifests/pod.js";
import { ingressClassName } from "./traefik.js";
import type { SampleServices } from "../../spec/sample-services.js";
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
} from "../../support/kubernetes-types.js";

export const samplesNamespace = "stackadm-samples";
export const sampleClaim = "data";
/** The writer is a StatefulSet of one, so that its pod has a name to ask the log of. */
export const sampleWriterPod = "writer-0";
/** The name by which an ingress controller knows the web servers; nobody resolves it. */
export const sampleHost = "web.stackadm-samples.internal";

const webPort = 8080;
const dataDirectory = "/data";
const scriptDirectory = "/scripts";
const scriptName = "write-and-read-back.sh";
const user = 1000;

/** The namespace; nothing in it may have more rights than a pod needs. */
export function samplesNamespaceObject(): Namespace {
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

/** Two web servers that answer every request with the name of their pod. */
export function webDeployment(image: string): Deployment {
  const labels = appLabel("web");
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
          topologySpreadConstraints: spreadOverNodes(labels),
          containers: [webServer(image)],
        },
      },
    },
  };
}

function webServer(image: string) {
  return container({
    name: "web",
    image,
    // The override matters: netexec has a path that runs commands, and this one is on the internet.
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
 * A load balancer with a floating IP, or one that only the network of the nodes reaches.
 *
 * @param settings what is told the cloud controller besides; default: nothing
 */
export function webService(
  reach: "external" | "internal",
  settings: SampleServices & Balancing = {},
): Service {
  const { metadata, spec } = balanced(reach, settings);
  // With settings of its own the address may be another after a change of them, which the old one would hide.
  const ready =
    settings.address === undefined && Object.keys(settings.annotations ?? {}).length === 0;
  const annotations = { ...(ready && readyWithAddress), ...metadata.annotations };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      ...{ name: `web-${reach}`, namespace: samplesNamespace },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      ...spec,
      selector: appLabel("web"),
      ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }],
    },
  };
}

/** Leads requests for {@link sampleHost} to the web servers. */
export function webIngress(): Ingress {
  const service = { name: "web-internal", port: { name: "http" } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web", namespace: samplesNamespace },
    spec: {
      ingressClassName,
      rules: [
        {
          host: sampleHost,
          http: { paths: [{ path: "/", pathType: "Prefix", backend: { service } }] },
        },
      ],
    },
  };
}

/** 1 GiB of the default class. */
export function dataClaim(): PersistentVolumeClaim {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: sampleClaim, namespace: samplesNamespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
}

/** The writer's script, which travels to the node as data. */
export function writerScript(script: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "writer", namespace: samplesNamespace },
    data: { [scriptName]: script },
  };
}

/** Writes a line to the claim, reads it back, says so in its log; ready only after that. */
export function writerStatefulSet(image: string): StatefulSet {
  const labels = appLabel("writer");
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
            { name: "data", persistentVolumeClaim: { claimName: sampleClaim } },
            { name: "scripts", configMap: { name: "writer" } },
          ],
        },
      },
    },
  };
}

function writer(image: string) {
  return container({
    name: "writer",
    image,
    command: ["sh", `${scriptDirectory}/${scriptName}`],
    env: [fromField("POD_NAME", "metadata.name"), { name: "DATA_DIRECTORY", value: dataDirectory }],
    volumeMounts: [
      { name: "data", mountPath: dataDirectory },
      { name: "scripts", mountPath: scriptDirectory, readOnly: true },
    ],
    readinessProbe: { exec: { command: ["test", "-f", "/tmp/proven"] }, periodSeconds: 2 },
    resources: { requests: { cpu: "10m", memory: "16Mi" } },
    securityContext: restricted,
  });
}
