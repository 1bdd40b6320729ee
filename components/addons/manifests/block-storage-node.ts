/** Cinder CSI driver on every node: service account, configuration, DaemonSet (pure functions). */
import { systemNamespace } from "../../kubernetes-objects/rbac.js";
import { cloudConfigVolume } from "./cloud-controller.js";
import {
  csiHealthPorts,
  buildHealthzProbe,
  buildLivenessProbeSidecar,
  csiSocketUrl,
  csiSocketDirectory,
  csiSocketMount,
  type BlockStorageImages,
} from "./cinder-csi-shared-parts.js";
import {
  buildAppLabel,
  addContainerDefaults,
  allTaintsTolerations,
  buildFieldEnvVar,
} from "../../kubernetes-objects/pod-settings.js";
import { cinderDriverName } from "./storage-class.js";
import type {
  ConfigMap,
  Container,
  DaemonSet,
  ServiceAccount,
  Volume,
} from "../../kubernetes-objects/kubernetes-types.js";

const nodeName = "csi-cinder-nodeplugin";
const kubeletDirectory = "/var/lib/kubelet";

/**
 * Returns the service account of the driver on nodes. The account has no permissions and no token,
 * because this driver does not call the Kubernetes API.
 */
export function buildNodeDriverAccount(): ServiceAccount {
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: nodeName, namespace: systemNamespace },
    automountServiceAccountToken: false,
  };
}

/**
 * Returns the ConfigMap with the configuration of the driver on nodes. The configuration contains
 * no credential, so it need not be in a Secret.
 */
export function buildNodeDriverConfigMap(conf: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: nodeName, namespace: systemNamespace },
    data: { "cloud.conf": conf },
  };
}

/** Arguments of {@link buildNodeDriverDaemonSet}. */
export interface NodeDriverSettings {
  readonly images: BlockStorageImages;
  /**
   * Digest of the configuration of the driver on nodes.
   * @default this driver has no configuration
   */
  readonly configChecksum?: string;
  /** Whether the driver reports the availability zone of its machine. @default true */
  readonly topology?: boolean;
}

/**
 * Returns the DaemonSet whose pods format and mount volumes. The pods have no OpenStack credential.
 */
export function buildNodeDriverDaemonSet(settings: NodeDriverSettings): DaemonSet {
  const { images, configChecksum } = settings;
  const labels = buildAppLabel(nodeName);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: nodeName, namespace: systemNamespace, labels },
    spec: {
      selector: { matchLabels: labels },
      // A restart of the driver delays only new mounts, so several nodes are updated at the same
      // time.
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      template: {
        metadata: {
          labels,
          ...(configChecksum !== undefined && {
            annotations: { "checksum/config": configChecksum },
          }),
        },
        spec: {
          serviceAccountName: nodeName,
          automountServiceAccountToken: false,
          // The driver needs the metadata service, which answers nodes but not pods. On the host
          // network, a pod has the node's address.
          hostNetwork: true,
          priorityClassName: "system-node-critical",
          tolerations: allTaintsTolerations,
          containers: [
            nodePlugin(settings),
            registrar(images.csiNodeDriverRegistrar),
            buildLivenessProbeSidecar(images.livenessProbe),
          ],
          volumes: [
            ...nodeVolumes(),
            ...(configChecksum === undefined
              ? []
              : [{ name: configMount.name, configMap: { name: nodeName } }]),
          ],
        },
      },
    },
  };
}

const { mount: configMount, argument: configArgument } = cloudConfigVolume;

function nodePlugin({ images, configChecksum, topology = true }: NodeDriverSettings): Container {
  const configured = configChecksum !== undefined;
  return addContainerDefaults({
    name: "cinder-csi-plugin",
    image: images.cinderCsi,
    command: ["/bin/cinder-csi-plugin"],
    args: [
      "--v=2",
      `--endpoint=${csiSocketUrl}`,
      `--with-topology=${String(topology)}`,
      "--provide-controller-service=false",
      "--provide-node-service=true",
      ...(configured ? [configArgument] : []),
    ],
    ports: csiHealthPorts,
    livenessProbe: buildHealthzProbe(),
    volumeMounts: [
      csiSocketMount,
      { name: "kubelet", mountPath: kubeletDirectory, mountPropagation: "Bidirectional" },
      { name: "devices", mountPath: "/dev", mountPropagation: "HostToContainer" },
      ...(configured ? [configMount] : []),
    ],
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    // The driver must be privileged to run mount and mkfs, and to use the node's devices.
    securityContext: { privileged: true },
  });
}

function registrar(image: string): Container {
  return addContainerDefaults({
    name: "node-driver-registrar",
    image,
    args: [
      `--csi-address=${csiSocketDirectory}/csi.sock`,
      `--kubelet-registration-path=${kubeletDirectory}/plugins/${cinderDriverName}/csi.sock`,
    ],
    env: [buildFieldEnvVar("KUBE_NODE_NAME", "spec.nodeName")],
    volumeMounts: [csiSocketMount, { name: "registration", mountPath: "/registration" }],
    resources: { requests: { cpu: "5m", memory: "10Mi" } },
  });
}

function nodeVolumes(): Volume[] {
  return [
    {
      name: "socket",
      hostPath: {
        path: `${kubeletDirectory}/plugins/${cinderDriverName}`,
        type: "DirectoryOrCreate",
      },
    },
    {
      name: "registration",
      hostPath: { path: `${kubeletDirectory}/plugins_registry`, type: "DirectoryOrCreate" },
    },
    { name: "kubelet", hostPath: { path: kubeletDirectory, type: "Directory" } },
    { name: "devices", hostPath: { path: "/dev", type: "Directory" } },
  ];
}
