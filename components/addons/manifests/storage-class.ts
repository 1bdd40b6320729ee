/** What claims name: the Cinder driver and the classes of its volumes (pure). */
import type { CsiDriver, StorageClass } from "../../support/kubernetes-types.js";

/** Name of the driver; persistent volumes and the sweep at destroy know it by this. */
export const cinderDriver = "cinder.csi.openstack.org";

/** How the driver calls a machine's zone. */
const zoneKey = `topology.${cinderDriver}/zone`;

/** What the driver can do, told to kubelet and scheduler. */
export function cinderCsiDriver(): CsiDriver {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: cinderDriver },
    spec: {
      attachRequired: true,
      podInfoOnMount: true,
      // kubelet hands the file system to the pod's fsGroup: pods need not run as root to write.
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
    },
  };
}

/** A storage class as the cluster's owner describes it. */
export interface StorageClassSettings {
  readonly name: string;
  readonly default: boolean;
  /** Volume type of the cloud. @default the cloud's own default */
  readonly type?: string;
  /** Cinder zone for all volumes. @default the zone of the pod's node */
  readonly availability?: string;
  /** Zones of the machines that pods with these volumes run on. @default all */
  readonly zones?: readonly string[];
  /** @default "Delete" */
  readonly reclaimPolicy?: "Delete" | "Retain";
  /** @default "WaitForFirstConsumer" */
  readonly volumeBindingMode?: "WaitForFirstConsumer" | "Immediate";
  /** @default "ext4" */
  readonly fsType?: string;
  /** @default true */
  readonly allowVolumeExpansion?: boolean;
}

/** By default volumes are made where the first pod lands, can grow, and go with their claim. */
export function storageClass(settings: StorageClassSettings): StorageClass {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: {
      name: settings.name,
      annotations: {
        "storageclass.kubernetes.io/is-default-class": settings.default.toString(),
      },
    },
    provisioner: cinderDriver,
    parameters: {
      "csi.storage.k8s.io/fstype": settings.fsType ?? "ext4",
      ...(settings.type === undefined ? {} : { type: settings.type }),
      ...(settings.availability === undefined ? {} : { availability: settings.availability }),
    },
    reclaimPolicy: settings.reclaimPolicy ?? "Delete",
    volumeBindingMode: settings.volumeBindingMode ?? "WaitForFirstConsumer",
    allowVolumeExpansion: settings.allowVolumeExpansion ?? true,
    ...(settings.zones && {
      allowedTopologies: [
        { matchLabelExpressions: [{ key: zoneKey, values: [...settings.zones] }] },
      ],
    }),
  };
}
