/** Cinder CSIDriver object and storage classes (pure functions). */
import type { CsiDriver, StorageClass } from "../../kubernetes-objects/kubernetes-types.js";

/**
 * Name of the Cinder CSI driver. Persistent volumes contain this name, and a destroy uses it to
 * find Cinder volumes.
 */
export const cinderDriverName = "cinder.csi.openstack.org";

/** Topology key with which the driver reports the availability zone of a machine. */
const zoneKey = `topology.${cinderDriverName}/zone`;

/** Returns the CSIDriver object, which tells kubelet and the scheduler what the driver supports. */
export function buildCinderCsiDriver(): CsiDriver {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: cinderDriverName },
    spec: {
      attachRequired: true,
      podInfoOnMount: true,
      // kubelet changes the group of the file system to the fsGroup of the pod. A pod that does not
      // run as root can then write to the volume.
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
    },
  };
}

/** Storage class in the settings of the user. */
export interface StorageClassSettings {
  readonly name: string;
  readonly default: boolean;
  /** Cinder volume type. @default the cloud's default type */
  readonly type?: string;
  /** Cinder availability zone of all volumes of the class. @default the zone of the pod's node */
  readonly availability?: string;
  /**
   * Availability zones of the machines on which pods with these volumes may run.
   * @default all zones
   */
  readonly zones?: readonly string[];
  /** Action on a volume when its claim is deleted. @default "Delete" */
  readonly reclaimPolicy?: "Delete" | "Retain";
  /** Event that creates a volume: its first pod or its claim. @default "WaitForFirstConsumer" */
  readonly volumeBindingMode?: "WaitForFirstConsumer" | "Immediate";
  /** File system of the volumes. @default "ext4" */
  readonly fsType?: string;
  /** Whether volumes can grow. @default true */
  readonly allowVolumeExpansion?: boolean;
}

/**
 * Returns a StorageClass. By default, a volume is created in the zone of its first pod, can grow,
 * and is deleted with its claim.
 */
export function buildStorageClass(settings: StorageClassSettings): StorageClass {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: {
      name: settings.name,
      annotations: {
        "storageclass.kubernetes.io/is-default-class": settings.default.toString(),
      },
    },
    provisioner: cinderDriverName,
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
