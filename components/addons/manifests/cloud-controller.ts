/** OpenStack cloud controller manager: permissions, configuration, DaemonSet (pure). */
import { apiPort } from "../../../base/ports.js";
import {
  rbacObjects,
  leaderElection,
  leaderElectionTimes,
  watchVerbs,
  rule,
  systemNamespace,
  writingEvents,
} from "../../kubernetes-objects/rbac.js";
import {
  appLabel,
  tolerateUninitialized,
  container,
  controlPlaneSelector,
  fromField,
  livenessProbeOf,
  onControlPlane,
  readinessProbeOf,
} from "../../kubernetes-objects/pod-settings.js";
import type { RbacObjects } from "../../kubernetes-objects/rbac.js";
import type {
  DaemonSet,
  StringInput,
  Secret,
  Toleration,
} from "../../kubernetes-objects/kubernetes-types.js";

const name = "openstack-cloud-controller-manager";
const configDirectory = "/etc/config";
const port = 10258;

/** Name of the Secret with cloud.conf, as in upstream's manifests and documents. */
export const cloudConfigSecret = "cloud-config";
/** Keys of the certificates and the private key in the Secret. */
const [caCertificateKey, certificateKey, privateKeyKey] = ["ca.crt", "client.crt", "client.key"];
/** Path of the CA certificate in the containers. */
export const caCertificateFile = `${configDirectory}/${caCertificateKey}`;
/**
 * Paths of the TLS client certificate and its key in the containers, by the field names of
 * CloudConf.
 */
export const clientCertificateFiles = {
  certFile: `${configDirectory}/${certificateKey}`,
  keyFile: `${configDirectory}/${privateKeyKey}`,
};

/** Volume, mount and argument by which pods use the Secret. */
export const cloudConfigVolume = {
  volume: { name: "cloud-config", secret: { secretName: cloudConfigSecret } },
  mount: { name: "cloud-config", mountPath: configDirectory, readOnly: true },
  argument: `--cloud-config=${configDirectory}/cloud.conf`,
};

/** Certificates in PEM whose files cloud.conf names. */
export interface CloudCertificates {
  /** CA certificate of the cloud. @default none */
  readonly caCertificate?: StringInput | undefined;
  /** TLS client certificate of the controllers, and its key. @default none */
  readonly client?:
    { readonly certificate: StringInput; readonly privateKey: StringInput } | undefined;
}

/** Returns the Secret with cloud.conf and with the certificates whose files cloud.conf names. */
export function cloudConfigSecretObject(
  cloudConf: StringInput,
  { caCertificate, client }: CloudCertificates = {},
): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: cloudConfigSecret, namespace: systemNamespace },
    type: "Opaque",
    stringData: {
      "cloud.conf": cloudConf,
      ...(caCertificate !== undefined && { [caCertificateKey]: caCertificate }),
      ...(client && { [certificateKey]: client.certificate, [privateKeyKey]: client.privateKey }),
    },
  };
}

/**
 * Returns the permissions of the controllers cloud-node, cloud-node-lifecycle, service and route.
 * The upstream role also allows access to Secrets, service account tokens and persistent volumes,
 * which the controllers do not need with this program's arguments.
 * Source: k8s.io/cloud-provider 0.36, controllers/.
 */
export function cloudControllerAccess(): RbacObjects {
  return rbacObjects({
    account: "cloud-controller-manager",
    clusterRole: "system:cloud-controller-manager",
    cluster: [
      // delete: removes the node of a deleted server (cloud-provider-openstack issue 3225).
      rule("", ["nodes"], [...watchVerbs, "patch", "update", "delete"]),
      rule("", ["nodes/status"], ["patch"]),
      rule("", ["services"], ["list", "watch", "patch", "update"]),
      rule("", ["services/status"], ["patch"]),
      writingEvents,
    ],
    namespace: [
      leaderElection,
      // At its start, the controller reads how the API server authenticates clients.
      {
        ...rule("", ["configmaps"], watchVerbs),
        resourceNames: ["extension-apiserver-authentication"],
      },
    ],
  });
}

/** Tolerations of pods that start before the pod network works and before nodes have addresses. */
export const tolerationsBeforeNodesAreReady: Toleration[] = [
  tolerateUninitialized,
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  onControlPlane,
];

