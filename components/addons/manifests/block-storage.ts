/** Cinder CSI: access, controller Deployment, node DaemonSet (pure). */
import {
  access,
  leaderElection,
  leaderElectionTimes,
  reading,
  rule,
  systemNamespace,
  writingEvents,
} from "./access.js";
import { cloudConfigVolume } from "./cloud-controller.js";
import {
  appLabel,
  container,
  controlPlaneSelector,
  everywhere,
  fromField,
  onControlPlane,
} from "./pod.js";
import { cinderDriver } from "./storage-class.js";
import type { Access } from "./access.js";
import type {
  Container,
  DaemonSet,
  Deployment,
  Late,
  ServiceAccount,
  Volume,
} from "../../support/kubernetes-types.js";

const controllerName = "csi-cinder-controllerplugin";
const nodeName = "csi-cinder-nodeplugin";
const kubeletDirectory = "/var/lib/kubelet";
const socketDirectory = "/csi";
const socket = `unix://${socketDirectory}/csi.sock`;
const healthPort = 9808;

/** Images of both halves. */
export interface BlockStorageImages {
  readonly cinderCsi: string;
  readonly csiAttacher: string;
  readonly csiProvisioner: string;
  readonly csiResizer: string;
  readonly csiNodeDriverRegistrar: string;
  readonly livenessProbe: string;
}

/**
 * The union of what attacher, provisioner, resizer (their deploy/kubernetes/rbac.yaml) and the
 * plugin's claim annotations need. Snapshots come with the snapshot controller and its kinds.
 */
export function blockStorageAccess(): Access {
  return access({
    account: controllerName,
    cluster: [
      rule("", ["persistentvolumes"], [...reading, "create", "patch", "delete"]),
      rule("", ["persistentvolumeclaims"], [...reading, "update"]),
      rule("", ["persistentvolumeclaims/status"], ["patch"]),
      rule("", ["nodes", "pods"], reading),
      rule("storage.k8s.io", ["csinodes", "storageclasses", "volumeattributesclasses"], reading),
      rule("storage.k8s.io", ["volumeattachments"], [...reading, "patch"]),
      rule("storage.k8s.io", ["volumeattachments/status"], ["patch"]),
      { ...writingEvents, verbs: ["list", "watch", ...writingEvents.verbs] },
    ],
    namespace: [leaderElection],
  });
}

/** The node half talks to kubelet and the kernel only: an account without any right or token. */
export function blockStorageNodeAccount(): ServiceAccount {
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: nodeName, namespace: systemNamespace },
    automountServiceAccountToken: false,
  };
}

/** Arguments of {@link blockStorageController}. */
export interface BlockStorageSettings {
  readonly images: BlockStorageImages;
  /** `--cluster=...`, unique among all clusters of the project: volumes carry it in their metadata. */
  readonly clusterName: Late;
  readonly configChecksum: Late;
  /** Whether the resource is ready only when its pod is. @default true */
  readonly awaited?: boolean;
}

/**
 * The half that calls Cinder and Nova. It runs on control planes only, so the cloud's credential
 * is on no worker, and a cluster without workers can already make volumes.
 */
export function blockStorageController(settings: BlockStorageSettings): Deployment {
  const labels = appLabel(controllerName);
  const annotations = { "pulumi.com/skipAwait": "true" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      ...{ name: controllerName, namespace: systemNamespace, labels },
      ...(settings.awaited === false && { annotations }),
    },
    spec: {
      replicas: 1,
      // Two at once would only wait for the lease.
      strategy: { type: "Recreate" },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { "checksum/config": settings.configChecksum } },
        spec: {
          serviceAccountName: controllerName,
          priorityClassName: "system-cluster-critical",
          nodeSelector: controlPlaneSelector,
          tolerations: [onControlPlane],
          containers: [
            controllerPlugin(settings.images.cinderCsi, settings.clusterName),
            ...sidecars(settings.images),
            livenessProbe(settings.images.livenessProbe),
          ],
          volumes: [{ name: "socket", emptyDir: {} }, cloudConfigVolume.volume],
        },
      },
    },
  };
}

const socketMount = { name: "socket", mountPath: socketDirectory };

function controllerPlugin(image: string, clusterName: Late): Container {
  return container({
    name: "cinder-csi-plugin",
    image,
    command: ["/bin/cinder-csi-plugin"],
    args: [
      "--v=2",
      `--endpoint=${socket}`,
      cloudConfigVolume.argument,
      clusterName,
      "--with-topology=true",
      "--pvc-annotations=true",
      "--provide-controller-service=true",
      "--provide-node-service=false",
    ],
    ports: [{ name: "healthz", containerPort: healthPort, protocol: "TCP" }],
    livenessProbe: healthz(),
    volumeMounts: [socketMount, cloudConfigVolume.mount],
    resources: { requests: { cpu: "20m", memory: "32Mi" } },
  });
}

