/** Cinder CSI controller, which calls OpenStack: permissions and Deployment (pure functions). */
import {
  buildRbacObjects,
  leaderElectionRule,
  leaderElectionTimes,
  watchVerbs,
  buildRbacRule,
  systemNamespace,
  writeEventsRule,
} from "../../kubernetes-objects/rbac.js";
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
  uninitializedNodeToleration,
  addContainerDefaults,
  controlPlaneSelector,
  fastEvictionTolerations,
  getControlPlaneTolerations,
  addSkipAwaitAnnotation,
  type Taint,
} from "../../kubernetes-objects/pod-settings.js";
import { snapshotterRules } from "./snapshots.js";
import type { RbacObjects } from "../../kubernetes-objects/rbac.js";
import type {
  Container,
  Deployment,
  StringInput,
} from "../../kubernetes-objects/kubernetes-types.js";

const controllerName = "csi-cinder-controllerplugin";

/**
 * Returns the permissions of the driver and of its sidecars attacher, provisioner and resizer. The
 * driver reads annotations of persistent volume claims. With `snapshots`, adds the permissions of
 * the snapshotter.
 * Source: deploy/kubernetes/rbac.yaml of each sidecar's project.
 */
export function buildBlockStorageRbac(snapshots = false): RbacObjects {
  return buildRbacObjects({
    account: controllerName,
    cluster: [
      buildRbacRule("", ["persistentvolumes"], [...watchVerbs, "create", "patch", "delete"]),
      buildRbacRule("", ["persistentvolumeclaims"], [...watchVerbs, "update"]),
      buildRbacRule("", ["persistentvolumeclaims/status"], ["patch"]),
      buildRbacRule("", ["nodes", "pods"], watchVerbs),
      buildRbacRule(
        "storage.k8s.io",
        ["csinodes", "storageclasses", "volumeattributesclasses"],
        watchVerbs,
      ),
      buildRbacRule("storage.k8s.io", ["volumeattachments"], [...watchVerbs, "patch"]),
      buildRbacRule("storage.k8s.io", ["volumeattachments/status"], ["patch"]),
      { ...writeEventsRule, verbs: ["list", "watch", ...writeEventsRule.verbs] },
      ...(snapshots ? snapshotterRules : []),
    ],
    namespace: [leaderElectionRule],
  });
}

/** Arguments of {@link buildBlockStorageController}. */
export interface BlockStorageControllerSettings {
  readonly images: BlockStorageImages;
  /**
   * Argument `--cluster=NAME`. The name is unique in the project. Cinder stores it in the metadata
   * of every volume.
   */
  readonly clusterName: StringInput;
  readonly configChecksum: StringInput;
  /** Whether Pulumi waits until the pod is ready. The pod needs the pod network. @default true */
  readonly awaited?: boolean;
  /** Whether volumes are created in the zone of their pod. @default true */
  readonly topology?: boolean;
  /** Whether volumes can have snapshots. @default false */
  readonly snapshots?: boolean;
  /** Taints of the control planes. @default only the taint of kubeadm */
  readonly controlPlaneTaints?: readonly Taint[] | undefined;
}

/**
 * Returns the Deployment of the Cinder CSI controller, which calls Cinder and Nova. The pod runs
 * only on control planes, for two reasons: workers must not have the OpenStack credential, and a
 * cluster without workers also needs volumes.
 */
export function buildBlockStorageController(settings: BlockStorageControllerSettings): Deployment {
  const labels = buildAppLabel(controllerName);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: addSkipAwaitAnnotation(
      { name: controllerName, namespace: systemNamespace, labels },
      settings.awaited,
    ),
    spec: {
      replicas: 1,
      // During an update, a second pod would only wait for the lease of the first pod.
      strategy: { type: "Recreate" },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { "checksum/config": settings.configChecksum } },
        spec: {
          serviceAccountName: controllerName,
          priorityClassName: "system-cluster-critical",
          nodeSelector: controlPlaneSelector,
          // The pod may run on a node that the cloud controller has not initialized. The controller
          // gets the ID of each Nova server from the driver on that node.
          tolerations: [
            uninitializedNodeToleration,
            ...getControlPlaneTolerations(settings.controlPlaneTaints),
            ...fastEvictionTolerations,
          ],
          containers: [
            controllerPlugin(settings),
            ...sidecars(settings),
            buildLivenessProbeSidecar(settings.images.livenessProbe),
          ],
          volumes: [{ name: "socket", emptyDir: {} }, cloudConfigVolume.volume],
        },
      },
    },
  };
}

function controllerPlugin({
  images,
  clusterName,
  topology = true,
}: BlockStorageControllerSettings): Container {
  return addContainerDefaults({
    name: "cinder-csi-plugin",
    image: images.cinderCsi,
    command: ["/bin/cinder-csi-plugin"],
    args: [
      "--v=2",
      `--endpoint=${csiSocketUrl}`,
      cloudConfigVolume.argument,
      clusterName,
      `--with-topology=${String(topology)}`,
      "--pvc-annotations=true",
      "--provide-controller-service=true",
      "--provide-node-service=false",
    ],
    ports: csiHealthPorts,
    livenessProbe: buildHealthzProbe(),
    volumeMounts: [csiSocketMount, cloudConfigVolume.mount],
    resources: { requests: { cpu: "20m", memory: "32Mi" } },
  });
}

function sidecars({ images, snapshots }: BlockStorageControllerSettings): Container[] {
  const { lease, renew, retry } = leaderElectionTimes;
  const common = [
    `--csi-address=${csiSocketDirectory}/csi.sock`,
    "--timeout=3m",
    "--leader-election=true",
    `--leader-election-lease-duration=${lease.toString()}s`,
    `--leader-election-renew-deadline=${renew.toString()}s`,
    `--leader-election-retry-period=${retry.toString()}s`,
  ];
  const sidecar = (name: string, image: string, extra: string[]): Container =>
    addContainerDefaults({
      name,
      image,
      args: [...common, ...extra],
      volumeMounts: [csiSocketMount],
      resources: { requests: { cpu: "10m", memory: "20Mi" } },
    });
  return [
    sidecar("csi-attacher", images.csiAttacher, ["--default-fstype=ext4"]),
    sidecar("csi-provisioner", images.csiProvisioner, [
      "--default-fstype=ext4",
      "--extra-create-metadata",
    ]),
    sidecar("csi-resizer", images.csiResizer, ["--handle-volume-inuse-error=false"]),
    ...(snapshots === true
      ? [sidecar("csi-snapshotter", images.csiSnapshotter, ["--extra-create-metadata"])]
      : []),
  ];
}
