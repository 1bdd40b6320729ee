/** A cluster `old` as Cinder, its API and the state know of its volumes. */
import { urnOf } from "./engine.js";

export const identity = "0123456789ab";
export const marks = { "stackadm-cluster": "old", "stackadm-identity": identity };
export const resource = (type: string, name: string, more: object): object => ({
  ...{ urn: urnOf(type, name), type },
  ...more,
});
export const providerType = "stackadm:addons:Addons$pulumi:providers:kubernetes";
export const claimed = (id: string, of = `old-${identity}`): object => ({
  ...{ id, name: `pvc-${id}`, size: 2 },
  metadata: { "cinder.csi.openstack.org/cluster": of },
});
export const persistent = (
  id: string,
  policy: string,
  driver = "cinder.csi.openstack.org",
): object => ({
  spec: {
    csi: { driver, volumeHandle: id },
    claimRef: { namespace: "shop", name: id },
    persistentVolumeReclaimPolicy: policy,
  },
});

/** What the cluster knows of a snapshot of the volume `kept`. */
export const content = (
  name: string,
  deletionPolicy: string,
  driver = "cinder.csi.openstack.org",
): object => ({
  spec: {
    ...{ driver, deletionPolicy, source: { volumeHandle: "kept" } },
    volumeSnapshotRef: { namespace: "shop", name },
  },
  status: { snapshotHandle: `snap-${name}` },
});
