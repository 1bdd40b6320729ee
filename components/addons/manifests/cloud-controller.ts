/** OpenStack cloud controller manager: permissions, Secret, DaemonSet (pure functions). */
import { apiPort } from "../../../base/ports.js";
import {
  buildRbacObjects,
  leaderElectionRule,
  leaderElectionTimes,
  watchVerbs,
  buildRbacRule,
  systemNamespace,
  writeEventsRule,
} from "../../kubernetes-objects/rbac.js";
import {
  buildAppLabel,
  uninitializedNodeToleration,
  addContainerDefaults,
  controlPlaneSelector,
  buildFieldEnvVar,
  buildLivenessProbe,
  getControlPlaneTolerations,
  buildReadinessProbe,
  type Taint,
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

/** Name of the Secret with cloud.conf, as in the upstream manifests and documentation. */
export const cloudConfigSecretName = "cloud-config";
/** Keys of the Secret for the certificates and the private key. */
const [caCertificateKey, certificateKey, privateKeyKey] = ["ca.crt", "client.crt", "client.key"];
/** Path of the CA certificate in the containers. */
export const caCertificateFile = `${configDirectory}/${caCertificateKey}`;
/**
 * Paths of the TLS client certificate and of its private key in the containers. The keys are field
 * names of CloudConf.
 */
export const clientCertificateFiles = {
  certFile: `${configDirectory}/${certificateKey}`,
  keyFile: `${configDirectory}/${privateKeyKey}`,
};

/** Volume, mount and argument with which a pod uses the Secret. */
export const cloudConfigVolume = {
  volume: { name: "cloud-config", secret: { secretName: cloudConfigSecretName } },
  mount: { name: "cloud-config", mountPath: configDirectory, readOnly: true },
  argument: `--cloud-config=${configDirectory}/cloud.conf`,
};

/**
 * Certificates in PEM format that go into the Secret. cloud.conf contains the paths of their files.
 */
export interface CloudCertificates {
  /** CA certificate of the cloud. @default none */
  readonly caCertificate?: StringInput | undefined;
  /** TLS client certificate of the controllers, with its private key. @default none */
  readonly client?:
    { readonly certificate: StringInput; readonly privateKey: StringInput } | undefined;
}

/** Returns the Secret with cloud.conf and the certificates. */
export function buildCloudConfigSecret(
  cloudConf: StringInput,
  { caCertificate, client }: CloudCertificates = {},
): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: cloudConfigSecretName, namespace: systemNamespace },
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
 * The upstream role also allows access to Secrets, service account tokens and persistent volumes.
 * With this program's arguments, the controllers do not need that access.
 * Source: k8s.io/cloud-provider 0.36, controllers/.
 */
export function buildCloudControllerRbac(): RbacObjects {
  return buildRbacObjects({
    account: "cloud-controller-manager",
    clusterRole: "system:cloud-controller-manager",
    cluster: [
      // delete: the controller deletes the node of a deleted Nova server (cloud-provider-openstack
      // issue 3225).
      buildRbacRule("", ["nodes"], [...watchVerbs, "patch", "update", "delete"]),
      buildRbacRule("", ["nodes/status"], ["patch"]),
      buildRbacRule("", ["services"], ["list", "watch", "patch", "update"]),
      buildRbacRule("", ["services/status"], ["patch"]),
      writeEventsRule,
    ],
    namespace: [
      leaderElectionRule,
      // When the controller starts, it reads how the API server authenticates clients.
      {
        ...buildRbacRule("", ["configmaps"], watchVerbs),
        resourceNames: ["extension-apiserver-authentication"],
      },
    ],
  });
}

/**
 * Returns the tolerations of pods on control planes that start before the pod network works and
 * before nodes have addresses.
 *
 * @param taints taints of the control planes. Default: only the taint of kubeadm
 */
export const getNotReadyNodeTolerations = (taints?: readonly Taint[]): Toleration[] => [
  uninitializedNodeToleration,
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  ...getControlPlaneTolerations(taints),
];

/** Arguments of {@link buildCloudControllerDaemonSet}. */
export interface CloudControllerSettings {
  readonly image: string;
  /**
   * Argument `--cluster-name=NAME`. NAME is unique in the project and is part of the name of every
   * load balancer.
   */
  readonly clusterName: StringInput;
  /**
   * CIDR of the pods, if the controller maintains a route to the pods of each node.
   * @default no routes
   */
  readonly routedPods?: string | undefined;
  /**
   * Whether the Octavia provider requires serial calls. The controller then creates load balancers
   * one by one.
   * @default false
   */
  readonly serial?: boolean | undefined;
  /** Digest of cloud.conf and certificates. A changed digest restarts the pods. */
  readonly configChecksum: StringInput;
  /** Taints of the control planes. @default only the taint of kubeadm */
  readonly controlPlaneTaints?: readonly Taint[] | undefined;
}

/**
 * Returns the DaemonSet with one controller per control plane. Only the controller that holds the
 * lease works.
 */
export function buildCloudControllerDaemonSet(settings: CloudControllerSettings): DaemonSet {
  const labels = buildAppLabel(name);
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
          // The pod uses the node's DNS resolver. Cluster DNS would not work yet, because it needs
          // the pod network, and the pod network needs this controller.
          dnsPolicy: "Default",
          priorityClassName: "system-cluster-critical",
          nodeSelector: controlPlaneSelector,
          tolerations: getNotReadyNodeTolerations(settings.controlPlaneTaints),
          securityContext: { runAsNonRoot: true, runAsUser: 1001 },
          containers: [controllerContainer(settings)],
          volumes: [cloudConfigVolume.volume],
        },
      },
    },
  };
}

/**
 * Environment variables that make the controller use the API server on its own machine. The
 * certificate of this API server contains the machine's address. By default, the controller uses
 * the Service `kubernetes`. In a new cluster, this Service does not work yet, because kube-proxy
 * starts after the controller. The controller would therefore exit and restart.
 */
const ownApiServer = [
  buildFieldEnvVar("KUBERNETES_SERVICE_HOST", "status.hostIP"),
  { name: "KUBERNETES_SERVICE_PORT", value: apiPort.toString() },
];

/**
 * Returns the arguments that select the controllers. With routes, the route controller gets the
 * CIDR of the pods, so that it changes only routes within this CIDR.
 */
const controllersFor = (routedPods: string | undefined): readonly string[] => {
  const controllers = "--controllers=cloud-node,cloud-node-lifecycle,service";
  return routedPods === undefined
    ? [controllers]
    : [`${controllers},route`, "--configure-cloud-routes=true", `--cluster-cidr=${routedPods}`];
};

/**
 * Number of Services that the controller handles at the same time. For each Service, the controller
 * may wait minutes for Octavia.
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
  return addContainerDefaults({
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
    // The controller serves this path only after it has logged in to OpenStack. A ready pod
    // therefore proves that the credential works.
    readinessProbe: buildReadinessProbe(
      { httpGet: healthz },
      { periodSeconds: 2, failureThreshold: 3 },
    ),
    livenessProbe: buildLivenessProbe({ httpGet: healthz }, { initialDelaySeconds: 20 }),
    resources: { requests: { cpu: "50m", memory: "64Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
  });
}
