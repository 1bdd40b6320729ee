/** The OpenStack cloud controller manager: its access, configuration and DaemonSet (pure). */
import { apiPort } from "../../../base/ports.js";
import {
  access,
  leaderElection,
  leaderElectionTimes,
  reading,
  rule,
  systemNamespace,
  writingEvents,
} from "../../support/manifests/access.js";
import {
  appLabel,
  beforeItIsInitialized,
  container,
  controlPlaneSelector,
  fromField,
  liveness,
  onControlPlane,
  readiness,
} from "../../support/manifests/pod.js";
import type { Access } from "../../support/manifests/access.js";
import type { DaemonSet, Late, Secret, Toleration } from "../../support/kubernetes-types.js";

const name = "openstack-cloud-controller-manager";
const configDirectory = "/etc/config";
const port = 10258;

/** Secret that holds cloud.conf; the name that upstream's manifests and documents use. */
export const cloudConfigSecret = "cloud-config";
/** Keys of certificates in that Secret. */
const [caCertificateKey, certificateKey, privateKeyKey] = ["ca.crt", "client.crt", "client.key"];
/** Their places in the containers, by what cloud.conf calls them. */
export const caCertificateFile = `${configDirectory}/${caCertificateKey}`;
export const clientCertificateFiles = {
  certFile: `${configDirectory}/${certificateKey}`,
  keyFile: `${configDirectory}/${privateKeyKey}`,
};

/** How the containers see the Secret. */
export const cloudConfigVolume = {
  volume: { name: "cloud-config", secret: { secretName: cloudConfigSecret } },
  mount: { name: "cloud-config", mountPath: configDirectory, readOnly: true },
  argument: `--cloud-config=${configDirectory}/cloud.conf`,
};

/** What cloud.conf names the files of, as PEM. */
export interface CloudCertificates {
  /** Of the cloud's own authority. @default none */
  readonly caCertificate?: Late | undefined;
  /** What the controllers prove themselves by in TLS. @default nothing */
  readonly client?: { readonly certificate: Late; readonly privateKey: Late } | undefined;
}

/** The Secret; certificates travel with the configuration that names their files. */
export function cloudConfigSecretObject(
  cloudConf: Late,
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
 * What the controllers cloud-node, cloud-node-lifecycle, service and route call (k8s.io/cloud-provider
 * 0.36, controllers/). Upstream's role also gives all secrets, service account tokens and
 * persistent volumes; they are used only with other arguments than ours.
 */
export function cloudControllerAccess(): Access {
  return access({
    account: "cloud-controller-manager",
    clusterRole: "system:cloud-controller-manager",
    cluster: [
      // delete: a node whose server is gone must go too (cloud-provider-openstack issue 3225).
      rule("", ["nodes"], [...reading, "patch", "update", "delete"]),
      rule("", ["nodes/status"], ["patch"]),
      rule("", ["services"], ["list", "watch", "patch", "update"]),
      rule("", ["services/status"], ["patch"]),
      writingEvents,
    ],
    namespace: [
      leaderElection,
      // Start-up reads how the API server authenticates its clients.
      {
        ...rule("", ["configmaps"], reading),
        resourceNames: ["extension-apiserver-authentication"],
      },
    ],
  });
}

/** What runs before the pod network and before any node has its address. */
export const beforeNodesAreReady: Toleration[] = [
  beforeItIsInitialized,
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  onControlPlane,
];

/** Arguments of {@link cloudControllerDaemonSet}. */
export interface CloudControllerSettings {
  readonly image: string;
  /** `--cluster-name=...`, unique among all clusters of the project: load balancers are named after it. */
  readonly clusterName: Late;
  /** Range of the pods to whose nodes it keeps routes. @default none */
  readonly routedPods?: string | undefined;
  /** Whether Octavia's provider wants one call after another: then one load balancer is made after another, too. @default false */
  readonly serial?: boolean | undefined;
  /** Digest of cloud.conf and certificate: a changed one restarts the pods. */
  readonly configChecksum: Late;
}

/** One controller per control plane; the elected one works. */
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
          // The node's resolver: cluster DNS needs the pod network, which needs this controller.
          dnsPolicy: "Default",
          priorityClassName: "system-cluster-critical",
          nodeSelector: controlPlaneSelector,
          tolerations: beforeNodesAreReady,
          securityContext: { runAsNonRoot: true, runAsUser: 1001 },
          containers: [controllerContainer(settings)],
          volumes: [cloudConfigVolume.volume],
        },
      },
    },
  };
}

/**
 * The API server on the pod's own machine, whose address is in its certificate. In a new cluster the Service's address
 * does not answer yet when the controller starts, because kube-proxy comes later; the controller would end and begin again.
 */
const ownApiServer = [
  fromField("KUBERNETES_SERVICE_HOST", "status.hostIP"),
  { name: "KUBERNETES_SERVICE_PORT", value: apiPort.toString() },
];

/** The controllers that run, and what those need. A route of another range than the pods' is none of its business. */
const controllersFor = (routedPods: string | undefined): readonly string[] => {
  const controllers = "--controllers=cloud-node,cloud-node-lifecycle,service";
  return routedPods === undefined
    ? [controllers]
    : [`${controllers},route`, "--configure-cloud-routes=true", `--cluster-cidr=${routedPods}`];
};

/** Services whose load balancers are made, changed or deleted at the same time: each waits for Octavia, which may take minutes. */
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
    // It serves only after it has logged in to the cloud: ready means that the credential is good.
    readinessProbe: readiness({ httpGet: healthz }, { periodSeconds: 2, failureThreshold: 3 }),
    livenessProbe: liveness({ httpGet: healthz }, { initialDelaySeconds: 20 }),
    resources: { requests: { cpu: "50m", memory: "64Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
  });
}