/** Arguments of {@link cloudControllerDaemonSet}. */
export interface CloudControllerSettings {
  readonly image: string;
  /**
   * Argument `--cluster-name=NAME`. The name is unique in the project, and in the name of every
   * load balancer.
   */
  readonly clusterName: StringInput;
  /** Range of the pods to whose nodes the controller keeps routes. @default no routes */
  readonly routedPods?: string | undefined;
  /**
   * Whether the Octavia provider requires serial calls. Load balancers are then created one by one.
   * @default false
   */
  readonly serial?: boolean | undefined;
  /** Digest of cloud.conf and certificates. Another digest restarts the pods. */
  readonly configChecksum: StringInput;
}

/** Returns the DaemonSet with one controller per control plane. Only the elected leader works. */
export function cloudControllerDaemonSet(settings: CloudControllerSettings): DaemonSet {
  const labels = appLabel(name);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace: systemNamespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate" },
      template: {
        metadata: { labels, annotations: { "checksum/config": settings.configChecksum } },
        spec: {
          serviceAccountName: "cloud-controller-manager",
          hostNetwork: true,
          // Resolver of the node: cluster DNS needs the pod network, which needs this controller.
          dnsPolicy: "Default",
          priorityClassName: "system-cluster-critical",
          nodeSelector: controlPlaneSelector,
          tolerations: tolerationsBeforeNodesAreReady,
          securityContext: { runAsNonRoot: true, runAsUser: 1001 },
          containers: [controllerContainer(settings)],
          volumes: [cloudConfigVolume.volume],
        },
      },
    },
  };
}

/**
 * Environment variables that select the API server on the pod's own machine. The certificate of
 * this API server contains the machine's address. In a new cluster, the Service `kubernetes` does
 * not work yet when the controller starts, because kube-proxy starts later; the controller would
 * exit and restart.
 */
const ownApiServer = [
  fromField("KUBERNETES_SERVICE_HOST", "status.hostIP"),
  { name: "KUBERNETES_SERVICE_PORT", value: apiPort.toString() },
];

/**
 * Returns the arguments that select controllers. With routes, also limits the route controller to
 * the range of the pods, so that it does not change other routes.
 */
const controllersFor = (routedPods: string | undefined): readonly string[] => {
  const controllers = "--controllers=cloud-node,cloud-node-lifecycle,service";
  return routedPods === undefined
    ? [controllers]
    : [`${controllers},route`, "--configure-cloud-routes=true", `--cluster-cidr=${routedPods}`];
};

/**
 * Number of Services that the controller handles at the same time. Each Service may wait minutes
 * for Octavia.
 */
const servicesAtOnce = 5;

function controllerContainer(settings: CloudControllerSettings) {
  const { image, clusterName, routedPods, serial = false } = settings;
  const healthz = {
    path: "/healthz",
    port,
    host: "127.0.0.1",
    scheme: "HTTPS" as const,
  };
  const { lease, renew, retry } = leaderElectionTimes;
  return container({
    name,
    image,
    command: ["/bin/openstack-cloud-controller-manager"],
    args: [
      "--v=2",
      clusterName,
      cloudConfigVolume.argument,
      "--cloud-provider=openstack",
      "--use-service-account-credentials=false",
      "--bind-address=127.0.0.1",
      ...controllersFor(routedPods),
      ...(serial ? [] : [`--concurrent-service-syncs=${servicesAtOnce.toString()}`]),
      `--leader-elect-lease-duration=${lease.toString()}s`,
      `--leader-elect-renew-deadline=${renew.toString()}s`,
      `--leader-elect-retry-period=${retry.toString()}s`,
    ],
    env: ownApiServer,
    volumeMounts: [cloudConfigVolume.mount],
    // The controller serves this path only after its login to OpenStack, so Ready means that the
    // credential works.
    readinessProbe: readinessProbeOf(
      { httpGet: healthz },
      { periodSeconds: 2, failureThreshold: 3 },
    ),
    livenessProbe: livenessProbeOf({ httpGet: healthz }, { initialDelaySeconds: 20 }),
    resources: { requests: { cpu: "50m", memory: "64Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
  });
}