function sidecars(images: BlockStorageImages): Container[] {
  const { lease, renew, retry } = leaderElectionTimes;
  const common = [
    `--csi-address=${socketDirectory}/csi.sock`,
    "--timeout=3m",
    "--leader-election=true",
    `--leader-election-lease-duration=${lease.toString()}s`,
    `--leader-election-renew-deadline=${renew.toString()}s`,
    `--leader-election-retry-period=${retry.toString()}s`,
  ];
  const sidecar = (name: string, image: string, extra: string[]): Container =>
    container({
      name,
      image,
      args: [...common, ...extra],
      volumeMounts: [socketMount],
      resources: { requests: { cpu: "10m", memory: "20Mi" } },
    });
  return [
    sidecar("csi-attacher", images.csiAttacher, ["--default-fstype=ext4"]),
    sidecar("csi-provisioner", images.csiProvisioner, [
      "--default-fstype=ext4",
      "--extra-create-metadata",
    ]),
    sidecar("csi-resizer", images.csiResizer, ["--handle-volume-inuse-error=false"]),
  ];
}

function livenessProbe(image: string): Container {
  return container({
    name: "liveness-probe",
    image,
    args: [`--csi-address=${socketDirectory}/csi.sock`, `--health-port=${healthPort.toString()}`],
    volumeMounts: [socketMount],
    resources: { requests: { cpu: "5m", memory: "10Mi" } },
  });
}

function healthz() {
  return {
    httpGet: { path: "/healthz", port: "healthz" },
    initialDelaySeconds: 10,
    periodSeconds: 30,
    timeoutSeconds: 10,
    failureThreshold: 5,
  };
}

/** The half that formats and mounts, on every node; it has no credential of the cloud. */
export function blockStorageNode(images: BlockStorageImages): DaemonSet {
  const labels = appLabel(nodeName);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: nodeName, namespace: systemNamespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate" },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: nodeName,
          automountServiceAccountToken: false,
          // The metadata service answers a node, not a pod.
          hostNetwork: true,
          priorityClassName: "system-node-critical",
          tolerations: everywhere,
          containers: [
            nodePlugin(images.cinderCsi),
            registrar(images.csiNodeDriverRegistrar),
            livenessProbe(images.livenessProbe),
          ],
          volumes: nodeVolumes(),
        },
      },
    },
  };
}

function nodePlugin(image: string): Container {
  return container({
    name: "cinder-csi-plugin",
    image,
    command: ["/bin/cinder-csi-plugin"],
    args: [
      "--v=2",
      `--endpoint=${socket}`,
      "--with-topology=true",
      "--provide-controller-service=false",
      "--provide-node-service=true",
    ],
    ports: [{ name: "healthz", containerPort: healthPort, protocol: "TCP" }],
    livenessProbe: healthz(),
    volumeMounts: [
      socketMount,
      { name: "kubelet", mountPath: kubeletDirectory, mountPropagation: "Bidirectional" },
      { name: "devices", mountPath: "/dev", mountPropagation: "HostToContainer" },
    ],
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    // mount, mkfs and the devices of the node.
    securityContext: { privileged: true },
  });
}

function registrar(image: string): Container {
  return container({
    name: "node-driver-registrar",
    image,
    args: [
      `--csi-address=${socketDirectory}/csi.sock`,
      `--kubelet-registration-path=${kubeletDirectory}/plugins/${cinderDriver}/csi.sock`,
    ],
    env: [fromField("KUBE_NODE_NAME", "spec.nodeName")],
    volumeMounts: [socketMount, { name: "registration", mountPath: "/registration" }],
    resources: { requests: { cpu: "5m", memory: "10Mi" } },
  });
}

function nodeVolumes(): Volume[] {
  return [
    {
      name: "socket",
      hostPath: { path: `${kubeletDirectory}/plugins/${cinderDriver}`, type: "DirectoryOrCreate" },
    },
    {
      name: "registration",
      hostPath: { path: `${kubeletDirectory}/plugins_registry`, type: "DirectoryOrCreate" },
    },
    { name: "kubelet", hostPath: { path: kubeletDirectory, type: "Directory" } },
    { name: "devices", hostPath: { path: "/dev", type: "Directory" } },
  ];
}
