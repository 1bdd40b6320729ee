/**
 * Fixture of a deleted cluster `old`: its volumes as listed by Cinder, the cluster's API and the
 * state.
 */
import { instanceType, networkType, urnOf } from "../engine/fake-engine.js";

export const identity = "0123456789ab";
export const marks = { "stackadm-cluster": "old", "stackadm-identity": identity };
export const resource = (type: string, name: string, more: object): object => ({
  urn: urnOf(type, name),
  type: type.slice(type.lastIndexOf("$") + 1),
  ...more,
});
export const providerType = "stackadm:addons:Addons$pulumi:providers:kubernetes";
export const claimed = (id: string, of = `old-${identity}`): object => ({
  id,
  name: `pvc-${id}`,
  size: 2,
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

/** Returns the VolumeSnapshotContent of a snapshot of the volume `kept`. */
export const content = (
  name: string,
  deletionPolicy: string,
  driver = "cinder.csi.openstack.org",
): object => ({
  spec: {
    driver,
    deletionPolicy,
    source: { volumeHandle: "kept" },
    volumeSnapshotRef: { namespace: "shop", name },
  },
  status: { snapshotHandle: `snap-${name}` },
});

/**
 * Objects in the project, by API path: servers, networks, a load balancer and volumes of the
 * cluster `old` and of other clusters.
 */
export const inventory: Readonly<Record<string, object>> = {
  "compute/servers/detail": {
    servers: [
      { id: "s1", name: "old-general-0", metadata: marks },
      {
        id: "s2",
        name: "old-general-0",
        metadata: { ...marks, "stackadm-identity": "ba9876543210" },
      },
    ],
  },
  "network/networks": {
    networks: [
      { id: "n1", name: "old" },
      { id: "n2", name: "old" },
    ],
  },
  "load-balancer/lbaas/loadbalancers": {
    loadbalancers: [{ id: "lb", name: `kube_service_old-${identity}_shop_web` }],
  },
  "volumev3/volumes/detail": {
    volumes: [
      ...["gone", "kept", "left"].map((id) => claimed(id)),
      claimed("theirs", "old-ba9876543210"),
      { id: "brought", name: "by hand", size: 7 },
    ],
  },
};

/**
 * Returns the resources in the state of a running cluster: its Kubernetes provider, a Service, a
 * server and a network.
 */
export const livingResources = (kubeconfig: string): object[] => [
  resource("command:local:Command", "dev-identity", { id: "i", outputs: { stdout: identity } }),
  resource(providerType, "dev-addons-provider", { id: "p", inputs: { kubeconfig } }),
  resource("kubernetes:core/v1:Service", "web", {
    id: "shop/web",
    provider: `${urnOf(providerType, "dev-addons-provider")}::p`,
  }),
  resource(instanceType, "vm", { id: "s1" }),
  resource(networkType, "net", { id: "n1" }),
];
