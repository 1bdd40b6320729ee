import { until } from "../cloud/foreign.js";
import { inServer } from "../machines/machines.js";

/** Runs kubectl as administrator on a control plane. `serverId` is the ID of its server. */
export const kubectlOn = (serverId: string, line: string): Promise<string> =>
  inServer(serverId, `export KUBECONFIG=/etc/kubernetes/admin.conf; kubectl ${line}`);

/** Returns the arguments with which kubectl applies a manifest. */
export const applied = (manifest: string): string => `apply -f - <<'END'\n${manifest}\nEND\n`;

const retained = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: kept}
provisioner: cinder.csi.openstack.org
reclaimPolicy: Retain
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: kept, namespace: default}
spec: {storageClassName: kept, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`;

/**
 * Creates a volume claim whose volume has the reclaim policy Retain. Waits until the claim is
 * bound.
 */
export async function claimToKeep(serverId: string): Promise<void> {
  await kubectlOn(serverId, applied(retained));
  await until(async () => (await kubectlOn(serverId, "get pvc kept")).includes("Bound"));
}

/** Volume claim and its storage class. The volume is created before a pod uses the claim. */
export const claimAtOnce = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: at-once}
provisioner: cinder.csi.openstack.org
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {storageClassName: at-once, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`;
