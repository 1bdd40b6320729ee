/** Cinder CSI driver object, and storage classes (pure). */
import type { CsiDriver, StorageClass } from "../../kubernetes-objects/kubernetes-types.js";

/**
 * Name of the Cinder CSI driver. Persistent volumes contain this name, by which a destroy finds
 * them.
 */
export const cinderDriverName = "cinder.csi.openstack.org";

/** Topology key of the driver for a machine's zone. */
const zoneKey = `topology.${cinderDriverName}/zone`;

/** Returns the CSIDriver object, which tells kubelet and scheduler what the driver supports. */
export function cinderCsiDriverObject(): CsiDriver {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: cinderDriverName },
    spec: {
      attachRequired: true,
      podInfoOnMount: true,
      // kubelet gives the file system to the fsGroup of the pod, so that the pod can write without
      // root.
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
    },
  };
}

/** Storage class in the settings. */
export interface StorageClassSettings {
  readonly name: string;
  readonly default: boolean;
  /** Volume type of the cloud. @default the cloud's own default */
  readonly type?: string;
  /** Cinder zone for all volumes. @default the zone of the pod's node */
  readonly availability?: string;
  /** Zones of the machines on which pods with these volumes may run. @default all */
  readonly zones?: readonly string[];
  /** Policy for the volume of a deleted claim. @default "Delete" */
  readonly reclaimPolicy?: "Delete" | "Retain";
  /** Time at which a volume is created. @default "WaitForFirstConsumer" */
  readonly volumeBindingMode?: "WaitForFirstConsumer" | "Immediate";
  /** File system of the volumes. @default "ext4" */
  readonly fsType?: string;
  /** Whether volumes can grow. @default true */
  readonly allowVolumeExpansion?: boolean;
}

/**
 * Returns a StorageClass. By default, volumes are created in the zone of their first pod, can grow,
 * and are deleted with their claim.
 */
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
